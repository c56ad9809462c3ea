//! Media jobs: tasks whose role is the job's type, in the words and numbers of clients that know them as
//! jobs: pages, one, and requests with all their checks that need no database.
//!
//! A job's priority is 1 (first) to 10; the queue's is 10 minus it.

use std::ops::RangeInclusive;

use chrono::{DateTime, Utc};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::Object;
use utoipa::{IntoParams, ToSchema};

use super::age_sort::AgeSort;
use super::checks::{BadField, RETRIES, bad, check_text, check_time, dependencies_of, present, within};
use super::cursor::Cursor;
use super::task_changes::TaskChange;
use domain::amounts::counted;
use domain::media::account::check_username;
use domain::task::TaskId;
use domain::task::kinds::{Args, scrape_account};
use domain::task::role::{Family, Role, one_of};
use domain::vocabulary::{Word, vocabulary};

/// 1 is first.
pub const PRIORITIES: RangeInclusive<i64> = 1..=10;
const DEFAULT_PRIORITY: i32 = 5;

vocabulary! {
    /// A claimed or stale task reads as a running job, and so does one that waits for jobs that it created.
    pub enum JobStatus {
        Pending,
        Running,
        Completed,
        Failed,
        Cancelled,
    }
}

/// The fields of `POST /api/jobs`, as received.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"job_type": "scrape_account", "platform": "site", "account": "ann", "priority": 3}))]
pub struct JobRequest {
    #[schema(schema_with = job_types)]
    pub job_type: String,
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub platform: Option<String>,
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub account: Option<String>,
    /// 1 (first) to 10.
    #[schema(minimum = 1, maximum = 10)]
    pub priority: Option<i64>,
    /// The arguments of its type.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub payload: Value,
    pub scheduled_for: Option<DateTime<Utc>>,
    #[schema(minimum = 0, maximum = 20)]
    pub max_retries: Option<i64>,
    /// Tasks or jobs that must be completed first; when one of them fails or is cancelled, the job is cancelled.
    #[schema(max_items = 100)]
    pub depends_on: Option<Vec<TaskId>>,
}

/// A request whose fields are each valid.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    pub role: Role,
    pub platform: Option<String>,
    pub account: Option<String>,
    /// The job's priority, not its task's.
    pub priority: i32,
    pub payload: Value,
    pub scheduled_for: Option<DateTime<Utc>>,
    pub max_retries: Option<i32>,
    /// Ascending.
    pub depends_on: Vec<TaskId>,
}

/// The fields of `PUT /api/jobs/{id}`; absent fields keep their values.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct JobChange {
    /// 1 (first) to 10.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = i64, required = false, minimum = 1, maximum = 10)]
    pub priority: Option<i64>,
    /// `Some(None)`, null in JSON: at once.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<DateTime<Utc>>)]
    pub scheduled_for: Option<Option<DateTime<Utc>>>,
}

/// The answer to `POST /api/jobs`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CreatedJob {
    #[serde(flatten)]
    pub job: JobView,
    /// Why it would fail at present.
    pub notice: Option<String>,
}

/// The same words for one job as for an import of many.
pub fn notice_of_no_address(platform: &str, jobs: usize) -> String {
    format!(
        "no address is known for {} of {platform}: set media.platforms.{platform}.url, or the url of each account, or their jobs will fail",
        counted(jobs, "job")
    )
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct JobView {
    pub id: TaskId,
    #[schema(value_type = Role)]
    pub job_type: Word<Role>,
    pub platform: Option<String>,
    pub account: Option<String>,
    /// 1 (first) to 10.
    pub priority: i32,
    #[schema(value_type = JobStatus)]
    pub status: Word<JobStatus>,
    #[schema(value_type = Object)]
    pub payload: Value,
    pub result: Option<Value>,
    pub error_message: Option<String>,
    pub retry_count: i32,
    pub max_retries: i32,
    pub scheduled_for: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub worker_id: Option<String>,
    pub progress_percent: Option<i16>,
    pub progress_message: Option<String>,
    /// Tasks and jobs that it waits for.
    pub depends_on: Option<Vec<TaskId>>,
    /// The job or task whose run created it.
    pub parent_id: Option<TaskId>,
    /// Its runs created jobs with its id as their `parent_id`.
    pub has_children: bool,
}

/// Filter of jobs; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobFilter {
    /// Just this job.
    #[serde(skip)]
    pub id: Option<TaskId>,
    pub status: Option<JobStatus>,
    pub platform: Option<String>,
    pub account: Option<String>,
    #[serde(deserialize_with = "optional_job_type")]
    #[param(schema_with = job_types)]
    pub job_type: Option<Role>,
    /// Jobs that runs of this job or task have made.
    pub parent: Option<TaskId>,
    #[param(inline)]
    pub sort: AgeSort,
    /// The last job of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<TaskId>,
}

