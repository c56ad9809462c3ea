//! Leases: renewed while a task runs, checked when a renewal is missing, and taken back when their holder is
//! gone.

use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};

use super::{Client, DbError};
use crate::statements::{FromRow, first_column, named, rows, sql};
use contract::tasks::{RecoveryCounts, WaitingLeases};
use domain::task::{Blame, TaskId, TaskLease};

/// Maximum batches, with 1,000 tasks each.
const MAX_BATCHES: usize = 1_000;

rows! {
    RecoveryCounts { requeued, failed }
    WaitingLeases { waiting, waiting_until }
}

/// Renews these leases, each with the age of its latest beat, and returns the renewed ids.
///
/// A task that is missing from the answer is either being settled (its row is locked) or lost: check with
/// [`lost`] before cancelling its body. A server that crashes before [`flush_renewals`] has returned may
/// forget renewals. Takes the heartbeat's own plain connection; the caller applies the deadline.
pub async fn renew(
    client: &tokio_postgres::Client,
    leases: &[(TaskLease, Duration)],
    length: Duration,
) -> Result<Vec<TaskId>, tokio_postgres::Error> {
    let (ids, fences, workers) = columns(leases.iter().map(|(lease, _)| lease));
    let beat_ages: Vec<f64> = leases.iter().map(|(_, age)| age.as_secs_f64()).collect();
    let lease = length.as_secs_f64();
    // typed: preparing would cost another round trip
    let rows = named!(client.query_typed("tasks/renew.sql", ids, fences, workers, beat_ages, lease)).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Returns once the writes of [`renew`] are on the server's disk.
pub async fn flush_renewals(client: &tokio_postgres::Client) -> Result<(), tokio_postgres::Error> {
    client.query_typed("SELECT flush_renewals()", &[]).await.map(drop)
}

/// Subscribes the connection to notifications of each running task that is cancelled.
pub async fn listen_for_cancels(client: &tokio_postgres::Client) -> Result<(), tokio_postgres::Error> {
    client.batch_execute("LISTEN drover_cancels").await
}

/// The leases among these that are lost for good: another fence, no longer active, or expired.
pub async fn lost(client: &tokio_postgres::Client, leases: &[TaskLease]) -> Result<Vec<TaskId>, tokio_postgres::Error> {
    let (ids, fences, workers) = columns(leases.iter());
    let params: [(&(dyn ToSql + Sync), Type); 3] =
        [(&ids, Type::INT8_ARRAY), (&fences, Type::INT8_ARRAY), (&workers, Type::TEXT_ARRAY)];
    let rows = client.query_typed(sql!("tasks/lost.sql"), &params).await?;
    rows.iter().map(|row| row.try_get(0)).collect()
}

/// Puts back tasks with an expired lease, at most 1,000 a call; with `silence` also tasks that were silent
/// for this time.
pub async fn recover(client: &Client, silence: Option<Duration>) -> Result<RecoveryCounts, DbError> {
    let seconds = silence.map(|silence| silence.as_secs_f64());
    let sql = "SELECT requeued, failed FROM recover_tasks(make_interval(secs => $1))";
    RecoveryCounts::from_row(&client.query_one(sql, &[&seconds]).await?)
}

/// Puts back all tasks with an expired lease or silent for `silence`, in batches; no task is blamed for its
/// silence.
pub async fn recover_silent(client: &Client, silence: Duration) -> Result<RecoveryCounts, DbError> {
    let mut all = RecoveryCounts::default();
    for _ in 0..MAX_BATCHES {
        let batch = recover(client, Some(silence)).await?;
        if batch == RecoveryCounts::default() {
            break;
        }
        (all.requeued, all.failed) = (all.requeued + batch.requeued, all.failed + batch.failed);
    }
    Ok(all)
}

/// Tasks of workers that are gone whose leases have not ended.
pub async fn waiting_leases(client: &Client) -> Result<WaitingLeases, DbError> {
    WaitingLeases::from_row(&client.query_one(sql!("tasks/waiting_leases.sql"), &[]).await?)
}

/// Puts back every active task, without counting a loss or a retry, for a caller that knows that every worker
/// is dead, and that no task killed one. Rows that another session has locked stay as they are.
pub async fn recover_all(client: &Client) -> Result<RecoveryCounts, DbError> {
    let sql = "SELECT requeued, failed FROM recover_tasks(interval '0', may_blame => false)";
    let mut all = RecoveryCounts::default();
    loop {
        let batch = RecoveryCounts::from_row(&client.query_one(sql, &[]).await?)?;
        if batch == RecoveryCounts::default() {
            return Ok(all);
        }
        (all.requeued, all.failed) = (all.requeued + batch.requeued, all.failed + batch.failed);
    }
}

/// Puts back at once the tasks that their holder cannot end any more. Only tasks that ran are blamed.
pub async fn recover_held(client: &Client, leases: &[TaskLease], blame: Blame) -> Result<RecoveryCounts, DbError> {
    let (ids, fences, workers) = columns(leases.iter());
    let is_blamed = blame == Blame::Task;
    let row = named!(client.query_one("tasks/recover_held.sql", ids, fences, workers, is_blamed)).await?;
    RecoveryCounts::from_row(&row)
}

/// Puts back the tasks among these that were claimed and never begun, without counting a loss or a retry;
/// returns their number.
pub async fn release_unstarted(client: &Client, leases: &[TaskLease]) -> Result<i32, DbError> {
    let (ids, fences, workers) = columns(leases.iter());
    first_column(&client.query_one("SELECT release_unstarted($1, $2, $3)", &[&ids, &fences, &workers]).await?)
}

pub(super) fn columns<'a>(
    leases: impl Iterator<Item = &'a TaskLease> + Clone,
) -> (Vec<TaskId>, Vec<i64>, Vec<&'a str>) {
    let ids = leases.clone().map(|lease| lease.id).collect();
    let fences = leases.clone().map(|lease| lease.fence).collect();
    let workers = leases.map(|lease| lease.worker_id.as_str()).collect();
    (ids, fences, workers)
}
