//! `SchedulerActor`: begins the chores of a process when they are due; to run schedules is one chore among
//! others.
//!
//! In: which chores this process has. Out: turns of them on the runtime, one of a kind at a time; this actor
//! only knows when each began and how its latest turn ended. It must not know what a chore does.

pub mod chore;
pub mod chores;

use std::time::{Duration, Instant};

use actix::prelude::*;
use strum::IntoEnumIterator;
use tokio::runtime::Handle;

use chore::{Chore, ChoreDeps, ChoreStatus, Scope};
use supervision::Rebuild;
use supervision::messages::{Observe, Tick};
use supervision::supervised;

/// Bounds of the interval at which it looks for due work.
const MIN_TICK_INTERVAL: Duration = Duration::from_millis(100);
const MAX_TICK_INTERVAL: Duration = Duration::from_secs(1);

/// Cheap to clone.
#[derive(Clone)]
pub struct SchedulerDeps {
    pub chores: ChoreDeps,
    /// False in the command `drover worker`.
    pub runs_schedules: bool,
    /// Tasks write payloads, so their process looks whether it still can.
    pub runs_tasks: bool,
    pub runtime: Handle,
}

pub struct SchedulerActor {
    deps: SchedulerDeps,
    entries: Vec<Entry>,
    /// Counts the instances of this actor: each crash begins one.
    instance: u64,
}

/// One chore of this process.
struct Entry {
    chore: Chore,
    interval: Duration,
    begun: Option<Instant>,
    is_running: bool,
    last: Option<ChoreStatus>,
}

/// The scheduler as tests see it.
#[derive(Clone, Debug)]
pub struct SchedulerView {
    pub chores: Vec<ChoreView>,
}

/// `last` is None until its first turn has ended.
#[derive(Clone, Debug)]
pub struct ChoreView {
    pub chore: Chore,
    pub is_running: bool,
    pub last: Option<ChoreStatus>,
}

#[derive(Message)]
#[rtype(result = "()")]
struct ChoreEnd {
    chore: Chore,
    status: ChoreStatus,
    /// Instance of the scheduler that began it.
    instance: u64,
}

impl SchedulerDeps {
    fn has(&self, scope: Scope) -> bool {
        match scope {
            Scope::EveryProcess => true,
            Scope::Schedulers => self.runs_schedules,
            Scope::Workers => self.runs_tasks,
        }
    }
}

impl SchedulerActor {
    pub fn new(deps: SchedulerDeps) -> Self {
        let chores = Chore::iter().filter(|chore| deps.has(chore.scope()));
        let config = &deps.chores.live.current().config;
        let entries = chores.map(|chore| Entry::new(chore, chore.interval(config))).collect();
        SchedulerActor { deps, entries, instance: 0 }
    }

    fn begin(&mut self, index: usize, now: Instant, ctx: &mut Context<Self>) {
        let entry = &mut self.entries[index];
        (entry.begun, entry.is_running) = (Some(now), true);
        let (deps, chore, instance) = (self.deps.chores.clone(), entry.chore, self.instance);
        let scheduler = ctx.address();
        self.deps.runtime.spawn(async move {
            let status = chore.run(&deps).await;
            scheduler.do_send(ChoreEnd { chore, status, instance });
        });
    }
}

impl Entry {
    fn new(chore: Chore, interval: Duration) -> Self {
        Entry { chore, interval, begun: None, is_running: false, last: None }
    }

    fn is_due(&self, now: Instant) -> bool {
        !self.is_running && self.begun.is_none_or(|begun| now.saturating_duration_since(begun) >= self.interval)
    }
}

impl Actor for SchedulerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        let shortest = self.entries.iter().map(|entry| entry.interval).min().unwrap_or(MAX_TICK_INTERVAL);
        ctx.run_interval(shortest.clamp(MIN_TICK_INTERVAL, MAX_TICK_INTERVAL), |_, ctx| ctx.notify(Tick));
        ctx.notify(Tick);
    }
}

impl Rebuild for SchedulerActor {
    fn rebuilt(&mut self) -> Self {
        SchedulerActor { instance: self.instance + 1, ..SchedulerActor::new(self.deps.clone()) }
    }
}

supervised!(SchedulerActor);

impl Handler<Observe<SchedulerView>> for SchedulerActor {
    type Result = MessageResult<Observe<SchedulerView>>;

    fn handle(&mut self, _: Observe<SchedulerView>, _: &mut Context<Self>) -> Self::Result {
        let view = |entry: &Entry| {
            let Entry { chore, is_running, last, .. } = entry;
            ChoreView { chore: *chore, is_running: *is_running, last: last.clone() }
        };
        MessageResult(SchedulerView { chores: self.entries.iter().map(view).collect() })
    }
}

impl Handler<Tick> for SchedulerActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.scheduler");
        let now = Instant::now();
        for index in 0..self.entries.len() {
            if self.entries[index].is_due(now) {
                self.begin(index, now, ctx);
            }
        }
    }
}

impl Handler<ChoreEnd> for SchedulerActor {
    type Result = ();

    fn handle(&mut self, ChoreEnd { chore, status, instance }: ChoreEnd, _: &mut Context<Self>) {
        if instance != self.instance {
            return; // it was begun before a crash, and another of its kind may run by now
        }
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.chore == chore) {
            entry.is_running = false;
            entry.last = Some(status);
        }
    }
}
