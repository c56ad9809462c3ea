//! Notices as people read them: a title in ASCII, and lines.

use serde_json::Value;

use super::Notice;

/// Maximum bytes of a message: what ntfy takes as a text, and not as an attachment.
const MAX_MESSAGE: usize = 4000;

/// `Job 7 failed: scrape_account`.
pub fn title(notice: &Notice) -> String {
    let Some(job_type) = notice.body["job_type"].as_str() else { return "drover: a test".to_owned() };
    let end = notice.event.strip_prefix("job.").unwrap_or(&notice.event);
    let title = format!("Job {} {end}: {job_type}", notice.body["id"]);
    title.chars().filter(|char| char.is_ascii() && !char.is_ascii_control()).collect()
}

/// A line for each field that has a value.
pub fn message(notice: &Notice) -> String {
    let fields = ["message", "platform", "account", "error_message", "result", "started_at", "completed_at"];
    let lines = fields.into_iter().filter_map(|name| {
        let value = match &notice.body[name] {
            Value::Null => return None,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(if name == "message" { value } else { format!("{name}: {value}") })
    });
    let mut message = lines.collect::<Vec<_>>().join("\n");
    message.truncate(message.floor_char_boundary(MAX_MESSAGE));
    message
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use domain::recipient::Recipients;
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
