//! `worker_tasks` and `task_attempts` as the machinery uses them: enqueue, claim, renew, settle, recover, sweep.
//!
//! The only module that writes a task's status. What a run writes is fenced by (id, fence, worker): a lost lease reads as
//! [`DbError::Missing`], and nothing was written. The rules themselves live in `migrations/objects/`.

use std::cmp::Reverse;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio_postgres::Row;

use super::{Client, DbError};
use crate::domain::dispensary::DispensaryId;
use crate::domain::role::Role;
use crate::domain::task::{Held, TaskId};

/// The channel on which new work is announced.
pub const WAKE_CHANNEL: &str = "drover_tasks";

/// A task to be made; names as the columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewTask {
    pub role: Role,
    pub dispensary_id: Option<DispensaryId>,
    pub platform: Option<String>,
    pub priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<chrono::DateTime<chrono::Utc>>,
    pub payload: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dedup_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
}

impl NewTask {
    /// A task of this role at its default priority and nothing else said.
    pub fn new(role: Role) -> Self {
        NewTask {
            role,
            dispensary_id: None,
            platform: None,
            priority: role.default_priority(),
            scheduled_for: None,
            payload: Value::Object(Default::default()),
            max_retries: None,
            dedup_key: None,
            depends_on: Vec::new(),
            parent_task_id: None,
        }
    }
}

/// A task that this process may run until its lease ends.
#[derive(Clone, Debug)]
pub struct Claimed {
    pub held: Held,
    pub role: Role,
    pub dispensary_id: Option<DispensaryId>,
    pub platform: Option<String>,
    pub payload: Value,
    pub priority: i32,
    pub retry_count: i32,
    pub loss_count: i32,
    /// From when it was due until it was claimed.
    pub waited: Duration,
}

impl Claimed {
    /// Lost twice: it may be what kills its processes, so each runs at most one such at a time.
    pub fn is_suspect(&self) -> bool {
        self.loss_count >= 2
    }
}

/// What one round trip of the claimer carries.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Finished runs that have nothing to write.
    pub done: Vec<Completed>,
    pub roles: Vec<Role>,
    /// One name for each task wanted.
    pub workers: Vec<String>,
    pub lease: Duration,
    pub allow_suspect: bool,
}

#[derive(Debug)]
pub struct Completed {
    pub held: Held,
    pub result: Value,
    pub detail: Value,
}

#[derive(Debug, Default)]
pub struct Exchanged {
    /// Which of `done` were still held; the others were lost.
    pub settled: Vec<TaskId>,
    pub claimed: Vec<Claimed>,
}

/// How a run is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Completed,
    Cancelled,
    /// Retried while retries are left.
    Failed,
    /// Failed whatever retries are left.
    Permanent,
    Snoozed,
    Released,
}

