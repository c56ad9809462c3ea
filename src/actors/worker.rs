//! `WorkerActor`: a claim loop with a few slots: how many task actors ask, and why none does.
//!
//! It wakes on a notice of new work, on a poll tick and when a task ends; it holds back under load, when paused and when the
//! process drains. Its state is rebuilt after a crash; what it held is in the ledger, which its pod recovers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;

use super::cell::{self, CellHandle, ChildExited, Exit, Vitals};
use super::heartbeat::{Beat, Beaten};
use super::plan::WorkerName;
use super::shared::Shared;
use super::supervision::{Rebuild, Tick};
use super::task::{LeaseLost, Owner, Renewed, TaskActor, TaskBeat, TaskClaimed, TaskEnded, TaskParts};
use crate::db::workers;
use crate::domain::task::{Held, TaskId};
use crate::domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};
use crate::{events, supervised};

pub struct WorkerActor {
    shared: Shared,
    name: WorkerName,
    arbiter: ArbiterHandle,
    next_slot: usize,
    slots: HashMap<usize, Slot>,
    /// Of the task actors, all on this thread.
    vitals: Arc<Vitals>,
    paused: bool,
    leaving: bool,
    backing_off: Option<events::Backoff>,
    /// A notice came while task actors were asking: they may have asked too early to find what it announced.
    woken: bool,
}

struct Slot {
    actor: Addr<TaskActor>,
    held: Option<Held>,
    _cell: CellHandle,
}

/// There may be new work.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Wake;

#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Order(pub WorkerCommand);

impl WorkerActor {
    pub fn new(shared: Shared, name: WorkerName, arbiter: ArbiterHandle) -> Self {
        WorkerActor {
            shared,
            name,
            arbiter,
            next_slot: 0,
            slots: HashMap::new(),
            vitals: Arc::default(),
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
        while self.slots.len() < self.shared.config.topology.slots {
            self.open_slot(ctx);
        }
    }

    fn holds_back(&mut self) -> bool {
        if self.paused || self.leaving || !self.shared.lifecycle.is_running() {
            return true;
        }
        let now = self.shared.resources.borrow().backoff;
        match (self.backing_off, now) {
            (None, Some(why)) => events::worker_backing_off(&self.name.friendly, why),
            (Some(_), None) => events::worker_resumed(&self.name.friendly),
            _ => {}
        }
        self.backing_off = now;
        now.is_some()
    }

    fn open_slot(&mut self, ctx: &mut Context<Self>) {
        self.next_slot += 1;
        let parts = TaskParts {
            slot: self.next_slot,
            worker: Owner::from(ctx.address()),
            worker_id: self.name.id.clone(),
            roles: self.name.roles.clone(),
            times: self.shared.times,
            claimer: self.shared.claimer.clone(),
            executor: self.shared.executor.clone(),
            ledger: self.shared.ledger.clone(),
        };
        let parent = ctx.address().recipient::<ChildExited>();
        let (actor, cell) =
            cell::start(&self.arbiter, self.next_slot, parent, self.vitals.clone(), move || TaskActor::new(parts));
        self.slots.insert(self.next_slot, Slot { actor, held: None, _cell: cell });
    }

    fn is_asking(&self) -> bool {
        self.slots.values().any(|slot| slot.held.is_none())
    }

    fn task_ids(&self) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = self.slots.values().filter_map(|slot| Some(slot.held.as_ref()?.id)).collect();
        ids.sort_unstable();
        ids
    }

