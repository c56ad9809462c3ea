//! `SchedulerActor`: the periodic work of a process: due schedules, sweeps, recovery, pruning, tidying up.
//!
//! Each chore is idempotent and may be interrupted anywhere: the next tick finds what is left. It runs on the runtime, one of a
//! kind at a time; this actor only knows when which began. Schedules run where they are switched on (never in `worker`).

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use actix::prelude::*;
use futures_util::FutureExt;
use serde::Serialize;

use super::deps::ActorDeps;
use super::messages::Tick;
use super::runner::panic_text;
use super::supervision::Rebuild;
use crate::db::{DbError, schedules, snapshots, tasks, workers};
use crate::handlers::{TaskError, housekeeping};
use crate::{events, supervised};

/// How far back the frequent sweep looks: many times its own interval, so that a late one misses nothing.
const SWEEP_BACK: Duration = Duration::from_secs(30);
const REGISTRY_EVERY: Duration = Duration::from_secs(10);
const STORAGE_EVERY: Duration = Duration::from_secs(10);
const TOTALS_EVERY: Duration = Duration::from_secs(30);
const FILES_EVERY: Duration = Duration::from_secs(3600);
const PARTITIONS_EVERY: Duration = Duration::from_secs(6 * 3600);
/// As many schedules as one round runs: the others are due again at the next tick.
const SCHEDULES_A_ROUND: usize = 100;
const BATCHES_A_PRUNING: usize = 1_000;
/// Longer than any chore of ours takes; one that hangs is begun anew.
const CHORE_LIMIT: Duration = Duration::from_secs(15 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chore {
    SweepDue,
    SweepAll,
    Recover,
    Schedules,
    Registry,
    Totals,
    Prune,
    Files,
    Storage,
    Partitions,
}

pub struct SchedulerActor {
    deps: ActorDeps,
    schedules: bool,
    rounds: Vec<Round>,
    /// Counts its restarts.
    life: u64,
}

struct Round {
    chore: Chore,
    every: Duration,
    begun: Option<Instant>,
    running: bool,
}

/// The scheduler as people may see it.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedScheduler {
    /// Whether schedules run in this process.
    pub schedules: bool,
    /// The chores under way.
    pub running: Vec<&'static str>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct Finished {
    chore: Chore,
    life: u64,
}

impl SchedulerActor {
    pub fn new(deps: ActorDeps, schedules: bool) -> Self {
        let queue = &deps.config.queue;
        let mut chores = vec![
            (Chore::SweepDue, queue.sweep_due),
            (Chore::SweepAll, queue.sweep_all),
            (Chore::Recover, queue.recovery_tick),
            (Chore::Registry, REGISTRY_EVERY),
            (Chore::Prune, deps.config.retention.prune_every),
            (Chore::Files, FILES_EVERY),
            (Chore::Storage, STORAGE_EVERY),
            (Chore::Partitions, PARTITIONS_EVERY),
            (Chore::Totals, TOTALS_EVERY),
        ];
        if schedules {
            chores.push((Chore::Schedules, queue.schedule_tick));
        }
        let rounds =
            chores.into_iter().map(|(chore, every)| Round { chore, every, begun: None, running: false }).collect();
        SchedulerActor { deps, schedules, rounds, life: 0 }
    }

    fn begin(&mut self, place: usize, now: Instant, ctx: &mut Context<Self>) {
        let round = &mut self.rounds[place];
        (round.begun, round.running) = (Some(now), true);
        let (deps, chore, me, life) = (self.deps.clone(), round.chore, ctx.address(), self.life);
        self.deps.runtime.spawn(async move {
            match tokio::time::timeout(CHORE_LIMIT, AssertUnwindSafe(chore.run(&deps)).catch_unwind()).await {
                Ok(Ok(Ok(()))) => {}
                Ok(Ok(Err(error))) => events::chore_failed(chore.name(), &error),
                Err(_) => events::chore_failed(chore.name(), &format!("not done within {CHORE_LIMIT:?}")),
                Ok(Err(panic)) => events::chore_failed(chore.name(), &panic_text(panic.as_ref())),
            }
            me.do_send(Finished { chore, life });
        });
    }
}

impl Round {
    fn is_due(&self, now: Instant) -> bool {
        !self.running && self.begun.is_none_or(|begun| now.saturating_duration_since(begun) >= self.every)
    }
}

