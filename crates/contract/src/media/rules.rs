//! Rules of notifications: the ends of jobs and the events of the crawl of which an endpoint is notified.

use chrono::{DateTime, Utc};

use super::Fields;
use super::record::record;
use crate::checks::{BadField, bad, check_each_once, check_text};
use crate::jobs::job_type;
use domain::notification::{Digest, NotifiedEvent};
use domain::vocabulary::Word;

record! {
    Rules: Rule {
        endpoint_id: i64,
        #[schema(value_type = Vec<NotifiedEvent>)]
        events: Vec<Word<NotifiedEvent>>,
        /// Null: jobs of every type.
        job_type: Option<String>,
        /// Null: jobs of every platform.
        platform: Option<String>,
        /// Null: jobs for every account.
        account: Option<String>,
        #[schema(value_type = Digest)]
        digest: Word<Digest>,
        created_at: DateTime<Utc>,
    }
    draft RuleDraft {
        #[schema(minimum = 1)]
        endpoint_id: i64,
        #[schema(min_items = 1, max_items = 7, example = json!(["job.failed"]))]
        events: Vec<NotifiedEvent>,
        /// Type of job, such as `scrape_account`; absent or null: every type.
        job_type: Option<String>,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        platform: Option<String>,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        account: Option<String>,
        /// How often events of the crawl become a notification; `none`: at once.
        #[serde(default)]
        digest: Digest,
    }
    change RuleChange {
        #[schema(min_items = 1, max_items = 7)]
        events: Vec<NotifiedEvent>,
        /// Null: every type.
        job_type: Option<String>,
        /// Null: every platform.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        platform: Option<String>,
        /// Null: every account.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        account: Option<String>,
        digest: Digest,
    }
}

impl Fields for RuleDraft {
    fn check(&self) -> Result<(), BadField> {
        if self.endpoint_id <= 0 {
            return Err(bad("endpoint_id", "must be the id of an endpoint"));
        }
        check_events(&self.events)?;
        check_kinds(self)?;
        check_filter(self.job_type.as_deref(), self.platform.as_deref(), self.account.as_deref())
    }
}

impl Fields for RuleChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("events")?;
        self.events.as_deref().map_or(Ok(()), check_events)?;
        let given = |field: &'_ Option<Option<String>>| field.clone().flatten();
        check_filter(
            given(&self.job_type).as_deref(),
            given(&self.platform).as_deref(),
            given(&self.account).as_deref(),
        )
    }
}

fn check_events(events: &[NotifiedEvent]) -> Result<(), BadField> {
    check_each_once("events", "names an event twice", events)
}

/// Whether each filter is one of the events that it is for.
fn check_kinds(draft: &RuleDraft) -> Result<(), BadField> {
    let (of_jobs, of_crawl) = draft.events.iter().partition::<Vec<&NotifiedEvent>, _>(|event| event.is_of_jobs());
    if !of_crawl.is_empty() && draft.job_type.is_some() {
        return Err(bad("job_type", "filters only jobs: add a separate rule for the events of the crawl"));
    }
    if !of_crawl.is_empty() && draft.account.is_some() {
        return Err(bad("account", "filters only jobs: add a separate rule for the events of the crawl"));
    }
    if !of_jobs.is_empty() && draft.digest != Digest::None {
        return Err(bad("digest", "applies only to events of the crawl: each end of a job has its own notification"));
    }
    Ok(())
}

fn check_filter(of_type: Option<&str>, platform: Option<&str>, account: Option<&str>) -> Result<(), BadField> {
    of_type.map_or(Ok(()), |name| job_type(name).map(drop))?;
    check_text("platform", platform)?;
    check_text("account", account)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::all_failures(json!({"endpoint_id": 1, "events": ["job.failed"]}), None)]
    #[case::one_account(json!({"endpoint_id": 1, "events": ["job.failed", "job.completed"], "job_type": "scrape_account", "platform": "a", "account": "b"}), None)]
    #[case::no_event(json!({"endpoint_id": 1, "events": []}), Some("events"))]
    #[case::twice(json!({"endpoint_id": 1, "events": ["job.failed", "job.failed"]}), Some("events"))]
    #[case::no_endpoint(json!({"endpoint_id": 0, "events": ["job.failed"]}), Some("endpoint_id"))]
    #[case::a_crawl_role(json!({"endpoint_id": 1, "events": ["job.failed"], "job_type": "payload_fetch"}), Some("job_type"))]
    #[case::the_crawl(json!({"endpoint_id": 1, "events": ["crawl.failed", "store.blind"], "platform": "dutchie", "digest": "hourly"}), None)]
    #[case::the_crawl_of_an_account(json!({"endpoint_id": 1, "events": ["crawl.failed"], "account": "ann"}), Some("account"))]
    #[case::the_crawl_by_jobs(json!({"endpoint_id": 1, "events": ["pause.long"], "job_type": "scrape_account"}), Some("job_type"))]
    #[case::a_digest_of_jobs(json!({"endpoint_id": 1, "events": ["job.failed"], "digest": "daily"}), Some("digest"))]
    #[case::no_platform(json!({"endpoint_id": 1, "events": ["job.failed"], "platform": ""}), Some("platform"))]
    fn a_rule_is_checked(#[case] draft: Value, #[case] fault: Option<&str>) {
        let draft: RuleDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
    }

    #[test]
    fn an_unknown_event_is_refused_with_the_known_ones() {
        let error =
            serde_json::from_value::<RuleDraft>(json!({"endpoint_id": 1, "events": ["job.started"]})).unwrap_err();
        assert!(error.to_string().contains("job.completed"), "{error}");
    }
}
