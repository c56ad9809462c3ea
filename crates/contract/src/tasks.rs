//! Tasks: pages, one with its attempts and children, counts, and their filters.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::age_sort::AgeSort;
use super::cursor::Cursor;
use super::limit::Limit;
use super::pauses::Pause;
use domain::proxy::RestingProxies;
use domain::span;
use domain::store::{Platform, StoreId};
use domain::task::retry_state::RetryState;
use domain::task::role::{Role, RoleSet};
use domain::task::shown_status::ShownStatus;
use domain::task::{RecordedOutcome, Status, TaskId};
use domain::vocabulary::Word;
use domain::worker::capacity::{Capacity, WorkersNeeded};
use domain::worker::pod::Pod;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    pub id: TaskId,
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    pub dispensary_id: Option<StoreId>,
    pub dispensary_name: Option<String>,
    #[schema(value_type = Option<String>)]
    pub platform: Option<Word<Platform>>,
    #[schema(value_type = ShownStatus)]
    pub status: Word<ShownStatus>,
    pub priority: i32,
    pub scheduled_for: Option<DateTime<Utc>>,
    #[schema(value_type = Object)]
    pub payload: Value,
    pub result: Option<Value>,
    pub worker_id: Option<String>,
    pub worker_name: Option<String>,
    pub retry_count: i32,
    pub max_retries: i32,
    /// Retry after a failed or snoozed run: `waits` until `scheduled_for`, or the reason why there is none; null after
    /// any other run.
    #[schema(value_type = Option<RetryState>)]
    pub retry_state: Option<Word<RetryState>>,
    pub error_message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub claimed_at: Option<DateTime<Utc>>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    pub last_heartbeat_at: Option<DateTime<Utc>>,
    pub lease_expires_at: Option<DateTime<Utc>>,
    pub parent_task_id: Option<TaskId>,
    pub schedule_id: Option<i64>,
    pub progress_percent: Option<i16>,
    pub progress_message: Option<String>,
    /// Whether it may be claimed now.
    pub ready: bool,
    pub depends_on: Option<Vec<TaskId>>,
    pub dedup_key: Option<String>,
}

/// One run of a task.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    pub fence: i64,
    pub worker_id: String,
    pub worker_name: Option<String>,
    /// None while it runs.
    #[schema(value_type = Option<RecordedOutcome>)]
    pub outcome: Option<Word<RecordedOutcome>>,
    pub error: Option<String>,
    pub claimed_at: DateTime<Utc>,
    pub finished_at: Option<DateTime<Utc>>,
    pub detail: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskDetail {
    #[serde(flatten)]
    pub task: TaskView,
    /// Oldest first; if there are very many, only the newest.
    pub attempts: Vec<AttemptView>,
    pub children: Vec<TaskId>,
}

/// A field that is None does not filter. As JSON it has the names of the parameters of `GET /api/tasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TaskFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ShownStatus>,
    /// One role, several with commas, `any` for all crawl roles, or `media`.
    #[serde(rename = "role", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "payload_fetch")]
    #[param(value_type = Option<String>, example = "payload_fetch")]
    pub roles: Option<RoleSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dispensary_id: Option<StoreId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    /// The beginning of an id, a worker's id or a store's slug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Created at this time or later.
    #[serde(deserialize_with = "span::optional_beginning", skip_serializing_if = "Option::is_none")]
    #[param(schema_with = span::schema)]
    pub created_after: Option<DateTime<Utc>>,
    #[serde(deserialize_with = "span::optional_beginning", skip_serializing_if = "Option::is_none")]
    #[param(schema_with = span::schema)]
    pub created_before: Option<DateTime<Utc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// A part of the error's text, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Minimum number of retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_retries: Option<i32>,
    /// Only the tasks with these ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(ignore)]
    pub ids: Option<Vec<TaskId>>,
    /// The order of a list; a change of all these tasks has none.
    #[serde(skip_serializing_if = "AgeSort::is_default")]
    #[param(inline)]
    pub sort: AgeSort,
    /// The last task of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<TaskId>,
}

/// Tasks by status; `claimed` and `running` without stale ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    pub pending: i64,
    pub claimed: i64,
    pub running: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    pub stale: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    #[serde(flatten)]
    pub all: Counts,
    /// Every crawl role, and others of the table that have tasks.
    #[schema(value_type = BTreeMap<String, Counts>)]
    pub by_role: BTreeMap<Word<Role>, Counts>,
    /// Time when the ended ones were counted; open ones are counted now.
    pub as_of: DateTime<Utc>,
}

