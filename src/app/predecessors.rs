//! Workers of processes that ran here before: a process that starts puts their tasks back at once, instead of when the leases end.
//!
//! In: the registry, and the identity of this process. Out: pending tasks. It must not know what this process will run.
//! `drover tasks recover` does the same without starting anything.

use db::workers::{self, LiveWorker};
use db::{Client, Db, DbError, tasks};
use domain::task::{Blame, TaskLease};
use foundation::process::ProcessIdentity;
use telemetry::events;

/// Workers of ended processes, and their tasks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recovered {
    pub workers: usize,
    pub requeued: i32,
    pub failed: i32,
}

/// Recovers as [`recover`] does, and says so in the log.
pub async fn take_over(db: &Db, host: &str) -> Result<(), DbError> {
    let Recovered { workers, requeued, failed } = recover(&db.client().await?, host).await?;
    if workers > 0 {
        let [requeued, failed] = [requeued, failed].map(|tasks| i64::from(tasks).unsigned_abs());
        events::ended_processes_tasks_recovered(workers, requeued, failed);
    }
    Ok(())
}

/// Takes the workers out of the registry whose process has ended on this machine, and puts their tasks back. A
/// repeated call does the rest of one that failed.
pub async fn recover(client: &Client, host: &str) -> Result<Recovered, DbError> {
    put_back(client, ended(client, host).await?).await
}

/// Ids of the registered workers whose process has ended on this machine.
pub async fn ended(client: &Client, host: &str) -> Result<Vec<String>, DbError> {
    let own = ProcessIdentity::own(host);
    Ok(ids(workers::live(client).await?.into_iter().filter(|worker| has_ended(&own, worker))))
}

async fn put_back(client: &Client, ids: Vec<String>) -> Result<Recovered, DbError> {
    if ids.is_empty() {
        return Ok(Recovered::default());
    }
    let (blamed, blameless): (Vec<_>, Vec<_>) =
        workers::held_leases(client, &ids).await?.into_iter().partition(|(_, blame)| *blame == Blame::Task);
    let mut recovered = Recovered { workers: ids.len(), ..Recovered::default() };
    for (held, blame) in [(blamed, Blame::Task), (blameless, Blame::NoTask)] {
        let leases: Vec<TaskLease> = held.into_iter().map(|(lease, _)| lease).collect();
        let done = tasks::recover_held(client, &leases, blame).await?;
        recovered.requeued += done.requeued;
        recovered.failed += done.failed;
    }
    workers::mark_offline(client, &ids).await?;
    Ok(recovered)
}

fn ids(workers: impl IntoIterator<Item = LiveWorker>) -> Vec<String> {
    workers.into_iter().map(|worker| worker.worker_id).collect()
}

fn has_ended(own: &ProcessIdentity, worker: &LiveWorker) -> bool {
    worker.process.as_ref().is_some_and(|process| own.knows_end_of(process))
}