/// Jobs of a platform that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PendingCount {
    pub count: i64,
    pub platform: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JobPage {
    pub jobs: Vec<JobView>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct JobsNow {
    /// Jobs that run, the longest-running first.
    pub running: Vec<JobView>,
    pub pending_counts: Vec<PendingCount>,
    /// Whether a live worker claims jobs.
    pub worker_healthy: bool,
}

impl JobRequest {
    /// Returns the first fault, or the job with its defaults.
    pub fn check(self, now: DateTime<Utc>) -> Result<NewJob, BadField> {
        let role = job_type(&self.job_type)?;
        let payload = if self.payload.is_null() { Value::Object(Default::default()) } else { self.payload };
        check_text("platform", self.platform.as_deref())?;
        check_text("account", self.account.as_deref())?;
        check_args(role, &payload, self.platform.as_deref(), self.account.as_deref())?;
        Ok(NewJob {
            role,
            platform: self.platform,
            account: self.account,
            priority: within("priority", self.priority, PRIORITIES)?.unwrap_or(DEFAULT_PRIORITY),
            payload,
            scheduled_for: check_time(self.scheduled_for, now)?,
            max_retries: within("max_retries", self.max_retries, RETRIES)?,
            depends_on: dependencies_of(self.depends_on.unwrap_or_default())?,
        })
    }
}

impl JobChange {
    /// The change of its task.
    pub fn check(&self, now: DateTime<Utc>) -> Result<TaskChange, BadField> {
        let priority = within("priority", self.priority, PRIORITIES)?;
        let change = TaskChange {
            priority: priority.map(|priority| 10 - i64::from(priority)),
            scheduled_for: self.scheduled_for,
        };
        change.check(now)?;
        Ok(change)
    }
}

/// Schema of the job types in the OpenAPI document.
pub fn job_types() -> Object {
    one_of(Family::Media.roles().map(Role::name))
}

/// The job type (a role) with this name.
pub fn job_type(name: &str) -> Result<Role, BadField> {
    let known = || Family::Media.roles().map(Role::name).collect::<Vec<_>>().join(", ");
    let role = name.parse().ok().filter(|role: &Role| role.family() == Family::Media);
    role.ok_or_else(|| bad("job_type", format!("unknown job type '{name}': the job types are {}", known())))
}

/// A [`job_type`] that filters jobs, for `deserialize_with`.
pub fn optional_job_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Role>, D::Error> {
    let name = String::deserialize(deserializer)?;
    job_type(&name).map(Some).map_err(|bad| D::Error::custom(bad.fault))
}

/// Checks the arguments as the role's handler will read them.
fn check_args(role: Role, payload: &Value, platform: Option<&str>, account: Option<&str>) -> Result<(), BadField> {
    match Args::read(role, payload).map_err(|error| bad("payload", error.to_string()))? {
        Args::ScrapeAccount(args) => check_account(&args, platform, account),
        Args::DownloadMedia(args) => check_text("payload", args.source.as_deref()),
        Args::EasynewsMonitor(args) => {
            let queries = args.search_queries.unwrap_or_default();
            queries.iter().try_for_each(|query| check_text("payload", Some(query)))
        }
        _ => Ok(()),
    }
}

fn check_account(args: &scrape_account::Args, platform: Option<&str>, account: Option<&str>) -> Result<(), BadField> {
    if platform.is_none() {
        return Err(bad("platform", "missing: give the platform of the account"));
    }
    match (args.username.as_deref(), account) {
        (None, None) => Err(bad("account", "missing: give an account, or a username in the payload")),
        (Some(username), Some(account)) if username != account => {
            Err(bad("payload", format!("the username '{username}' is not the account '{account}'")))
        }
        (Some(username), _) => {
            check_username(username).map_err(|fault| bad("payload", format!("the username {fault}")))
        }
        (None, Some(account)) => check_username(account).map_err(|fault| bad("account", fault)),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn check(body: Value) -> Result<NewJob, BadField> {
        serde_json::from_value::<JobRequest>(body).unwrap().check(now())
    }

    fn now() -> DateTime<Utc> {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    #[rstest]
    #[case::account(json!({"job_type": "scrape_account", "platform": "x", "account": "a", "payload": {"scrape_type": "full"}}))]
    #[case::username(json!({"job_type": "scrape_account", "platform": "x", "payload": {"username": "a"}}))]
    #[case::downloads(json!({"job_type": "download_media", "payload": {"media_ids": [1], "source": "x"}}))]
    #[case::all_creators(json!({"job_type": "paid_content_sync"}))]
    #[case::one_creator(json!({"job_type": "paid_content_creator", "payload": {"creator_id": 7}}))]
    #[case::threads(json!({"job_type": "forum_scrape", "payload": {"thread_ids": [7]}}))]
    #[case::channels(json!({"job_type": "youtube_monitor", "priority": 1}))]
    #[case::searches(json!({"job_type": "easynews_monitor", "payload": {"search_queries": ["a"]}}))]
    #[case::people(json!({"job_type": "appearances_sync", "priority": 10}))]
    fn each_job_type_has_its_arguments(#[case] body: Value) {
        check(body).unwrap();
    }

    #[rstest]
    #[case::a_crawl(json!({"job_type": "payload_fetch"}), "job_type")]
    #[case::priority(json!({"job_type": "youtube_monitor", "priority": 11}), "priority")]
    #[case::no_platform(json!({"job_type": "scrape_account", "account": "a"}), "platform")]
    #[case::no_account(json!({"job_type": "scrape_account", "platform": "x"}), "account")]
    #[case::two_accounts(json!({"job_type": "scrape_account", "platform": "x", "account": "a", "payload": {"username": "b"}}), "payload")]
    #[case::scrape_type(json!({"job_type": "scrape_account", "platform": "x", "account": "a", "payload": {"scrape_type": "some"}}), "payload")]
    #[case::a_path(json!({"job_type": "scrape_account", "platform": "x", "account": "../a"}), "account")]
    #[case::a_path_as_username(json!({"job_type": "scrape_account", "platform": "x", "payload": {"username": "a/b"}}), "payload")]
    #[case::no_ids(json!({"job_type": "download_media", "payload": {"media_ids": []}}), "payload")]
    #[case::too_many(json!({"job_type": "download_media", "payload": {"media_ids": vec![1; 1_001]}}), "payload")]
    #[case::unknown_field(json!({"job_type": "appearances_sync", "payload": {"people": 1}}), "payload")]
    #[case::control_character(json!({"job_type": "youtube_monitor", "account": "a\u{0}"}), "account")]
    fn the_field_at_fault_is_named(#[case] body: Value, #[case] field: &str) {
        assert_eq!(check(body).unwrap_err().field, field);
    }

    #[rstest]
    #[case::first(json!({"priority": 1}), Ok(Some(9)))]
    #[case::last(json!({"priority": 10}), Ok(Some(0)))]
    #[case::at_once(json!({"scheduled_for": null}), Ok(None))]
    #[case::nothing(json!({}), Err("priority"))]
    #[case::out_of_range(json!({"priority": 0}), Err("priority"))]
    fn a_change_of_a_job_is_one_of_its_task(#[case] body: Value, #[case] priority: Result<Option<i64>, &str>) {
        let change: JobChange = serde_json::from_value(body).unwrap();
        let change = change.check(now());
        assert_eq!(change.map(|change| change.priority).map_err(|bad| bad.field), priority);
    }
}
