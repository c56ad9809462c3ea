//! Claims tasks for many requests of one process in one round trip, together with the runs that it has
//! completed.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tokio_postgres::Row;

use super::leases::columns;
use super::{AttemptOutcome, Client, DbError, Settlement, settle};
use crate::statements::{FromRow, first_column, named, parsed, storable};
use domain::store::StoreId;
use domain::task::role::{Family, Role};
use domain::task::{TaskId, TaskLease};
use telemetry::events;

/// Statement with the columns of `settle_and_claim.sql`: [`ClaimedTask`] is read by position.
const CLAIMED_WITH: &str = "
    SELECT false, id, fence, worker_id, role, dispensary_id, platform, payload, priority, retry_count, loss_count, waited, account
      FROM claimed_with($1::text::uuid)";

/// A task that this process may run until its lease ends.
#[derive(Clone, Debug)]
pub struct ClaimedTask {
    pub lease: TaskLease,
    pub role: Role,
    pub dispensary_id: Option<StoreId>,
    pub platform: Option<String>,
    pub account: Option<String>,
    pub payload: Value,
    pub priority: i32,
    pub retry_count: i32,
    pub loss_count: i32,
    /// Time from when it was due until it was claimed.
    pub waited: Duration,
}

impl ClaimedTask {
    /// A task lost twice may kill its processes, so a process runs at most one of them at a time.
    pub fn is_suspect(&self) -> bool {
        self.loss_count >= 2
    }
}

/// Marks the claims of one call of [`settle_and_claim`], so that they can be found when its answer is lost.
/// Each is random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimToken(u128);

impl ClaimToken {
    pub fn random() -> Self {
        ClaimToken(rand::random())
    }
}

/// A different one each time.
impl Default for ClaimToken {
    fn default() -> Self {
        ClaimToken::random()
    }
}

impl fmt::Display for ClaimToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Input of one round trip of the claimer.
#[derive(Debug, Default)]
pub struct ClaimBatch {
    /// Finished runs that have nothing to write.
    pub done: Vec<Completion>,
    pub roles: Vec<Role>,
    /// The id of a worker for each task wanted; a worker with two free slots appears twice.
    pub workers: Vec<String>,
    pub lease: Duration,
    pub allow_suspect: bool,
    /// Token for [`claimed_with`].
    pub token: ClaimToken,
}

#[derive(Debug)]
pub struct Completion {
    pub lease: TaskLease,
    pub result: Value,
    pub detail: Value,
}

#[derive(Debug, Default)]
pub struct ClaimBatchResult {
    /// Entries of `done` that were written. The others are lost, or another session has their rows locked:
    /// [`settle()`](super::settle()) distinguishes the two.
    pub settled: Vec<TaskId>,
    pub claimed: Vec<ClaimedTask>,
}

/// Completes `done` and claims up to one task for each entry of `workers`, in one round trip and one
/// transaction. A claimed task that cannot be decoded fails at once, for good; the others are returned.
pub async fn settle_and_claim(client: &Client, batch: &ClaimBatch) -> Result<ClaimBatchResult, DbError> {
    let mut done: Vec<&Completion> = batch.done.iter().collect();
    // complete_tasks takes the first entry of an id: only the run with the higher fence can be held
    done.sort_by_key(|done| Reverse(done.lease.fence));
    let ids: Vec<TaskId> = done.iter().map(|done| done.lease.id).collect();
    let fences: Vec<i64> = done.iter().map(|done| done.lease.fence).collect();
    let workers: Vec<&str> = done.iter().map(|done| done.lease.worker_id.as_str()).collect();
    let results: Vec<Value> = done.iter().map(|done| storable(&done.result)).collect();
    let details: Vec<Value> = done.iter().map(|done| storable(&done.detail)).collect();
    let roles: Vec<&str> = batch.roles.iter().map(|role| role.name()).collect();
    let every_crawl_role = Role::CRAWL.iter().all(|role| batch.roles.contains(role))
        && batch.roles.iter().all(|role| role.family() != Family::Media);
    let rows = named!(client.query(
        "tasks/settle_and_claim.sql",
        ids,
        fences,
        workers,
        results,
        details,
        roles,
        every_crawl_role,
        claimers = batch.workers,
        lease = batch.lease.as_secs_f64(),
        allow_suspect = batch.allow_suspect,
        token = batch.token.to_string()
    ))
    .await?;
    let mut settled = ids;
    let mut claims = Vec::with_capacity(rows.len());
    for row in &rows {
        if row.try_get(0)? {
            let lost: TaskId = row.try_get(1)?;
            settled.retain(|id| *id != lost);
        } else {
            claims.push(row);
        }
    }
    Ok(ClaimBatchResult { settled, claimed: decode_claims(client, claims).await? })
}