/// The ready tasks of one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadyTasks {
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    pub tasks: i64,
    /// How long the oldest has been due.
    pub oldest_seconds: f64,
}

/// How many tasks became pending again, and how many failed for good because three processes died while each was the
/// only suspect, or because its row cannot be put back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecoveryCounts {
    pub requeued: i32,
    pub failed: i32,
}

/// A recovery by request, and the tasks that it could not put back yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recovery {
    #[serde(flatten)]
    pub counts: RecoveryCounts,
    #[serde(flatten)]
    pub waiting: WaitingLeases,
}

/// Tasks of workers that have left or missed three heartbeats: each is put back when its lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitingLeases {
    pub waiting: i64,
    /// End of the last of these leases; null without such a task.
    pub waiting_until: Option<DateTime<Utc>>,
}

/// Reasons why workers claim fewer tasks, or none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StoppedClaims {
    /// The pauses in force, the widest scope first.
    pub pauses: Vec<Pause>,
    /// Proxies that rest. If all enabled ones rest, no task that needs a proxy is claimed.
    pub resting_proxies: RestingProxies,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskPage {
    pub tasks: Vec<TaskView>,
    /// Why pending tasks may wait; null if none of these is pending.
    pub stopped: Option<StoppedClaims>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RoleCapacity {
    #[serde(flatten)]
    pub capacity: Capacity,
    pub workers_needed: WorkersNeeded,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RoleCompletion {
    /// The role as it was asked for.
    pub role: String,
    pub task_id: Option<TaskId>,
    /// Null if no completed task is kept.
    pub completed_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RecentQuery {
    #[serde(default)]
    #[param(inline)]
    pub limit: Limit,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RecentTasks {
    pub tasks: Vec<TaskView>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ActiveTask {
    /// Null if no worker has a task of the store.
    pub task: Option<TaskView>,
}

/// Read from one snapshot: the same thing has the same number in each part.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct QueuePicture {
    /// Each worker with the tasks that it holds now.
    pub pods: Vec<Pod>,
    pub queue: TaskCounts,
    /// Tasks that run, the longest-running first and claimed ones last; at most 500.
    pub running: Vec<TaskView>,
    /// Tasks that failed within the last hour, by the pod of their last run; a pod without any is left out.
    #[serde(default)]
    pub failed_last_hour: BTreeMap<String, i64>,
}

impl TaskFilter {
    /// Whether one of its texts is empty, and would match more than was meant.
    pub fn has_empty_text(&self) -> bool {
        [&self.worker_id, &self.q, &self.error].into_iter().flatten().any(String::is_empty)
    }

    /// Stored statuses that it admits; None: all.
    pub fn statuses(&self) -> Option<&'static [Status]> {
        self.status.map(ShownStatus::stored)
    }
}

impl Counts {
    pub fn by_status(&self) -> [(ShownStatus, i64); 7] {
        [
            (ShownStatus::Pending, self.pending),
            (ShownStatus::Claimed, self.claimed),
            (ShownStatus::Running, self.running),
            (ShownStatus::Completed, self.completed),
            (ShownStatus::Failed, self.failed),
            (ShownStatus::Cancelled, self.cancelled),
            (ShownStatus::Stale, self.stale),
        ]
    }

    pub fn add(&mut self, status: ShownStatus, tasks: i64) {
        let place = match status {
            ShownStatus::Pending => &mut self.pending,
            ShownStatus::Claimed => &mut self.claimed,
            ShownStatus::Running => &mut self.running,
            ShownStatus::Completed => &mut self.completed,
            ShownStatus::Failed => &mut self.failed,
            ShownStatus::Cancelled => &mut self.cancelled,
            ShownStatus::Stale => &mut self.stale,
        };
        *place += tasks;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_times_of_a_body_are_those_of_a_query() {
        let filter = json!({"created_after": "2025-01-10", "created_before": null});
        let filter: TaskFilter = serde_json::from_value(filter).unwrap();
        assert_eq!(filter.created_after, span::beginning("2025-01-10T00:00:00Z"));
        assert_eq!(filter.created_before, None);
    }
}
