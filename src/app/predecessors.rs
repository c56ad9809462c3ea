//! Workers of processes that ran here before: a process that starts puts their tasks back at once, instead of when the leases end.
//!
//! In: the registry, and the identity of this process. Out: pending tasks, and the names of pods that others use. It must not know
//! what this process will run.

use db::workers::{self, LiveWorker};
use db::{Client, Db, DbError, tasks};
use domain::task::{Blame, TaskLease};
use foundation::process::ProcessIdentity;
use telemetry::events;

/// Takes the workers out of the registry whose process has ended on this machine, with their tasks; returns the names of pods that
/// other processes use. A repeated call does the rest of one that failed.
pub async fn take_over(db: &Db, host: &str) -> Result<Vec<String>, DbError> {
    let own = ProcessIdentity::own(host);
    let client = db.client().await?;
    let (ended, others) = workers::live(&client).await?.into_iter().partition(|worker| has_ended(&own, worker));
    put_back(&client, ended).await?;
    Ok(others.into_iter().filter(|worker| !is_replaced(&own, worker)).map(|worker| worker.pod).collect())
}

fn has_ended(own: &ProcessIdentity, worker: &LiveWorker) -> bool {
    worker.process.as_ref().is_some_and(|process| own.knows_end_of(process))
}

/// A container that is started again has the name of its predecessor, and cannot see whether that has ended.
fn is_replaced(own: &ProcessIdentity, worker: &LiveWorker) -> bool {
    let Some(process) = &worker.process else { return false };
    !own.host.is_empty() && own.host == process.host && own.pid_space != process.pid_space
}

async fn put_back(client: &Client, ended: Vec<LiveWorker>) -> Result<(), DbError> {
    let ids: Vec<String> = ended.into_iter().map(|worker| worker.worker_id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let (blamed, blameless): (Vec<_>, Vec<_>) =
        workers::held_leases(client, &ids).await?.into_iter().partition(|(_, blame)| *blame == Blame::Task);
    let mut counts = (0, 0);
    for (held, blame) in [(blamed, Blame::Task), (blameless, Blame::NoTask)] {
        let leases: Vec<TaskLease> = held.into_iter().map(|(lease, _)| lease).collect();
        let done = tasks::recover_held(client, &leases, blame).await?;
        counts = (counts.0 + done.requeued, counts.1 + done.failed);
    }
    workers::mark_offline(client, &ids).await?;
    events::ended_processes_tasks_recovered(ids.len(), counts.0 as u64, counts.1 as u64);
    Ok(())
}
