//! `WorkerActor`: a claim loop with a few slots: how many task actors ask, and why none does.
//!
//! It wakes on a notice of new work, on a poll tick and when a task ends; it holds back under load, when paused and when the
//! process drains. Its state is rebuilt after a crash; what it held is in the held tasks, and its pod recovers it. It must not
//! know what the tasks do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;

use super::deps::{ActorDeps, Blame};
use super::lifecycle::Phase;
use super::messages::Tick;
use super::plan::WorkerName;
use super::runner::{self, ChildExited, Exit, PollTimes, RunnerHandle};
use super::supervision::Rebuild;
use super::task::{TaskActor, TaskClaimed, TaskDeps, TaskEnded, WorkerRecipients};
use crate::db::workers;
use crate::domain::task::TaskId;
use crate::domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};
use crate::{events, supervised};

pub struct WorkerActor {
    deps: ActorDeps,
    name: WorkerName,
    arbiter: ArbiterHandle,
    next_slot: usize,
    /// The task actors. Numbers are never used again, so that late messages of a dead one are told from its successor's.
    slots: HashMap<usize, Slot>,
    /// Of the task actors, all on this thread.
    poll_times: Arc<PollTimes>,
    paused: bool,
    leaving: bool,
    backing_off: Option<events::Backoff>,
    /// A notice came while task actors were asking: they may have asked too early to find what it announced.
    woken: bool,
}

/// Keeps a task actor alive.
struct Slot {
    _actor: Addr<TaskActor>,
    _runner: RunnerHandle,
}

/// There may be new work.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Wake;

#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Order(pub WorkerCommand);

impl WorkerActor {
    pub fn new(deps: ActorDeps, name: WorkerName, arbiter: ArbiterHandle) -> Self {
        WorkerActor {
            deps,
            name,
            arbiter,
            next_slot: 0,
            slots: HashMap::new(),
            poll_times: Arc::default(),
            paused: false,
            leaving: false,
            backing_off: None,
            woken: false,
        }
    }

    /// Lets a task actor ask for every free slot.
    fn fill(&mut self, ctx: &mut Context<Self>) {
        if self.holds_back() {
            return;
        }
        while self.slots.len() < self.deps.config.topology.slots {
            self.open_slot(ctx);
        }
    }

    fn holds_back(&mut self) -> bool {
        if self.paused || self.leaving || !self.deps.lifecycle.is_running() {
            return true;
        }
        let now = self.deps.resources.borrow().backoff;
        match (self.backing_off, now) {
            (None, Some(reason)) => events::worker_backing_off(&self.name.friendly, reason),
            (Some(_), None) => events::worker_resumed(&self.name.friendly),
            _ => {}
        }
        self.backing_off = now;
        now.is_some()
    }

    fn open_slot(&mut self, ctx: &mut Context<Self>) {
        self.next_slot += 1;
        let worker = ctx.address();
        let deps = TaskDeps {
            slot: self.next_slot,
            worker: WorkerRecipients { claimed: worker.clone().recipient(), ended: worker.clone().recipient() },
            worker_id: self.name.id.clone(),
            roles: self.name.roles.clone(),
            claimer: self.deps.claimer.clone(),
            executor: self.deps.executor.clone(),
        };
        let (actor, runner) =
            runner::start(&self.arbiter, self.next_slot, worker.recipient(), self.poll_times.clone(), move || {
                TaskActor::new(deps)
            });
        self.slots.insert(self.next_slot, Slot { _actor: actor, _runner: runner });
    }

    /// Whether a task actor has no task yet.
    fn is_asking(&self) -> bool {
        let tasks = self.deps.held_tasks.of_worker(&self.name.id);
        self.slots.keys().any(|slot| !tasks.contains_key(slot))
    }

