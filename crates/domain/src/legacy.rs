//! The move from the older schema: the content of its tables, and the result of the move.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::task::TaskId;

/// Rows of the old tables by word: whether schedules are enabled, the status of jobs and runs. None: there is no such table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LegacyTables {
    pub job_schedules: Option<BTreeMap<String, i64>>,
    pub dispensary_crawl_jobs: Option<BTreeMap<String, i64>>,
    pub job_run_logs: Option<BTreeMap<String, i64>>,
}

/// Result of the whole migration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LegacyMove {
    pub schedules_disabled: i32,
    pub crawl_jobs_cancelled: i32,
    pub crawl_tasks_created: i32,
    /// Stores with an open task of that kind.
    pub crawl_tasks_skipped: i32,
    /// The new task; none if one was open already.
    pub discovery_task: Option<TaskId>,
    /// The new task; none if one was open already.
    pub analytics_task: Option<TaskId>,
    pub job_runs_closed: i32,
}