    fn status(&self) -> WorkerStatus {
        if self.leaving || !self.shared.lifecycle.is_running() {
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
            max_concurrent_tasks: self.shared.config.topology.slots,
            status: self.status(),
            resources: Resources {
                is_backing_off: self.backing_off.is_some(),
                backoff_reason: self.backing_off.map(|why| why.to_string()),
                ..self.shared.resources.borrow().used.clone()
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
        let (db, document, every) = (self.shared.db.clone(), self.document(), self.registry_beat());
        let lifecycle = self.shared.lifecycle.clone();
        self.shared.runtime.spawn(async move {
            if lifecycle.is_over() {
                return;
            }
            let written = async { workers::upsert(&db.client().await?, &document, every).await };
            if let Err(error) = written.await {
                events::worker_not_registered(&document.worker_id, &error);
            }
        });
    }

    fn registry_beat(&self) -> Duration {
        self.shared.times.heartbeat.max(Duration::from_secs(1))
    }

    /// The task actor of that slot died with its task in hand: stop the body and put the task back at once.
    fn bury(&mut self, slot: usize) {
        let Some(held) = self.slots.remove(&slot).and_then(|slot| slot.held) else { return };
        if let Some(held) = self.shared.ledger.take(&held) {
            self.shared.recover(vec![held]);
        }
    }

    /// Decommissioned, and done with what it had.
    fn has_left(&self) -> bool {
        self.leaving && self.slots.is_empty()
    }

    fn leave(&self) {
        if !self.has_left() {
            return;
        }
        let (db, id) = (self.shared.db.clone(), self.name.id.clone());
        self.shared.runtime.spawn(async move {
            let gone = async { workers::deregister(&db.client().await?, std::slice::from_ref(&id)).await };
            if let Err(error) = gone.await {
                events::worker_not_registered(&id, &error);
            }
        });
        events::worker_stopped(&self.name.id);
    }
}

impl Actor for WorkerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        events::worker_started(&self.name.id, self.name.roles.label());
        self.shared.watchdog.watch_temporary(&format!("a task of {}", self.name.friendly), self.vitals.clone());
        if self.has_left() {
            self.leave();
        } else {
            self.register();
        }
        ctx.run_interval(self.shared.config.queue.poll_interval, |_, ctx| ctx.notify(Tick));
        ctx.run_interval(self.registry_beat(), |actor, _| {
            if !actor.has_left() {
                actor.register();
            }
        });
        ctx.notify(Wake);
    }
}

impl Rebuild for WorkerActor {
    /// What it was ordered outlives a crash.
    fn rebuilt(&mut self) -> Self {
        WorkerActor {
            next_slot: self.next_slot,
            paused: self.paused,
            leaving: self.leaving,
            ..WorkerActor::new(self.shared.clone(), self.name.clone(), self.arbiter.clone())
        }
    }

    fn observed(&self) -> serde_json::Value {
        serde_json::to_value(self.document()).unwrap_or_default()
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
        match self.slots.get_mut(&claimed.slot) {
            Some(slot) => {
                slot.held = Some(claimed.held);
                // where there was one there may be more
                self.fill(ctx);
            }
            // claimed across a restart of this actor: nobody watches over it any more
            None => self.shared.recover(self.shared.ledger.take(&claimed.held).into_iter().collect()),
        }
    }
}

impl Handler<TaskEnded> for WorkerActor {
    type Result = ();

    fn handle(&mut self, ended: TaskEnded, ctx: &mut Context<Self>) {
        self.slots.remove(&ended.slot);
        if ended.ended.is_some() || std::mem::take(&mut self.woken) {
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
            return; // it has said so itself, by `TaskEnded`
        }
        events::actor_restarted("task", &self.name.friendly, &child.exit);
        self.bury(child.slot);
        self.leave();
    }
}

impl Handler<TaskBeat> for WorkerActor {
    type Result = ();

    fn handle(&mut self, TaskBeat(held): TaskBeat, ctx: &mut Context<Self>) {
        self.shared.heartbeat.beat(Beat { held, worker: ctx.address().recipient() });
    }
}

impl Handler<Beaten> for WorkerActor {
    type Result = ();

    fn handle(&mut self, beaten: Beaten, _: &mut Context<Self>) {
        for slot in self.slots.values() {
            let Some(held) = &slot.held else { continue };
            if beaten.renewed.contains(&held.id) {
                slot.actor.do_send(Renewed(beaten.sent));
            }
            if beaten.lost.contains(&held.id) {
                slot.actor.do_send(LeaseLost);
            }
        }
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