    fn task_ids(&self) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = self.deps.held_tasks.of_worker(&self.name.id).into_values().collect();
        ids.sort_unstable();
        ids
    }

    fn status(&self) -> WorkerStatus {
        if self.leaving || !self.deps.lifecycle.is_running() {
            return WorkerStatus::Draining;
        }
        if self.paused {
            return WorkerStatus::Paused;
        }
        if self.backing_off.is_some() { WorkerStatus::BackingOff } else { WorkerStatus::Active }
    }

    fn document(&self) -> WorkerDocument {
        let current_task_ids = self.task_ids();
        WorkerDocument {
            worker_id: self.name.id.clone(),
            current_task_id: current_task_ids.first().copied(),
            active_task_count: current_task_ids.len(),
            current_task_ids,
            max_concurrent_tasks: self.deps.config.topology.slots,
            status: self.status(),
            resources: Resources {
                is_backing_off: self.backing_off.is_some(),
                backoff_reason: self.backing_off.map(|reason| reason.to_string()),
                ..self.deps.resources.borrow().used.clone()
            },
            friendly_name: self.name.friendly.clone(),
            pod: self.name.pod.clone(),
            role: self.name.roles.label().to_owned(),
            roles: self.name.roles.roles().iter().map(|role| role.name().to_owned()).collect(),
            last_heartbeat_at: None,
            started_at: None,
        }
    }

    /// Best effort: a worker whose row cannot be written works on.
    fn register(&self) {
        let (db, document, every) = (self.deps.db.clone(), self.document(), self.registry_beat());
        let lifecycle = self.deps.lifecycle.clone();
        self.deps.runtime.spawn(async move {
            if lifecycle.phase() >= Phase::Releasing {
                return;
            }
            let written = async { workers::upsert(&db.client().await?, &document, every).await };
            if let Err(error) = written.await {
                events::worker_not_registered(&document.worker_id, &error);
            }
        });
    }

    fn registry_beat(&self) -> Duration {
        self.deps.times.heartbeat.max(Duration::from_secs(1))
    }

    /// Stops the body of a slot without a task actor and puts its task back at once. The task may be what killed the actor.
    fn recover_slot(&mut self, slot: usize) {
        self.slots.remove(&slot);
        self.deps.recover(self.deps.held_tasks.take_from_slot(&self.name.id, slot), Blame::Task);
    }

    /// Decommissioned, and done with what it had.
    fn has_left(&self) -> bool {
        self.leaving && self.slots.is_empty()
    }

    fn leave(&self) {
        if !self.has_left() {
            return;
        }
        let (db, id) = (self.deps.db.clone(), self.name.id.clone());
        self.deps.runtime.spawn(async move {
            let gone = async { workers::deregister(&db.client().await?, std::slice::from_ref(&id)).await };
            if let Err(error) = gone.await {
                events::worker_not_registered(&id, &error);
            }
        });
        events::worker_stopped(&self.name.id);
        self.deps.departures.record(&self.name.id);
    }
}

impl Actor for WorkerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        events::worker_started(&self.name.id, self.name.roles.label());
        self.deps.watchdog.watch_temporary(&format!("a task of {}", self.name.friendly), self.poll_times.clone());
        if self.has_left() {
            self.leave();
        } else {
            self.register();
        }
        ctx.run_interval(self.deps.config.queue.poll_interval, |_, ctx| ctx.notify(Tick));
        ctx.run_interval(self.registry_beat(), |actor, _| {
            if !actor.has_left() {
                actor.register();
            }
        });
        ctx.notify(Wake);
    }
}

impl Rebuild for WorkerActor {
    type Observed = WorkerDocument;

    /// Its orders outlive a crash.
    fn rebuilt(&mut self) -> Self {
        WorkerActor {
            next_slot: self.next_slot,
            paused: self.paused,
            leaving: self.leaving,
            ..WorkerActor::new(self.deps.clone(), self.name.clone(), self.arbiter.clone())
        }
    }

    fn observed(&self) -> WorkerDocument {
        self.document()
    }
}

supervised!(WorkerActor);

impl Handler<Tick> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.worker");
        self.fill(ctx);
    }
}

impl Handler<Wake> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: Wake, ctx: &mut Context<Self>) {
        self.woken = self.is_asking();
        self.fill(ctx);
    }
}

impl Handler<TaskClaimed> for WorkerActor {
    type Result = ();

    fn handle(&mut self, claimed: TaskClaimed, ctx: &mut Context<Self>) {
        if !self.slots.contains_key(&claimed.slot) {
            // claimed across a restart of this actor, by a task actor that went with its last life
            let leases = self.deps.held_tasks.take_from_slot(&self.name.id, claimed.slot);
            return self.deps.recover(leases, Blame::None);
        }
        // where there was one there may be more
        self.fill(ctx);
    }
}

impl Handler<TaskEnded> for WorkerActor {
    type Result = ();

    fn handle(&mut self, ended: TaskEnded, ctx: &mut Context<Self>) {
        self.slots.remove(&ended.slot);
        if ended.end.is_some() || std::mem::take(&mut self.woken) {
            self.fill(ctx);
        }
        self.leave();
    }
}

impl Handler<ChildExited> for WorkerActor {
    type Result = ();

    /// No slot is filled at once: the recovered task announces itself, and an actor that dies of asking must not ask for ever.
    fn handle(&mut self, child: ChildExited, _: &mut Context<Self>) {
        if child.exit == Exit::Normal {
            return; // `TaskEnded` came before
        }
        events::actor_restarted("task", &self.name.friendly, &child.exit);
        self.recover_slot(child.child_index);
        self.leave();
    }
}

impl Handler<Order> for WorkerActor {
    type Result = ();

    fn handle(&mut self, Order(command): Order, ctx: &mut Context<Self>) {
        match command {
            WorkerCommand::Pause => self.paused = true,
            WorkerCommand::Resume => self.paused = false,
            WorkerCommand::Decommission => self.leaving = true,
        }
        if !self.has_left() {
            self.register();
        }
        self.fill(ctx);
        self.leave();
    }
}
