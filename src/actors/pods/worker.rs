//! `WorkerActor`: keeps a task actor in every free slot, except while it is paused, decommissioned, backing
//! off or draining.
//!
//! In: wake-ups, poll ticks, commands, the beats and ends of its task actors. Out: task actors, and its row
//! of the registry. Its state is rebuilt after a crash; its tasks are in the held tasks, and its pod recovers
//! them. It must not know what the tasks do.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;

use super::deps::ActorDeps;
use super::pod::WorkerLeft;
use super::recovery;
use super::registration::Registration;
use crate::actors::plan::WorkerPlan;
use crate::actors::pods::task::{TaskActor, TaskBeat, TaskClaimed, TaskDeps, TaskEnded};
use domain::task::{Blame, TaskId};
use domain::worker::{Resources, WorkerCommand, WorkerDocument, WorkerStatus};
use queue::execute::SlotOwner;
use queue::held_tasks::{Beat, TaskActorId};
use supervision::Rebuild;
use supervision::lifecycle::Phase;
use supervision::messages::Tick;
use supervision::runner::{self, ChildExited, Exit, PollTimes, RunnerHandle};
use supervision::supervised;
use telemetry::events;

pub struct WorkerActor {
    deps: ActorDeps,
    plan: WorkerPlan,
    arbiter: ArbiterHandle,
    pod: Recipient<WorkerLeft>,
    registration: Registration,
    last_task_actor: TaskActorId,
    /// The slots that are in use.
    slots: HashMap<TaskActorId, TaskActorHandles>,
    /// Poll times of the task actors, all on this thread.
    poll_times: Arc<PollTimes>,
    paused: bool,
    decommissioned: bool,
    backing_off: Option<events::Backoff>,
    /// A wake-up came while task actors were asking: they may have asked too early to find the announced
    /// task.
    woken: bool,
    /// Beats that were not handed on yet.
    beats: Vec<Beat>,
}

/// Keeps a task actor alive.
struct TaskActorHandles {
    _actor: Addr<TaskActor>,
    _runner: RunnerHandle,
}

/// Message that there may be new work.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Wake;

/// Hands on the beats that have come in together.
#[derive(Message)]
#[rtype(result = "()")]
struct HandOnBeats;

/// An operator has paused or resumed something.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct PausesChanged;

/// The live part of the configuration has changed.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct ConfigChanged;

#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Command(pub WorkerCommand);

impl WorkerActor {
    pub fn new(deps: ActorDeps, plan: WorkerPlan, arbiter: ArbiterHandle, pod: Recipient<WorkerLeft>) -> Self {
        WorkerActor {
            registration: Registration::new(&deps, &plan),
            deps,
            plan,
            arbiter,
            pod,
            last_task_actor: 0,
            slots: HashMap::new(),
            poll_times: Arc::default(),
            paused: false,
            decommissioned: false,
            backing_off: None,
            woken: false,
            beats: Vec::new(),
        }
    }

    /// Starts a task actor for every free slot.
    fn fill_slots(&mut self, ctx: &mut Context<Self>) {
        if self.must_not_claim() {
            return;
        }
        let max_slots = self.max_slots();
        while self.slots.len() < max_slots {
            self.open_slot(ctx);
        }
    }

    fn max_slots(&self) -> usize {
        self.deps.live.current().config.slots()
    }

    fn must_not_claim(&mut self) -> bool {
        let is_backing_off = self.update_backoff();
        is_backing_off || self.is_paused() || self.decommissioned || !self.deps.lifecycle.is_running()
    }

    /// Whether it is paused by a command, or because it, its pod or each of its roles is paused.
    fn is_paused(&self) -> bool {
        let WorkerPlan { pod, friendly_name, roles, .. } = &self.plan;
        self.paused || self.deps.pauses.borrow().stops_worker(pod, friendly_name, roles.roles())
    }

    /// Applies the latest sample; returns whether the worker backs off.
    fn update_backoff(&mut self) -> bool {
        let now = self.deps.load.borrow().backoff;
        match (self.backing_off, now) {
            (None, Some(reason)) => events::worker_backing_off(&self.plan.friendly_name, reason),
            (Some(_), None) => events::worker_resumed(&self.plan.friendly_name),
            _ => {}
        }
        let has_turned = self.backing_off.is_some() != now.is_some();
        self.backing_off = now;
        if has_turned {
            // lists show it at once: a back-off is often over before the next heartbeat
            self.register();
        }
        now.is_some()
    }

