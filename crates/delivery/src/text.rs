//! Notices as people read them: a title in ASCII, and lines.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Notice;
use domain::amounts::counted;

/// Maximum bytes of a message: what ntfy takes as a text, and not as an attachment.
const MAX_MESSAGE: usize = 4000;

/// `Job 7 failed: scrape_account`, or `3 crawls failed`.
pub fn title(notice: &Notice) -> String {
    let title = match (notice.body["events"].as_array(), notice.body["changes"].as_array()) {
        (Some(events), _) => title_of_crawl(notice, events),
        (None, Some(changes)) => title_of_changes(notice, changes),
        (None, None) => title_of_job(notice),
    };
    title.chars().filter(|char| char.is_ascii() && !char.is_ascii_control()).collect()
}

fn title_of_job(notice: &Notice) -> String {
    let Some(job_type) = notice.body["job_type"].as_str() else { return "drover: a test".to_owned() };
    let end = notice.event.strip_prefix("job.").unwrap_or(&notice.event);
    format!("Job {} {end}: {job_type}", notice.body["id"])
}

fn title_of_crawl(notice: &Notice, events: &[Value]) -> String {
    let count = notice.body["count"].as_u64().unwrap_or(events.len() as u64);
    let many = |one: &str, more: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {more}") };
    match notice.event.as_str() {
        "crawl.failed" => many("crawl failed", "crawls failed"),
        "store.blind" => many("store is not crawled", "stores are not crawled"),
        "quality.found" => many("finding about the data of stores", "findings about the data of stores"),
        "proxies.unusable" => "No proxy is usable: nothing is crawled".to_owned(),
        "pause.long" => many("pause lasts", "pauses last"),
        other => format!("{other}: {count}"),
    }
}

/// `drops: 3 changes at North`.
fn title_of_changes(notice: &Notice, changes: &[Value]) -> String {
    let rule = notice.body["rule"]["name"].as_str().unwrap_or_default();
    let count = counted(notice.body["count"].as_u64().unwrap_or(changes.len() as u64), "change");
    let stores: BTreeSet<&str> = changes.iter().filter_map(|change| change["store"].as_str()).collect();
    match stores.first() {
        Some(store) if stores.len() == 1 => format!("{rule}: {count} at {store}"),
        _ => format!("{rule}: {count} at {}", counted(stores.len() as u64, "store")),
    }
}

/// A line for each field that has a value, or for each event or change.
pub fn message(notice: &Notice) -> String {
    let mut message = match (notice.body["events"].as_array(), notice.body["changes"].as_array()) {
        (Some(events), _) => message_of_crawl(notice, events),
        (None, Some(changes)) => message_of_changes(notice, changes),
        (None, None) => message_of_job(notice),
    };
    message.truncate(message.floor_char_boundary(MAX_MESSAGE));
    message
}