/// Claims of the [`settle_and_claim`] with this token that are still active, for a call whose answer was
/// lost. `Contention` while that call may still commit: ask again.
pub async fn claimed_with(client: &Client, token: ClaimToken) -> Result<Vec<ClaimedTask>, DbError> {
    let rows = client.query(CLAIMED_WITH, &[&token.to_string()]).await?;
    decode_claims(client, rows.iter().collect()).await
}

/// Marks a claimed task as running. `false`: it is lost.
pub async fn start(client: &Client, lease: &TaskLease) -> Result<bool, DbError> {
    let sql = "SELECT start_task($1, $2, $3)";
    first_column(&client.query_one(sql, &[&lease.id, &lease.fence, &lease.worker_id]).await?)
}

/// Marks claimed tasks as running, with one statement; returns for each whether it runs now. One that does not is lost,
/// or another session has its row locked: [`start`] waits for that.
pub async fn start_many(client: &Client, leases: &[TaskLease]) -> Result<Vec<bool>, DbError> {
    let (ids, fences, workers) = columns(leases.iter());
    let rows = client.query("SELECT id, fence FROM start_tasks($1, $2, $3)", &[&ids, &fences, &workers]).await?;
    let started = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    let started = started.collect::<Result<HashSet<(TaskId, i64)>, DbError>>()?;
    Ok(leases.iter().map(|lease| started.contains(&(lease.id, lease.fence))).collect())
}

/// The claimed tasks, best first. A row that cannot be decoded is failed for good and left out.
async fn decode_claims(client: &Client, rows: Vec<&Row>) -> Result<Vec<ClaimedTask>, DbError> {
    let mut claimed = Vec::with_capacity(rows.len());
    for row in rows {
        match ClaimedTask::from_row(row) {
            Ok(task) => claimed.push(task),
            Err(error) => fail_unreadable(client, &lease(row)?, &error).await,
        }
    }
    claimed.sort_by_key(|task| (!task.is_suspect(), Reverse(task.priority), task.lease.id));
    Ok(claimed)
}

/// Best effort: when this fails, the lease expires and the task is recovered without blame. The other claimed
/// tasks do not wait.
async fn fail_unreadable(client: &Client, lease: &TaskLease, error: &DbError) {
    let reason = format!("the task cannot be read: {error}");
    let settled = settle(client, lease, &Settlement::new(AttemptOutcome::Permanent, Some(reason))).await;
    events::task_unreadable(lease.id, error, settled.err().map(|error| error.to_string()));
}

fn lease(row: &Row) -> Result<TaskLease, DbError> {
    Ok(TaskLease { id: row.try_get(1)?, fence: row.try_get(2)?, worker_id: row.try_get(3)? })
}

/// Reads by position: with names, each of many rows would be searched.
impl FromRow for ClaimedTask {
    fn from_row(row: &Row) -> Result<ClaimedTask, DbError> {
        Ok(ClaimedTask {
            lease: lease(row)?,
            role: parsed(row, 4)?,
            dispensary_id: row.try_get(5)?,
            platform: row.try_get(6)?,
            payload: row.try_get(7)?,
            priority: row.try_get(8)?,
            retry_count: row.try_get(9)?,
            loss_count: row.try_get(10)?,
            waited: Duration::try_from_secs_f64(row.try_get(11)?).unwrap_or_default(),
            account: row.try_get(12)?,
        })
    }
}