impl Chore {
    fn name(self) -> &'static str {
        match self {
            Chore::SweepDue => "sweep of due tasks",
            Chore::SweepAll => "sweep of all tasks",
            Chore::Recover => "recovery",
            Chore::Schedules => "schedules",
            Chore::Registry => "registry",
            Chore::Totals => "totals",
            Chore::Prune => "pruning",
            Chore::Files => "payload files",
            Chore::Storage => "check of the storage root",
            Chore::Partitions => "partitions",
        }
    }

    async fn run(self, deps: &ActorDeps) -> Result<(), TaskError> {
        fail::fail_point!("chore");
        let (db, services) = (&deps.db, &deps.executor.services);
        match self {
            Chore::SweepDue => {
                tasks::sweep_due_in_turn(&db.client().await?, SWEEP_BACK, deps.config.queue.sweep_due).await?;
            }
            Chore::SweepAll => {
                tasks::sweep_all_in_turn(&db.client().await?, deps.config.queue.sweep_all).await?;
            }
            Chore::Recover => recover(deps).await?,
            Chore::Schedules => run_schedules(deps).await?,
            Chore::Registry => drop(workers::sweep(&db.client().await?).await?),
            Chore::Totals => drop(tasks::refresh_totals_in_turn(&db.client().await?, TOTALS_EVERY).await?),
            Chore::Prune => prune(deps).await?,
            Chore::Files => {
                let swept = housekeeping::sweep_files(services, deps.times.lease).await?;
                events::payloads_swept(swept.set_aside, swept.removed);
            }
            Chore::Storage => housekeeping::check_storage(services).await?,
            Chore::Partitions => drop(snapshots::ensure_partitions(&db.client().await?).await?),
        }
        Ok(())
    }
}

async fn recover(deps: &ActorDeps) -> Result<(), DbError> {
    let recovered = tasks::recover(&deps.db.client().await?, None).await?;
    events::tasks_recovered(recovered.requeued as u64, recovered.failed as u64);
    Ok(())
}

async fn run_schedules(deps: &ActorDeps) -> Result<(), DbError> {
    for _ in 0..SCHEDULES_A_ROUND {
        let Some(run) = schedules::run_due(&deps.db).await? else { return Ok(()) };
        match &run.fault {
            Some(fault) => events::schedule_failed(&run.schedule, fault),
            None if !run.already_made => events::schedule_generated(&run.schedule, run.tasks as u64),
            None => {}
        }
    }
    Ok(())
}

async fn prune(deps: &ActorDeps) -> Result<(), DbError> {
    let retention = &deps.config.retention;
    schedules::prune(&deps.db.client().await?).await?;
    for _ in 0..BATCHES_A_PRUNING {
        // a connection each: other work goes first
        let client = deps.db.client().await?;
        let gone = tasks::prune(&client, retention.completed, retention.failed, retention.prune_batch).await?;
        if gone < retention.prune_batch as u64 {
            break;
        }
    }
    Ok(())
}

impl Actor for SchedulerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let shortest = self.rounds.iter().map(|round| round.every).min().unwrap_or(Duration::from_secs(1));
        ctx.run_interval(shortest.clamp(Duration::from_millis(100), Duration::from_secs(1)), |_, ctx| ctx.notify(Tick));
        ctx.notify(Tick);
    }
}

impl Rebuild for SchedulerActor {
    type Observed = ObservedScheduler;

    fn rebuilt(&mut self) -> Self {
        SchedulerActor { life: self.life + 1, ..SchedulerActor::new(self.deps.clone(), self.schedules) }
    }

    fn observed(&self) -> ObservedScheduler {
        let running = self.rounds.iter().filter(|round| round.running).map(|round| round.chore.name());
        ObservedScheduler { schedules: self.schedules, running: running.collect() }
    }
}

supervised!(SchedulerActor);

impl Handler<Tick> for SchedulerActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.scheduler");
        let now = Instant::now();
        for place in 0..self.rounds.len() {
            if self.rounds[place].is_due(now) {
                self.begin(place, now, ctx);
            }
        }
    }
}

impl Handler<Finished> for SchedulerActor {
    type Result = ();

    fn handle(&mut self, Finished { chore, life }: Finished, _: &mut Context<Self>) {
        if life != self.life {
            return; // it was begun before a crash, and another of its kind may run by now
        }
        for round in self.rounds.iter_mut().filter(|round| round.chore == chore) {
            round.running = false;
        }
    }
}
