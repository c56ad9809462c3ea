//! `operations`: one action on many tasks. Few are changed at once; more become a row that is worked off in batches, also after a crash.
//!
//! In: a [`BulkRequest`], and a transaction or the pools. Out: what would be changed, what was, or the operation to ask for later.

mod batch;

use std::ops::RangeInclusive;
use std::time::Duration;

use chrono::{DateTime, Datelike, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use utoipa::ToSchema;

pub use self::batch::{Batch, Failure, run_batch};
use super::row::{FromRow, first_column, first_columns, rows, word};
use super::task_views::TaskFilter;
use super::task_views::filter::{COUNT_MATCHING, MATCHING};
use super::{Client, DbError, Tx};
use domain::bulk_action::BulkAction;
use domain::task::{Status, TaskId};
use domain::task_change::TaskChange;
use domain::task_request::BadField;
use domain::vocabulary::Word;
use foundation::clock::Clock;

/// As many tasks are changed within one request; more become an operation.
pub const MAX_AT_ONCE: usize = 1_000;
/// Ids that one request may name.
const MAX_IDS: usize = 10_000;
/// Of tasks.
const YEARS: RangeInclusive<i32> = 1970..=9999;

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
    /// Of `reprioritize`.
    #[serde(default)]
    #[schema(minimum = -1000, maximum = 1000)]
    pub priority: Option<i64>,
    /// Only counts.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of a [`BulkRequest`].
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

/// An operation as people see it.
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
    /// Not found any more when their turn came, since something else had changed or deleted them; 0 until it has ended, and then
    /// `done` + `failed` + `gone` are at least `matched`.
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

#[derive(Debug, Error)]
pub enum BulkError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Counts, changes, or starts an operation for `who`.
pub async fn bulk(tx: &Tx, request: &BulkRequest, who: Option<&str>) -> Result<BulkAnswer, BulkError> {
    let (filter, change) = request.check()?;
    // named tasks that cannot be changed are answered with the reason; of those that a filter finds only the others are meant
    let statuses = if request.ids.is_some() { None } else { Some(eligible(request.action, &filter)) };
    let counts = count(tx, &filter, request.action).await?;
    if request.dry_run {
        return Ok(BulkAnswer::DryRun { matched: counts.0, eligible: counts.1 });
    }
    let most = i64::try_from(MAX_AT_ONCE + 1).unwrap_or(i64::MAX);
    let mut ids = matching(tx, &filter, statuses.as_deref(), most).await?;
    if let Some(asked) = &request.ids {
        ids = asked.clone();
    }
    if ids.len() > MAX_AT_ONCE {
        let matched = if statuses.is_some() { counts.1 } else { counts.0 };
        let operation = start(tx, request.action, &filter, &change, matched, who).await?;
        return Ok(BulkAnswer::Started(Box::new(operation)));
    }
    let batch = batch::change(tx, request.action, &ids, &change).await?;
    Ok(BulkAnswer::Done { done: batch.done, failed: batch.failures })
}

async fn start(
    tx: &Tx,
    action: BulkAction,
    filter: &TaskFilter,
    change: &Value,
    matched: i64,
    who: Option<&str>,
) -> Result<Operation, DbError> {
    let filter = serde_json::to_value(filter).map_err(|error| DbError::Other(error.to_string()))?;
    let sql = include_str!("sql/operations/start.sql");
    let row = tx.query_one(sql, &[&action.name(), change, &filter, &matched, &who]).await?;
    let id: i64 = first_column(&row)?;
    get(tx, id).await?.ok_or_else(|| DbError::Missing(format!("operation {id}")))
}

pub async fn get(client: &Client, id: i64) -> Result<Option<Operation>, DbError> {
    let row = client.query_opt(include_str!("sql/operations/get.sql"), &[&id]).await?;
    row.as_ref().map(Operation::from_row).transpose()
}

/// Removes what ended longer ago; returns how many.
pub async fn prune(client: &Client, age: Duration) -> Result<u64, DbError> {
    client.execute(include_str!("sql/operations/prune.sql"), &[&age.as_secs_f64()]).await
}

/// All that match, and those among them that the action can change.
async fn count(client: &Client, filter: &TaskFilter, action: BulkAction) -> Result<(i64, i64), DbError> {
    let eligible: Vec<&str> = action.statuses().iter().map(|status| status.name()).collect();
    let rows = COUNT_MATCHING.rows(client, &filter.values(), (&eligible, Type::TEXT_ARRAY)).await?;
    match rows.first() {
        Some(row) => Ok((row.try_get("matched")?, row.try_get("eligible")?)),
        None => Ok((0, 0)),
    }
}

/// At most `limit` of them, the newest first.
async fn matching(
    client: &Client,
    filter: &TaskFilter,
    statuses: Option<&[Status]>,
    limit: i64,
) -> Result<Vec<TaskId>, DbError> {
    let values = filter.values_within(statuses.or(filter.statuses()));
    first_columns(&MATCHING.rows(client, &values, (&limit, Type::INT8)).await?)
}

/// The statuses that the filter admits and the action can change.
fn eligible(action: BulkAction, filter: &TaskFilter) -> Vec<Status> {
    let admitted = |status: &&Status| filter.statuses().is_none_or(|statuses| statuses.contains(status));
    action.statuses().iter().filter(admitted).copied().collect()
}

impl BulkRequest {
    /// The tasks that are meant, and the change of `reprioritize`.
    fn check(&self) -> Result<(TaskFilter, Value), BadField> {
        let change = TaskChange { priority: self.priority, scheduled_for: None };
        match (self.action, self.priority) {
            (BulkAction::Reprioritize, _) => change.check(Clock::system().utc())?,
            (_, None) => {}
            (action, Some(_)) => return Err(bad("priority", format!("leave it out: {action} has none"))),
        }
        self.filter.as_ref().map_or(Ok(()), check_times)?;
        let filter = match (&self.filter, &self.ids) {
            (Some(filter), None) if filter.has_empty_text() => {
                return Err(bad(
                    "filter",
                    "an empty text is the beginning or a part of every other: leave it out".to_owned(),
                ));
            }
            (Some(filter), None) if *filter != TaskFilter::default() => filter.clone(),
            (None, Some(ids)) if (1..=MAX_IDS).contains(&ids.len()) => {
                TaskFilter { ids: Some(ids.clone()), ..TaskFilter::default() }
            }
            (None, Some(ids)) => return Err(bad("ids", format!("{} ids; 1 to {MAX_IDS} are allowed", ids.len()))),
            (Some(_), Some(_)) => return Err(bad("ids", "give either ids or a filter".to_owned())),
            _ => {
                return Err(bad("filter", "missing: name at least one property of the tasks, or their ids".to_owned()));
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

fn bad(field: &'static str, fault: String) -> BadField {
    BadField { field, fault }
}

rows! {
    Operation {
        id,
        action: word,
        filter, change, state, matched, done, failed, gone,
        failures: read_failures,
        error, created_by, created_at, updated_at, ended_at,
    }
}

fn read_failures(row: &Row, column: &str) -> Result<Vec<Failure>, DbError> {
    serde_json::from_value(row.try_get(column)?).map_err(|error| DbError::Other(error.to_string()))
}