fn message_of_job(notice: &Notice) -> String {
    let fields = ["message", "platform", "account", "error_message", "result", "started_at", "completed_at"];
    let lines = fields.into_iter().filter_map(|name| {
        let value = match &notice.body[name] {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(if name == "message" { value } else { format!("{name}: {value}") })
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// `Store Three, payload_fetch: the proxy refused the tunnel`, and how many there are beside those listed.
fn message_of_crawl(notice: &Notice, events: &[Value]) -> String {
    with_count(notice, events.iter().map(line).collect())
}

/// `Banjo Kush 1g: $20.00 to $15.00 (-25 %) · North`.
fn message_of_changes(notice: &Notice, changes: &[Value]) -> String {
    let text = |change: &Value, name: &str| change[name].as_str().unwrap_or_default().to_owned();
    let line = |change: &Value| format!("{} · {}", text(change, "text"), text(change, "store"));
    with_count(notice, changes.iter().map(line).collect())
}

/// The lines, after the number of those that are not listed.
fn with_count(notice: &Notice, mut lines: Vec<String>) -> String {
    let count = notice.body["count"].as_u64().unwrap_or_default();
    if let Some(more) = count.checked_sub(lines.len() as u64).filter(|more| *more > 0) {
        // the message is cut at its end
        lines.insert(0, format!("{more} more than are listed here"));
    }
    lines.join("\n")
}

fn line(event: &Value) -> String {
    let subjects = ["store", "role", "scope", "target", "kind"].into_iter().filter_map(|name| event[name].as_str());
    let subject = subjects.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    let detail = event["detail"].as_str().unwrap_or("no reason was given");
    if subject.is_empty() { detail.to_owned() } else { format!("{subject}: {detail}") }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::notification::recipient::Recipients;
    use serde_json::json;

    use super::*;

    fn notice(event: &str, body: Value) -> Notice {
        Notice {
            message_id: "msg_1".to_owned(),
            event: event.to_owned(),
            created_at: DateTime::UNIX_EPOCH,
            body,
            recipients: Recipients::default(),
        }
    }

    #[test]
    fn a_failed_job_is_told_with_its_error() {
        let body = json!({"id": 7, "job_type": "scrape_account", "platform": "site", "account": null, "error_message": "away", "result": null});
        let notice = notice("job.failed", body);
        assert_eq!(title(&notice), "Job 7 failed: scrape_account");
        assert_eq!(message(&notice), "platform: site\nerror_message: away");
    }

    #[test]
    fn failed_crawls_are_listed_with_their_stores_and_reasons() {
        let events = json!([{"store": "Three", "role": "payload_fetch", "detail": "away"}, {"store": null, "role": "store_discovery", "detail": null}]);
        let notice = notice("crawl.failed", json!({"count": 5, "events": events, "is_cut": true}));
        assert_eq!(title(&notice), "5 crawls failed");
        let lines = "3 more than are listed here\nThree, payload_fetch: away\nstore_discovery: no reason was given";
        assert_eq!(message(&notice), lines);
    }

    #[test]
    fn a_fault_of_the_whole_crawl_is_its_detail() {
        let events = json!([{"proxies": 3, "detail": "all proxies are benched"}]);
        let notice = notice("proxies.unusable", json!({"count": 1, "events": events, "is_cut": false}));
        assert_eq!(
            (title(&notice).as_str(), message(&notice).as_str()),
            ("No proxy is usable: nothing is crawled", "all proxies are benched")
        );
    }

    #[test]
    fn changes_are_listed_with_their_stores() {
        let changes = json!([{"text": "Kush 1g: $20.00 to $15.00 (-25 %)", "store": "North"}, {"text": "Chews: new", "store": "Lakes"}]);
        let of_two = json!({"rule": {"id": 1, "name": "drops"}, "count": 9, "is_cut": true, "changes": changes});
        let notice_of = |body| notice("products.changed", body);
        assert_eq!(title(&notice_of(of_two.clone())), "drops: 9 changes at 2 stores");
        let lines = "7 more than are listed here\nKush 1g: $20.00 to $15.00 (-25 %) · North\nChews: new · Lakes";
        assert_eq!(message(&notice_of(of_two)), lines);
        let of_one = json!({"rule": {"id": 1, "name": "drops"}, "count": 1, "is_cut": false, "changes": [changes[0]]});
        assert_eq!(title(&notice_of(of_one)), "drops: 1 change at North");
    }

    #[test]
    fn a_test_has_a_title_and_its_message() {
        let notice = notice("test", json!({"message": "drover can reach this endpoint"}));
        assert_eq!(
            (title(&notice).as_str(), message(&notice).as_str()),
            ("drover: a test", "drover can reach this endpoint")
        );
    }

    #[test]
    fn a_title_has_no_line_break_and_a_message_its_maximum() {
        let notice = notice("job.failed", json!({"id": 7, "job_type": "a\r\nX: ü", "error_message": "ü".repeat(9000)}));
        assert_eq!(title(&notice), "Job 7 failed: aX: ");
        assert!(message(&notice).len() <= MAX_MESSAGE);
    }
}