impl Ending {
    fn word(self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::Cancelled => "cancelled",
            Ending::Failed => "failed",
            Ending::Permanent => "permanent",
            Ending::Snoozed => "snoozed",
            Ending::Released => "released",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Settlement {
    pub ending: Ending,
    pub result: Option<Value>,
    /// Cut to 8 KiB.
    pub why: Option<String>,
    /// When a failed or snoozed task may run again, from now.
    pub come_back: Duration,
    /// The longest time in a row that a task may be snoozed.
    pub snooze_limit: Duration,
    /// The attempt's detail: proxies, fingerprint, requests, blocks.
    pub detail: Value,
}

impl Settlement {
    /// Nothing written, nothing to wait for.
    pub fn new(ending: Ending, why: Option<String>) -> Self {
        Settlement {
            ending,
            result: None,
            why,
            come_back: Duration::ZERO,
            snooze_limit: Duration::from_secs(24 * 3600),
            detail: Value::Null,
        }
    }

    /// The task goes back to where it was, at no cost.
    pub fn released(why: &str) -> Self {
        Settlement::new(Ending::Released, Some(why.to_owned()))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    pub requeued: i32,
    pub failed: i32,
}

/// Inserts tasks in one statement and returns their ids in order. `Conflict` when a dedup key is queued already: nothing is inserted.
pub async fn enqueue(client: &Client, tasks: &[NewTask]) -> Result<Vec<TaskId>, DbError> {
    // most runs chain nothing, and need not ask
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let specs = serde_json::to_value(tasks).map_err(|error| DbError::Other(error.to_string()))?;
    let row = client.query_one("SELECT enqueue_tasks($1)", &[&specs]).await?;
    Ok(row.get(0))
}

/// Completes what is done and claims up to one task a name, in one round trip and one transaction.
pub async fn settle_and_claim(client: &Client, exchange: &Exchange) -> Result<Exchanged, DbError> {
    let ids: Vec<TaskId> = exchange.done.iter().map(|done| done.held.id).collect();
    let fences: Vec<i64> = exchange.done.iter().map(|done| done.held.fence).collect();
    let workers: Vec<&str> = exchange.done.iter().map(|done| done.held.worker_id.as_str()).collect();
    let results: Vec<Value> = exchange.done.iter().map(|done| storable(&done.result)).collect();
    let details: Vec<Value> = exchange.done.iter().map(|done| storable(&done.detail)).collect();
    let roles: Vec<&str> = exchange.roles.iter().map(|role| role.name()).collect();
    let rows = client
        .query(
            include_str!("sql/tasks/settle_and_claim.sql"),
            &[
                &ids,
                &fences,
                &workers,
                &results,
                &details,
                &roles,
                &exchange.workers,
                &exchange.lease.as_secs_f64(),
                &exchange.allow_suspect,
            ],
        )
        .await?;
    let mut answer = Exchanged { settled: ids, claimed: Vec::with_capacity(rows.len()) };
    for row in &rows {
        if row.get(0) {
            let lost: TaskId = row.get(1);
            answer.settled.retain(|id| *id != lost);
            continue;
        }
        answer.claimed.push(claimed(row)?);
    }
    // as they were picked; the statement's own order is its plan's
    answer.claimed.sort_by_key(|task| (!task.is_suspect(), Reverse(task.priority), task.held.id));
    Ok(answer)
}

/// Marks a claimed task as running. `false`: it is lost.
pub async fn start(client: &Client, held: &Held) -> Result<bool, DbError> {
    let touched =
        client.execute(include_str!("sql/tasks/start.sql"), &[&held.id, &held.fence, &held.worker_id]).await?;
    Ok(touched == 1)
}

/// Ends one run; the last call of the transaction that holds its effects. Returns the task's new status.
/// `Missing`: the lease was lost, and the transaction must be rolled back.
pub async fn settle(client: &Client, held: &Held, settlement: &Settlement) -> Result<String, DbError> {
    // text of the database cannot hold a zero byte, which upstream's answers may
    let why = settlement.why.as_deref().map(|why| why.replace('\0', ""));
    let why = why.as_deref().map(|why| cut(why, 8192));
    let row = client
        .query_one(
            include_str!("sql/tasks/settle.sql"),
            &[
                &held.id,
                &held.fence,
                &held.worker_id,
                &settlement.ending.word(),
                &settlement.result.as_ref().map(storable),
                &why,
                &settlement.come_back.as_secs_f64(),
                &settlement.snooze_limit.as_secs_f64(),
                &storable(&settlement.detail),
            ],
        )
        .await?;
    Ok(row.get(0))
}

/// How a run ended, the answer to a commit that nobody heard. None: it is still open, or its task is gone.
pub async fn attempt_outcome(client: &Client, held: &Held) -> Result<Option<String>, DbError> {
    let row = client
        .query_opt("SELECT outcome FROM task_attempts WHERE task_id = $1 AND fence = $2", &[&held.id, &held.fence])
        .await?;
    Ok(row.and_then(|row| row.get(0)))
}

/// Renews the leases that `held` names and returns the ids that were renewed.
///
/// A task that is missing from the answer is either being settled (its row is locked) or lost: ask [`lost`] before cancelling
/// its body. Takes the heartbeat's own plain connection; the caller holds the deadline.
pub async fn renew(
    client: &tokio_postgres::Client,
    held: &[Held],
    lease: Duration,
) -> Result<Vec<TaskId>, tokio_postgres::Error> {
    let (ids, fences, workers) = columns(held);
    let rows =
        client.query(include_str!("sql/tasks/renew.sql"), &[&ids, &fences, &workers, &lease.as_secs_f64()]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Which of `held` are lost for good: another fence, no longer active, or out of lease.
pub async fn lost(client: &tokio_postgres::Client, held: &[Held]) -> Result<Vec<TaskId>, tokio_postgres::Error> {
    let (ids, fences, workers) = columns(held);
    let rows = client.query(include_str!("sql/tasks/lost.sql"), &[&ids, &fences, &workers]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Puts back what is past its lease, at most 1,000 tasks a call; `silence` also takes what gave no sign for so long.
pub async fn recover(client: &Client, silence: Option<Duration>) -> Result<Recovered, DbError> {
    let seconds = silence.map(|silence| silence.as_secs_f64());
    let row =
        client.query_one("SELECT requeued, failed FROM recover_tasks(make_interval(secs => $1))", &[&seconds]).await?;
    Ok(recovered(&row))
}

/// Puts back everything that is held, at no cost: for who knows that every holder is dead, and that no task killed it.
pub async fn recover_all(client: &Client) -> Result<Recovered, DbError> {
    let sql = "SELECT requeued, failed FROM recover_tasks(interval '0', blame => false)";
    let mut all = Recovered::default();
    loop {
        let batch = recovered(&client.query_one(sql, &[]).await?);
        if batch == Recovered::default() {
            return Ok(all);
        }
        (all.requeued, all.failed) = (all.requeued + batch.requeued, all.failed + batch.failed);
    }
}

/// Puts back at once what its holder cannot end any more; with `blame` because it died, which counts against the tasks.
pub async fn recover_held(client: &Client, held: &[Held], blame: bool) -> Result<Recovered, DbError> {
    let (ids, fences, workers) = columns(held);
    let sql = "SELECT requeued, failed FROM recover_held($1, $2, $3, $4)";
    Ok(recovered(&client.query_one(sql, &[&ids, &fences, &workers, &blame]).await?))
}

/// Makes ready what became due within the last `back`; one process at a time, the others get 0.
pub async fn sweep_due(client: &Client, back: Duration) -> Result<i64, DbError> {
    let row = client.query_one("SELECT sweep_due(make_interval(secs => $1))", &[&back.as_secs_f64()]).await?;
    Ok(row.get(0))
}

/// The backstop: hand-written rows, dependencies, missed wake-ups.
pub async fn sweep_all(client: &Client) -> Result<i64, DbError> {
    let row = client.query_one("SELECT sweep_all()", &[]).await?;
    Ok(row.get(0))
}

/// Deletes one batch of ended tasks past their retention, with their attempts; returns how many.
pub async fn prune(client: &Client, completed: Duration, others: Duration, batch: i64) -> Result<u64, DbError> {
    client
        .execute(include_str!("sql/tasks/prune.sql"), &[&completed.as_secs_f64(), &others.as_secs_f64(), &batch])
        .await
}

/// Counts ended tasks by role and status, which is too slow for a request.
pub async fn refresh_totals(client: &Client) -> Result<u64, DbError> {
    client.execute(include_str!("sql/tasks/refresh_totals.sql"), &[]).await
}

/// By position, in the order of settle_and_claim.sql: names would be searched for in each of many rows.
fn claimed(row: &Row) -> Result<Claimed, DbError> {
    let role: &str = row.get(4);
    Ok(Claimed {
        held: Held { id: row.get(1), fence: row.get(2), worker_id: row.get(3) },
        role: role.parse().map_err(|unknown| DbError::Other(format!("{unknown}")))?,
        dispensary_id: row.get(5),
        platform: row.get(6),
        payload: row.get(7),
        priority: row.get(8),
        retry_count: row.get(9),
        loss_count: row.get(10),
        waited: Duration::from_secs_f64(row.get::<_, f64>(11).max(0.0)),
    })
}

fn columns(held: &[Held]) -> (Vec<TaskId>, Vec<i64>, Vec<&str>) {
    let ids = held.iter().map(|held| held.id).collect();
    let fences = held.iter().map(|held| held.fence).collect();
    let workers = held.iter().map(|held| held.worker_id.as_str()).collect();
    (ids, fences, workers)
}

fn recovered(row: &Row) -> Recovered {
    Recovered { requeued: row.get("requeued"), failed: row.get("failed") }
}

/// Upstream's answers may hold zero bytes, in keys too; jsonb cannot.
fn storable(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace('\0', "")),
        Value::Array(items) => items.iter().map(storable).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.replace('\0', ""), storable(value))).collect(),
        other => other.clone(),
    }
}

/// At most `limit` bytes, cut between characters.
fn cut(text: &str, limit: usize) -> &str {
    let mut end = text.len().min(limit);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
