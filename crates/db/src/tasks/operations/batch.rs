//! One batch of an operation: its tasks' changes and the cursor that moves past them, in one transaction.
//!
//! The row of the operation is locked until the commit, so that only one process works on it, and a process
//! that dies has changed nothing.

use serde_json::Value;
use tokio_postgres::Row;

use super::{eligible, get, matching};
use crate::statements::{FromRow, named, sql, word};
use crate::{Client, Db, DbError};
use contract::operations::{Failure, Operation};
use contract::tasks::TaskFilter;
use domain::task::TaskId;
use domain::task::bulk_action::BulkAction;
use domain::vocabulary::Word;
use telemetry::events;

/// Number of tasks in one transaction of an operation, and in one statement.
const BATCH: usize = 200;
/// Maximum kept failures of an operation.
const MAX_FAILURES: i64 = 100;

/// Result of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub done: usize,
    pub failures: Vec<Failure>,
    /// The operation has no more tasks.
    pub is_last: bool,
}

/// Processes a batch of the oldest operation that no other process has; None when there is none.
pub async fn run_batch(db: &Db) -> Result<Option<Batch>, DbError> {
    let tx = db.begin().await?;
    let Some(row) = tx.query_opt(sql!("tasks/operations/next.sql"), &[]).await? else {
        tx.commit().await?;
        return Ok(None);
    };
    let id: i64 = row.try_get("id")?;
    let done = async { Part::from_row(&row)?.run(&tx).await };
    let batch = match done.await {
        Ok(batch) => {
            tx.commit().await?;
            batch
        }
        // otherwise it would be tried again without end
        Err(error) if !error.is_transient() => {
            drop(tx);
            finish(&db.client().await?, id, Some(error.to_string())).await?;
            Batch { is_last: true, ..Batch::default() }
        }
        Err(error) => return Err(error),
    };
    if batch.is_last
        && let Some(Operation { action, done, failed, error, .. }) = get(&db.client().await?, id).await?
    {
        events::operation_ended(id, &action, done, failed, error.as_deref());
    }
    Ok(Some(batch))
}

/// An operation after its last batch.
struct Part {
    id: i64,
    action: BulkAction,
    change: Value,
    filter: TaskFilter,
}

impl Part {
    async fn run(&self, tx: &Client) -> Result<Batch, DbError> {
        let statuses = if self.filter.ids.is_some() { None } else { Some(eligible(self.action, &self.filter)) };
        let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
        let ids = matching(tx, &self.filter, statuses.as_deref(), limit).await?;
        let Some(below) = ids.iter().min() else {
            finish(tx, self.id, None).await?;
            return Ok(Batch { is_last: true, ..Batch::default() });
        };
        let batch = change(tx, self.action, &ids, &self.change).await?;
        let (done, failed) = (count(batch.done), count(batch.failures.len()));
        let failures = serde_json::to_value(&batch.failures).map_err(|error| DbError::Other(error.to_string()))?;
        named!(tx.execute(
            "tasks/operations/advance.sql",
            id = self.id,
            below,
            done,
            failed,
            failures,
            max = MAX_FAILURES
        ))
        .await?;
        Ok(batch)
    }
}

/// Changes these tasks; a task that cannot be changed does not stop the others.
pub(super) async fn change(
    client: &Client,
    action: BulkAction,
    ids: &[TaskId],
    change: &Value,
) -> Result<Batch, DbError> {
    let mut batch = Batch::default();
    let mut ids = ids.to_vec();
    // by ascending id, so that no two transactions wait for each other
    ids.sort_unstable();
    for part in ids.chunks(BATCH) {
        let sql = "SELECT task_id, was, refusal, other FROM change_tasks($1, $2, $3)";
        for row in &client.query(sql, &[&action.name(), &part, change]).await? {
            match failure(row, action)? {
                None => batch.done += 1,
                Some(failure) => batch.failures.push(failure),
            }
        }
    }
    Ok(batch)
}

fn failure(row: &Row, action: BulkAction) -> Result<Option<Failure>, DbError> {
    let Some(refusal) = row.try_get::<_, Option<String>>("refusal")? else { return Ok(None) };
    let status: Option<String> = row.try_get("was")?;
    let other = row.try_get::<_, Option<TaskId>>("other")?.unwrap_or_default();
    let reason = match refusal.as_str() {
        "status" => format!("it is {}, which {action} does not change", status.unwrap_or_default()),
        "twin" => format!("task {other} does the same and is queued or running already"),
        "depended" => format!("task {other} waits for it"),
        "missing" => "it does not exist".to_owned(),
        "locked" => "another session has it locked; try again".to_owned(),
        _ => refusal,
    };
    Ok(Some(Failure { id: row.try_get("task_id")?, reason }))
}

/// `error`: why the whole operation failed.
async fn finish(client: &Client, id: i64, error: Option<String>) -> Result<(), DbError> {
    client.execute(sql!("tasks/operations/finish.sql"), &[&id, &error]).await.map(drop)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl FromRow for Part {
    fn from_row(row: &Row) -> Result<Part, DbError> {
        let filter = serde_json::from_value::<TaskFilter>(row.try_get("filter")?);
        let filter = filter.map_err(|error| DbError::Other(format!("its filter cannot be read: {error}")))?;
        let action = match word(row, "action")? {
            Word::Known(action) => action,
            Word::Other(other) => return Err(DbError::Other(format!("this program does not know the action {other}"))),
        };
        Ok(Part {
            id: row.try_get("id")?,
            action,
            change: row.try_get("change")?,
            filter: TaskFilter { after: Some(row.try_get("below")?), ..filter },
        })
    }
}
