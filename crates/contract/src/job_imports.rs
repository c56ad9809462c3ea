//! Imports of jobs from an older queue, part by part, with all checks that need no database.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::{BadField, RETRIES, bad, check_text, check_year, within};
use super::jobs::{JobRequest, NewJob};
use domain::task::TaskId;
use domain::vocabulary::vocabulary;

/// Maximum number of jobs of one request.
pub const MAX_JOBS: usize = 100;

pub const MAX_ERROR_CHARS: usize = 2_000;

/// The body of `POST /api/jobs/import`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobImport {
    /// Name of the older queue; its ids are recorded under this name.
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub source: String,
    #[schema(min_items = 1, max_items = 100)]
    pub jobs: Vec<OldJobRequest>,
    /// Returns what an import would, and changes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// A job of the older queue, as received.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OldJobRequest {
    /// Its id in the older queue.
    pub old_id: i64,
    pub job: JobRequest,
    pub created_at: Option<DateTime<Utc>>,
    #[schema(minimum = 0, maximum = 20)]
    pub retry_count: Option<i64>,
    /// Absent for a job that has not run yet.
    pub end: Option<OldEnd>,
}

/// The end of a job that ran in the older queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OldEnd {
    #[schema(inline)]
    pub status: EndStatus,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    #[schema(max_length = 2000)]
    pub error_message: Option<String>,
}

vocabulary! {
    pub enum EndStatus {
        Completed,
        Failed,
        Cancelled,
    }
}

/// A job of the older queue whose fields are each valid.
#[derive(Clone, Debug, PartialEq)]
pub struct OldJob {
    pub old_id: i64,
    pub job: NewJob,
    pub created_at: Option<DateTime<Utc>>,
    pub retry_count: i32,
    pub end: Option<OldEnd>,
}

/// The answer to an import: each job of the request is in one of the lists.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportedJobs {
    pub imported: Vec<ImportedJob>,
    /// Jobs that were imported before, or are the same as an open job.
    pub skipped: Vec<ImportedJob>,
    /// Jobs whose ids belonged to other jobs in an earlier import of this source.
    pub refused: Vec<RefusedJob>,
    /// Imported jobs to scrape an account whose address is not known, by platform: they fail until
    /// `media.platforms.PLATFORM.url` is set.
    pub without_address: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedJob {
    pub old_id: i64,
    /// Null for a job that a dry run would import.
    pub id: Option<TaskId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedJob {
    pub old_id: i64,
    pub reason: String,
}

impl JobImport {
    /// Checks all but the single jobs.
    pub fn check(&self) -> Result<(), BadField> {
        check_text("source", Some(&self.source))?;
        match (1..=MAX_JOBS).contains(&self.jobs.len()) {
            true => Ok(()),
            false => Err(bad("jobs", format!("must hold 1 to {MAX_JOBS} jobs"))),
        }
    }
}

impl OldJobRequest {
    /// Returns the first fault, or the job with its defaults.
    pub fn check(self, now: DateTime<Utc>) -> Result<OldJob, BadField> {
        if self.job.depends_on.is_some() {
            return Err(bad("depends_on", "an imported job cannot wait for another"));
        }
        check_year("created_at", self.created_at)?;
        for (field, time) in
            self.end.iter().flat_map(|end| [("started_at", end.started_at), ("completed_at", end.completed_at)])
        {
            check_year(field, time)?;
        }
        let error = self.end.as_ref().and_then(|end| end.error_message.as_deref()).unwrap_or_default();
        if error.chars().count() > MAX_ERROR_CHARS {
            return Err(bad("error_message", format!("must be at most {MAX_ERROR_CHARS} characters")));
        }
        Ok(OldJob {
            old_id: self.old_id,
            job: self.job.check(now)?,
            created_at: self.created_at,
            retry_count: within("retry_count", self.retry_count, RETRIES)?.unwrap_or(0),
            end: self.end,
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn check(body: Value) -> Result<OldJob, BadField> {
        serde_json::from_value::<OldJobRequest>(body).unwrap().check("2026-01-01T12:00:00Z".parse().unwrap())
    }

    #[rstest]
    #[case::unknown_type(json!({"old_id": 1, "job": {"job_type": "instagram_scrape"}}), "job_type")]
    #[case::retries(json!({"old_id": 1, "job": {"job_type": "youtube_monitor"}, "retry_count": 21}), "retry_count")]
    #[case::waits(json!({"old_id": 1, "job": {"job_type": "youtube_monitor", "depends_on": [1]}}), "depends_on")]
    #[case::year(json!({"old_id": 1, "job": {"job_type": "youtube_monitor"}, "created_at": "0024-01-01T00:00:00Z"}), "created_at")]
    #[case::end(json!({"old_id": 1, "job": {"job_type": "youtube_monitor"},
                       "end": {"status": "failed", "completed_at": "0202-01-01T00:00:00Z"}}), "completed_at")]
    fn the_field_at_fault_is_named(#[case] body: Value, #[case] field: &str) {
        assert_eq!(check(body).unwrap_err().field, field);
    }

    #[test]
    fn a_job_without_numbers_has_the_defaults() {
        let job = check(json!({"old_id": 7, "job": {"job_type": "youtube_monitor"}})).unwrap();
        assert_eq!((job.old_id, job.retry_count, job.job.priority, job.end), (7, 0, 5, None));
    }
}
