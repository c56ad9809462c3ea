//! `TaskActor`: asks for one task, spawns its run, with what it chains in the same slot, and reports to its
//! worker.
//!
//! In: a grant of the claimer. Out: messages to its worker, among them a beat each heartbeat for as long as
//! it runs. Temporary: it ends with its task, or at once when there is none. Tasks that it held when it dies
//! are in [`HeldTasks`](queue::held_tasks::HeldTasks). It must not know what its task does.

use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::watch;

use crate::actors::pods::worker::WorkerActor;
use domain::task::TaskLease;
use queue::claimer::{ClaimRequest, Claimer, TaskGrant};
use queue::execute::{Executor, SlotOwner, run_event};
use queue::held_tasks::{Beat, TaskActorId};
use telemetry::events;

#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskClaimed {
    pub task_actor: TaskActorId,
}

/// A task actor runs its task still.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskBeat(pub Beat);

/// A task actor is done.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskEnded {
    pub task_actor: TaskActorId,
    /// Number of runs, chained tasks included; 0: there was no task to claim.
    pub runs: usize,
}

/// Dependencies of a task actor, from its worker.
pub struct TaskDeps {
    pub id: TaskActorId,
    pub worker: Addr<WorkerActor>,
    pub worker_id: String,
    pub owner: SlotOwner,
    pub claimer: Claimer,
    pub executor: Executor,
    /// Time from one beat to the next.
    pub heartbeat: Duration,
}

pub struct TaskActor {
    deps: TaskDeps,
    beat_due: Instant,
}

impl TaskActor {
    pub fn new(deps: TaskDeps) -> Self {
        TaskActor { deps, beat_due: Instant::now() }
    }

    fn claim(&mut self, ctx: &mut Context<Self>) {
        let TaskDeps { id, worker_id, owner, claimer, .. } = &self.deps;
        let request = ClaimRequest { roles: owner.roles.clone(), worker_id: worker_id.clone(), task_actor: *id };
        let claimer = claimer.clone();
        let claim = async move { claimer.claim(request).await };
        ctx.spawn(claim.into_actor(self).map(|grant, actor, ctx| match grant {
            Some(grant) => actor.run(grant, ctx),
            None => actor.end(0, ctx),
        }));
    }

    fn run(&mut self, grant: TaskGrant, ctx: &mut Context<Self>) {
        self.deps.worker.do_send(TaskClaimed { task_actor: self.deps.id });
        let (executor, owner) = (self.deps.executor.clone(), self.deps.owner.clone());
        events::task_claimed(&run_event(&grant.task, &owner.name), grant.task.waited);
        let (current, lease) = watch::channel(grant.task.lease.clone());
        self.beat_due = Instant::now() + self.deps.heartbeat;
        ctx.run_interval(self.deps.heartbeat, move |actor, _| actor.beat(lease.borrow().clone()));
        let run = tokio::spawn(async move { executor.run(grant, &owner, &current).await });
        // an error is a panic, which was logged where it happened
        ctx.spawn(run.into_actor(self).map(|runs, actor, ctx| actor.end(runs.unwrap_or(1), ctx)));
        fail::fail_point!("actor.task.spawned");
        fail::fail_point!("actor.task");
    }

    fn beat(&mut self, lease: TaskLease) {
        fail::fail_point!("actor.task.beat", |_| ());
        let due = std::mem::replace(&mut self.beat_due, Instant::now() + self.deps.heartbeat);
        // a full mailbox holds beats already, and another follows
        let _ = self.deps.worker.try_send(TaskBeat(Beat { lease, due }));
    }

    fn end(&mut self, runs: usize, ctx: &mut Context<Self>) {
        self.deps.worker.do_send(TaskEnded { task_actor: self.deps.id, runs });
        ctx.stop();
    }
}

impl Actor for TaskActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.claim(ctx);
    }
}

/// Its runner asks for this; it is never restarted.
impl Supervised for TaskActor {}
