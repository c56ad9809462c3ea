//! `operations`: one action on many tasks. A few are changed at once; more become a row that is processed in
//! batches, also after a crash.
//!
//! In: a [`BulkRequest`], and a transaction or the pools. Out: the planned changes, the changes made, or the
//! operation to query later.

mod batch;

use std::time::Duration;

use serde_json::Value;
use thiserror::Error;
use tokio_postgres::Row;

pub use self::batch::{Batch, run_batch};
use super::views::filter::FilterValues;
use crate::statements::{FromRow, first_column, first_columns, named, rows, sql, word};
use crate::{Client, DbError, Tx};
use contract::checks::BadField;
use contract::operations::{BulkAnswer, BulkRequest, Failure, Operation};
use contract::tasks::TaskFilter;
use domain::task::bulk_action::BulkAction;
use domain::task::{Status, TaskId};
use foundation::clock::Clock;

/// Maximum tasks changed within one request; more become an operation.
pub const MAX_AT_ONCE: usize = 1_000;

#[derive(Debug, Error)]
pub enum BulkError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Counts, changes, or starts an operation for `who`.
pub async fn bulk(tx: &Tx, request: &BulkRequest, who: Option<&str>) -> Result<BulkAnswer, BulkError> {
    let (filter, change) = request.check(Clock::system().utc())?;
    // named tasks that cannot be changed are answered with the reason; a filter selects only tasks that can
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
    let row = named!(tx.query_one(
        "tasks/operations/start.sql",
        action = action.name(),
        change,
        filter,
        matched,
        created_by = who
    ))
    .await?;
    let id: i64 = first_column(&row)?;
    get(tx, id).await?.ok_or_else(|| DbError::Missing(format!("operation {id}")))
}

pub async fn get(client: &Client, id: i64) -> Result<Option<Operation>, DbError> {
    let row = client.query_opt(sql!("tasks/operations/get.sql"), &[&id]).await?;
    row.as_ref().map(Operation::from_row).transpose()
}

/// Removes operations that ended longer ago; returns their number.
pub async fn prune(client: &Client, age: Duration) -> Result<u64, DbError> {
    client.execute(sql!("tasks/operations/prune.sql"), &[&age.as_secs_f64()]).await
}

/// Number of matching tasks, and number of tasks among them that the action can change.
async fn count(client: &Client, filter: &TaskFilter, action: BulkAction) -> Result<(i64, i64), DbError> {
    let eligible: Vec<&str> = action.statuses().iter().map(|status| status.name()).collect();
    let rows =
        named!(client.query_planned("tasks/views/count_matching.sql", eligible, ..FilterValues::of(filter))).await?;
    match rows.first() {
        Some(row) => Ok((row.try_get("matched")?, row.try_get("eligible")?)),
        None => Ok((0, 0)),
    }
}

/// Lists at most `limit` matching tasks, newest first.
async fn matching(
    client: &Client,
    filter: &TaskFilter,
    statuses: Option<&[Status]>,
    limit: i64,
) -> Result<Vec<TaskId>, DbError> {
    let statuses = statuses.or(filter.statuses());
    let rows =
        named!(client.query_planned("tasks/views/matching.sql", limit, ..FilterValues::within(filter, statuses)))
            .await?;
    first_columns(&rows)
}

/// The statuses that the filter admits and the action can change.
fn eligible(action: BulkAction, filter: &TaskFilter) -> Vec<Status> {
    let admitted = |status: &&Status| filter.statuses().is_none_or(|statuses| statuses.contains(status));
    action.statuses().iter().filter(admitted).copied().collect()
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
