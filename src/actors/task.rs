//! `TaskActor`: one slot's worth of work: asks for a task, hands its body to the runtime and watches over its lease.
//!
//! Temporary: it ends with its task, or at once when there is none. When it dies, the ledger still knows what it held.

use std::time::Instant;

use actix::prelude::*;

use super::claimer::{Claimer, Granted};
use super::execute::{Ended, Executor, named};
use super::ledger::{Ledger, Stop};
use crate::domain::role::RoleSet;
use crate::domain::task::{Held, LeaseTimes};
use crate::events;
use crate::supervised;

/// Whoever a task actor reports to.
#[derive(Clone)]
pub struct Owner {
    claimed: Recipient<TaskClaimed>,
    beats: Recipient<TaskBeat>,
    ended: Recipient<TaskEnded>,
}

impl<A> From<Addr<A>> for Owner
where
    A: Actor<Context = Context<A>> + Handler<TaskClaimed> + Handler<TaskBeat> + Handler<TaskEnded>,
{
    fn from(actor: Addr<A>) -> Self {
        Owner { claimed: actor.clone().recipient(), beats: actor.clone().recipient(), ended: actor.recipient() }
    }
}

#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskClaimed {
    pub slot: usize,
    pub held: Held,
}

/// A task actor is done; `None` when it found nothing to do.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskEnded {
    pub slot: usize,
    pub ended: Option<Ended>,
}

/// A task actor wants its lease renewed.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskBeat(pub Held);

/// What a task actor is given by its worker.
#[derive(Clone)]
pub struct TaskParts {
    pub slot: usize,
    pub worker: Owner,
    pub worker_id: String,
    pub roles: RoleSet,
    pub times: LeaseTimes,
    pub claimer: Claimer,
    pub executor: Executor,
    pub ledger: Ledger,
}

pub struct TaskActor {
    parts: TaskParts,
    held: Option<Held>,
    lease_watch: Option<SpawnHandle>,
}

/// The lease was renewed by a statement sent at that time.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Renewed(pub Instant);

/// The lease is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub struct LeaseLost;

impl TaskActor {
    pub fn new(parts: TaskParts) -> Self {
        TaskActor { parts, held: None, lease_watch: None }
    }

    fn ask(&mut self, ctx: &mut Context<Self>) {
        let (claimer, roles, worker) =
            (self.parts.claimer.clone(), self.parts.roles.clone(), self.parts.worker_id.clone());
        let asked = async move { claimer.claim(&roles, &worker).await };
        ctx.spawn(asked.into_actor(self).map(|granted, actor, ctx| match granted {
            Some(granted) => actor.begin(granted, ctx),
            None => actor.end(None, ctx),
        }));
    }

    fn begin(&mut self, granted: Granted, ctx: &mut Context<Self>) {
        let held = granted.task.held.clone();
        self.held = Some(held.clone());
        self.parts.worker.claimed.do_send(TaskClaimed { slot: self.parts.slot, held });
        events::task_claimed(&named(&granted.task), granted.task.waited);
        self.watch_lease(granted.sent, ctx);
        ctx.run_interval(self.parts.times.heartbeat, |actor, _| actor.beat());
        let executor = self.parts.executor.clone();
        let body = tokio::spawn(async move { executor.run(granted).await });
        ctx.spawn(body.into_actor(self).map(|ended, actor, ctx| actor.end(Some(ended.unwrap_or(Ended::Lost)), ctx)));
    }

    fn beat(&mut self) {
        fail::fail_point!("actor.task");
        if let Some(held) = &self.held {
            self.parts.worker.beats.do_send(TaskBeat(held.clone()));
        }
    }

    /// Stops the body before its lease can end, unless a renewal comes first.
    fn watch_lease(&mut self, sent: Instant, ctx: &mut Context<Self>) {
        if let Some(watch) = self.lease_watch.take() {
            ctx.cancel_future(watch);
        }
        let left = self.parts.times.self_stop().saturating_sub(sent.elapsed());
        self.lease_watch = Some(ctx.run_later(left, |actor, _| actor.stop_body()));
    }

    fn stop_body(&mut self) {
        if let Some(held) = &self.held {
            self.parts.ledger.stop(held, Stop::Lost);
        }
    }

    fn end(&mut self, ended: Option<Ended>, ctx: &mut Context<Self>) {
        self.held = None;
        self.parts.worker.ended.do_send(TaskEnded { slot: self.parts.slot, ended });
        ctx.stop();
    }
}

impl Actor for TaskActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.ask(ctx);
    }
}

impl super::supervision::Rebuild for TaskActor {
    fn rebuilt(&mut self) -> Self {
        TaskActor::new(self.parts.clone())
    }

    fn observed(&self) -> serde_json::Value {
        serde_json::json!({ "slot": self.parts.slot, "task": self.held.as_ref().map(|held| held.id) })
    }
}

supervised!(TaskActor);

impl Handler<Renewed> for TaskActor {
    type Result = ();

    fn handle(&mut self, Renewed(sent): Renewed, ctx: &mut Context<Self>) {
        self.watch_lease(sent, ctx);
    }
}

impl Handler<LeaseLost> for TaskActor {
    type Result = ();

    fn handle(&mut self, _: LeaseLost, _: &mut Context<Self>) {
        self.stop_body();
    }
}