    fn open_slot(&mut self, ctx: &mut Context<Self>) {
        self.last_task_actor += 1;
        let id = self.last_task_actor;
        let worker = ctx.address();
        let deps = TaskDeps {
            id,
            worker: worker.clone(),
            worker_id: self.plan.id.clone(),
            owner: SlotOwner { name: self.plan.friendly_name.clone(), roles: self.plan.roles.clone() },
            claimer: self.deps.claimer.clone(),
            executor: self.deps.executor.clone(),
            heartbeat: self.deps.times.heartbeat,
        };
        let poll_times = self.poll_times.clone();
        let (actor, runner) =
            runner::start(&self.arbiter, id, worker.recipient(), poll_times, move || TaskActor::new(deps));
        self.slots.insert(id, TaskActorHandles { _actor: actor, _runner: runner });
    }

    /// Whether a task actor has no task yet.
    fn is_asking(&self) -> bool {
        let tasks = self.deps.held_tasks.of_worker(&self.plan.id);
        self.slots.keys().any(|task_actor| !tasks.contains_key(task_actor))
    }

    fn task_ids(&self) -> Vec<TaskId> {
        let mut ids: Vec<TaskId> = self.deps.held_tasks.of_worker(&self.plan.id).into_values().collect();
        ids.sort_unstable();
        ids
    }

    fn status(&self) -> WorkerStatus {
        if self.decommissioned || !self.deps.lifecycle.is_running() {
            return WorkerStatus::Draining;
        }
        if self.is_paused() {
            return WorkerStatus::Paused;
        }
        if self.backing_off.is_some() { WorkerStatus::BackingOff } else { WorkerStatus::Active }
    }

    fn document(&self) -> WorkerDocument {
        let current_task_ids = self.task_ids();
        WorkerDocument {
            worker_id: self.plan.id.clone(),
            current_task_id: current_task_ids.first().copied(),
            active_task_count: current_task_ids.len(),
            current_task_ids,
            max_concurrent_tasks: self.max_slots(),
            status: self.status(),
            resources: Resources {
                is_backing_off: self.backing_off.is_some(),
                backoff_reason: self.backing_off.map(|reason| reason.to_string()),
                ..self.deps.load.borrow().used.clone()
            },
            friendly_name: self.plan.friendly_name.clone(),
            pod: self.plan.pod.clone(),
            role: self.plan.roles.label(),
            roles: self.plan.roles.roles().iter().map(|role| role.name().to_owned()).collect(),
            last_heartbeat_at: None,
            started_at: Some(self.deps.started_at),
        }
    }

    /// Writes its row, unless that was removed for good.
    fn register(&self) {
        if self.is_done() {
            return;
        }
        self.registration.write(self.document(), self.registry_interval());
    }

    fn registry_interval(&self) -> Duration {
        self.deps.times.heartbeat.max(Duration::from_secs(1))
    }

    /// Stops the body of a task actor that crashed and puts its task back at once. The task may be the cause
    /// of the crash.
    fn recover_task_of(&mut self, task_actor: TaskActorId) {
        self.slots.remove(&task_actor);
        let leases = self.deps.held_tasks.take_from_task_actor(&self.plan.id, task_actor);
        recovery::recover(&self.deps, leases, Blame::Task);
    }

    /// Decommissioned, and without a task.
    fn is_done(&self) -> bool {
        self.decommissioned && self.slots.is_empty()
    }

    fn deregister_when_done(&self) {
        if !self.is_done() {
            return;
        }
        self.registration.remove();
        events::worker_stopped(&self.plan.id, &self.plan.friendly_name);
        self.pod.do_send(WorkerLeft { worker_id: self.plan.id.clone() });
    }
}

impl Actor for WorkerActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        events::worker_started(&self.plan.id, &self.plan.friendly_name, &self.plan.roles.label());
        self.deps.watchdog.watch_temporary(&format!("a task of {}", self.plan.friendly_name), &self.poll_times);
        self.register();
        self.deregister_when_done();
        ctx.run_interval(self.deps.config.poll_interval(), |_, ctx| ctx.notify(Tick));
        ctx.run_interval(self.registry_interval(), |actor, _| actor.register());
        let lifecycle = self.deps.lifecycle.clone();
        let drains = async move { lifecycle.reached(Phase::Draining).await };
        // at once: should the process be killed while it drains, recovery blames none of its tasks
        ctx.spawn(drains.into_actor(self).map(|(), actor, _| {
            if !actor.task_ids().is_empty() {
                actor.register();
            }
        }));
        ctx.notify(Wake);
    }
}

