//! `TaskActor`: one slot's worth of work: asks for a task and hands its run to the runtime.
//!
//! In: a grant of the claimer. Out: messages to its worker. Temporary: it ends with its task, or at once when there is none. What
//! it held when it dies is in [`HeldTasks`](super::held_tasks::HeldTasks).

use actix::prelude::*;
use serde::Serialize;

use super::claimer::{ClaimRequest, Claimer, TaskGrant};
use super::execute::{Executor, RunEnd, run_event};
use super::supervision::Rebuild;
use crate::domain::role::RoleSet;
use crate::domain::task::TaskId;
use crate::events;
use crate::supervised;

/// What a task actor reports to.
#[derive(Clone)]
pub struct WorkerRecipients {
    pub claimed: Recipient<TaskClaimed>,
    pub ended: Recipient<TaskEnded>,
}

#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskClaimed {
    pub slot: usize,
}

/// A task actor is done; `None` when it found nothing to do.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TaskEnded {
    pub slot: usize,
    pub end: Option<RunEnd>,
}

/// What a task actor is given by its worker.
#[derive(Clone)]
pub struct TaskDeps {
    pub slot: usize,
    pub worker: WorkerRecipients,
    pub worker_id: String,
    pub roles: RoleSet,
    pub claimer: Claimer,
    pub executor: Executor,
}

pub struct TaskActor {
    deps: TaskDeps,
    task: Option<TaskId>,
}

/// A task actor as people may see it; `task` is null while it asks for one.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedTask {
    pub slot: usize,
    pub task: Option<TaskId>,
}

impl TaskActor {
    pub fn new(deps: TaskDeps) -> Self {
        TaskActor { deps, task: None }
    }

    fn ask(&mut self, ctx: &mut Context<Self>) {
        let TaskDeps { slot, worker_id, roles, claimer, .. } = self.deps.clone();
        let claim = async move { claimer.claim(ClaimRequest { roles, worker_id, slot }).await };
        ctx.spawn(claim.into_actor(self).map(|grant, actor, ctx| match grant {
            Some(grant) => actor.begin(grant, ctx),
            None => actor.end(None, ctx),
        }));
    }

    fn begin(&mut self, grant: TaskGrant, ctx: &mut Context<Self>) {
        self.task = Some(grant.task.lease.id);
        self.deps.worker.claimed.do_send(TaskClaimed { slot: self.deps.slot });
        events::task_claimed(&run_event(&grant.task), grant.task.waited);
        let executor = self.deps.executor.clone();
        let run = tokio::spawn(async move { executor.run(grant).await });
        ctx.spawn(run.into_actor(self).map(|end, actor, ctx| actor.end(Some(end.unwrap_or(RunEnd::Lost)), ctx)));
        fail::fail_point!("actor.task");
    }

    fn end(&mut self, end: Option<RunEnd>, ctx: &mut Context<Self>) {
        self.deps.worker.ended.do_send(TaskEnded { slot: self.deps.slot, end });
        ctx.stop();
    }
}

impl Actor for TaskActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.ask(ctx);
    }
}

impl Rebuild for TaskActor {
    type Observed = ObservedTask;

    fn rebuilt(&mut self) -> Self {
        TaskActor::new(self.deps.clone())
    }

    fn observed(&self) -> ObservedTask {
        ObservedTask { slot: self.deps.slot, task: self.task }
    }
}

supervised!(TaskActor);
