//! One action on many tasks: the request with all checks of it that need no database, and its answers.

use chrono::{DateTime, Datelike, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::checks::{BadField, bad};
use super::task_changes::TaskChange;
use super::tasks::TaskFilter;
use domain::task::TaskId;
use domain::task::bulk_action::BulkAction;
use domain::vocabulary::Word;
use domain::years::YEARS;

/// Maximum ids in one request.
const MAX_IDS: usize = 10_000;

/// The fields of `POST /api/tasks/bulk`: `filter` or `ids`, not both.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkRequest {
    pub action: BulkAction,
    #[serde(default)]
    pub filter: Option<TaskFilter>,
    #[serde(default)]
    #[schema(min_items = 1, max_items = 10_000)]
    pub ids: Option<Vec<TaskId>>,
    /// New priority, for `reprioritize`.
    #[serde(default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    /// Only counts.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of a [`BulkRequest`].
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum BulkAnswer {
    /// `eligible`: in a status that the action can change.
    DryRun {
        matched: i64,
        eligible: i64,
    },
    Done {
        done: usize,
        failed: Vec<Failure>,
    },
    Started(Box<Operation>),
}

/// An operation as shown to users.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Operation {
    pub id: i64,
    #[schema(value_type = BulkAction)]
    pub action: Word<BulkAction>,
    pub filter: Value,
    /// `{"priority": …}` of `reprioritize`.
    pub change: Value,
    pub state: String,
    pub matched: i64,
    pub done: i64,
    pub failed: i64,
    /// Tasks that no longer existed when their turn came, because something else had changed or deleted them; 0 until it has
    /// ended, and then `done` + `failed` + `gone` are at least `matched`.
    pub gone: i64,
    /// The first of the tasks that were not changed.
    pub failures: Vec<Failure>,
    /// Why it failed as a whole.
    pub error: Option<String>,
    pub created_by: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

/// A task that was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Failure {
    pub id: TaskId,
    pub reason: String,
}

impl BulkRequest {
    /// Returns the selected tasks, and the change of `reprioritize`.
    pub fn check(&self, now: DateTime<Utc>) -> Result<(TaskFilter, Value), BadField> {
        let change = TaskChange { priority: self.priority, scheduled_for: None };
        match (self.action, self.priority) {
            (BulkAction::Reprioritize, _) => change.check(now)?,
            (_, None) => {}
            (action, Some(_)) => return Err(bad("priority", format!("leave it out: {action} does not take it"))),
        }
        self.filter.as_ref().map_or(Ok(()), check_times)?;
        if self.filter.as_ref().is_some_and(|filter| !filter.sort.is_default()) {
            return Err(bad("filter.sort", "leave it out: a change of all these tasks has no order"));
        }
        let filter = match (&self.filter, &self.ids) {
            (Some(filter), None) if filter.has_empty_text() => {
                return Err(bad("filter", "an empty text matches every task: leave it out"));
            }
            (Some(filter), None) if *filter != TaskFilter::default() => filter.clone(),
            (None, Some(ids)) if (1..=MAX_IDS).contains(&ids.len()) => {
                TaskFilter { ids: Some(ids.clone()), ..TaskFilter::default() }
            }
            (None, Some(ids)) => return Err(bad("ids", format!("{} ids; 1 to {MAX_IDS} are allowed", ids.len()))),
            (Some(_), Some(_)) => return Err(bad("ids", "give either ids or a filter")),
            _ => {
                return Err(bad("filter", "missing: name at least one property of the tasks, or their ids"));
            }
        };
        Ok((filter, self.priority.map_or(json!({}), |priority| json!({ "priority": priority }))))
    }
}

fn check_times(filter: &TaskFilter) -> Result<(), BadField> {
    let times = [("filter.created_after", filter.created_after), ("filter.created_before", filter.created_before)];
    for (field, time) in times {
        if let Some(time) = time.filter(|time| !YEARS.contains(&time.year())) {
            return Err(bad(field, format!("{time} is out of range ({} to {})", YEARS.start(), YEARS.end())));
        }
    }
    Ok(())
}