impl Rebuild for WorkerActor {
    /// Pause and decommission outlive a crash.
    fn rebuilt(&mut self) -> Self {
        WorkerActor {
            last_task_actor: self.last_task_actor,
            registration: self.registration.clone(),
            paused: self.paused,
            decommissioned: self.decommissioned,
            ..WorkerActor::new(self.deps.clone(), self.plan.clone(), self.arbiter.clone(), self.pod.clone())
        }
    }
}

supervised!(WorkerActor);

impl Handler<Tick> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.worker");
        self.fill_slots(ctx);
    }
}

impl Handler<Wake> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: Wake, ctx: &mut Context<Self>) {
        self.woken = self.is_asking();
        self.fill_slots(ctx);
    }
}

impl Handler<ConfigChanged> for WorkerActor {
    type Result = ();

    /// Fewer slots than task actors: none is started until enough of them have ended.
    fn handle(&mut self, _: ConfigChanged, ctx: &mut Context<Self>) {
        self.fill_slots(ctx);
        self.register();
    }
}

impl Handler<TaskClaimed> for WorkerActor {
    type Result = ();

    fn handle(&mut self, claimed: TaskClaimed, ctx: &mut Context<Self>) {
        if !self.slots.contains_key(&claimed.task_actor) {
            // claimed during a restart of this actor, by a task actor that was discarded with it
            let leases = self.deps.held_tasks.take_from_task_actor(&self.plan.id, claimed.task_actor);
            return recovery::recover(&self.deps, leases, Blame::NoTask);
        }
        // where there was one there may be more
        self.fill_slots(ctx);
    }
}

impl Handler<TaskBeat> for WorkerActor {
    type Result = ();

    fn handle(&mut self, TaskBeat(beat): TaskBeat, ctx: &mut Context<Self>) {
        if self.beats.is_empty() {
            ctx.notify(HandOnBeats);
        }
        self.beats.push(beat);
    }
}

impl Handler<HandOnBeats> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: HandOnBeats, _: &mut Context<Self>) {
        let now = Instant::now();
        self.deps.held_tasks.note_beats(&self.beats, now);
        for beat in self.beats.drain(..) {
            events::beat_arrived(now.saturating_duration_since(beat.due));
        }
    }
}

impl Handler<TaskEnded> for WorkerActor {
    type Result = ();

    fn handle(&mut self, ended: TaskEnded, ctx: &mut Context<Self>) {
        self.slots.remove(&ended.task_actor);
        self.deps.own_workers.count_runs(ended.runs);
        if ended.runs > 0 || std::mem::take(&mut self.woken) {
            self.fill_slots(ctx);
        }
        self.deregister_when_done();
    }
}

impl Handler<ChildExited> for WorkerActor {
    type Result = ();

    /// The slot stays empty until the next wake-up or tick, so that an actor which crashes while it claims is
    /// not started in a tight loop.
    fn handle(&mut self, child: ChildExited, _: &mut Context<Self>) {
        if child.exit == Exit::Normal {
            return; // `TaskEnded` came before
        }
        events::task_actor_crashed(&self.plan.friendly_name, &child.exit);
        // a task actor is started with its id as its index
        self.recover_task_of(child.child_index);
        self.deregister_when_done();
    }
}

impl Handler<PausesChanged> for WorkerActor {
    type Result = ();

    fn handle(&mut self, _: PausesChanged, ctx: &mut Context<Self>) {
        self.register();
        self.fill_slots(ctx);
    }
}

impl Handler<Command> for WorkerActor {
    type Result = ();

    fn handle(&mut self, Command(command): Command, ctx: &mut Context<Self>) {
        match command {
            WorkerCommand::Pause => self.paused = true,
            WorkerCommand::Resume => self.paused = false,
            WorkerCommand::Decommission => self.decommissioned = true,
        }
        self.register();
        self.fill_slots(ctx);
        self.deregister_when_done();
    }
}
