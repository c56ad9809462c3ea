//! `PodActor`: a named group of workers: starts them, wakes them, hands them their commands, restarts them when they die.
//!
//! In: commands from the database, notices of new work. The tasks of a worker that died are stopped and put back at once. It must
//! not know what its workers claim.

use std::time::{Duration, Instant};

use actix::prelude::*;
use serde::Serialize;

use super::deps::{ActorDeps, Blame};
use super::messages::{SupervisorFailed, Tick};
use super::plan::PodPlan;
use super::runner::ChildExited;
use super::supervision::{Children, Rebuild, RestartDecision, RestartLimits};
use super::worker::{Order, Wake, WorkerActor};
use crate::db::workers::{self, OpenCommand};
use crate::{events, supervised};

pub struct PodActor {
    deps: ActorDeps,
    plan: PodPlan,
    supervisor: Recipient<SupervisorFailed>,
    workers: Vec<Addr<WorkerActor>>,
    children: Children,
    asking: bool,
}

/// A pod as people may see it.
#[derive(Clone, Debug, Serialize)]
pub struct ObservedPod {
    pub pod: String,
    /// Friendly names of its workers.
    pub workers: Vec<String>,
}

/// Commands for workers of this pod, as read from the database.
#[derive(Message)]
#[rtype(result = "()")]
struct Commands(Vec<OpenCommand>);

/// How often a notice of new work may wake the pod's workers.
const WAKE_PAUSE: Duration = Duration::from_millis(20);

impl PodActor {
    pub fn new(deps: ActorDeps, plan: PodPlan, supervisor: Recipient<SupervisorFailed>) -> Self {
        let children = Children::new(RestartLimits::from(&deps.config.supervision), deps.watchdog.clone());
        PodActor { deps, plan, supervisor, workers: Vec::new(), children, asking: false }
    }

    fn start_workers(&mut self, ctx: &mut Context<Self>) {
        let roles = self.plan.workers.first().map_or("any", |name| name.roles.label());
        events::pod_started(&self.plan.name, self.plan.workers.len(), self.deps.config.topology.slots, roles);
        let arbiter = Arbiter::current();
        for name in self.plan.workers.clone() {
            let (deps, home) = (self.deps.clone(), arbiter.clone());
            let label = name.friendly.clone();
            let worker = self
                .children
                .start(&label, &arbiter, ctx.address().recipient(), move || WorkerActor::new(deps, name, home));
            self.workers.push(worker);
        }
    }

    /// Forwards notices of new work; a burst of them wakes the workers once.
    fn listen(&self, ctx: &mut Context<Self>) {
        let mut notices = self.deps.notices.clone();
        let pod = ctx.address();
        ctx.spawn(
            async move {
                while notices.changed().await.is_ok() {
                    pod.do_send(Wake);
                    tokio::time::sleep(WAKE_PAUSE).await;
                }
            }
            .into_actor(self),
        );
    }

    fn ask_for_commands(&mut self, ctx: &mut Context<Self>) {
        if std::mem::replace(&mut self.asking, true) {
            return;
        }
        let (db, pod, since) = (self.deps.db.clone(), ctx.address(), self.deps.started_at);
        let name = self.plan.name.clone();
        let ids: Vec<String> = self.plan.workers.iter().map(|name| name.id.clone()).collect();
        self.deps.runtime.spawn(async move {
            let read = async { workers::open_commands(&db.client().await?, &ids, since).await };
            // a database that is away has no commands; the next tick asks again
            let commands = read.await.unwrap_or_default();
            let delivered = pod.send(Commands(commands.clone())).await.is_ok();
            if !delivered || commands.is_empty() {
                return;
            }
            // one that stays open is delivered twice, which does no harm; one that is lost would
            let taken = async { workers::taken(&db.client().await?, &commands).await };
            if let Err(error) = taken.await {
                events::commands_not_marked(&name, &error);
            }
        });
    }

    fn worker(&self, id: &str) -> Option<&Addr<WorkerActor>> {
        let index = self.plan.workers.iter().position(|name| name.id == id)?;
        self.workers.get(index)
    }

    /// A worker that dies is no fault of its tasks.
    fn recover_worker(&self, worker_index: usize) {
        if let Some(name) = self.plan.workers.get(worker_index) {
            self.deps.recover(self.deps.held_tasks.take_from_worker(&name.id), Blame::None);
        }
    }
}

impl Actor for PodActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if self.children.is_empty() {
            self.start_workers(ctx);
        }
        self.children.resume_parked(Instant::now());
        self.listen(ctx);
        ctx.run_interval(self.deps.config.queue.poll_interval, |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for PodActor {
    type Observed = ObservedPod;

    /// Its workers go on meanwhile, and are taken over.
    fn rebuilt(&mut self) -> Self {
        PodActor {
            workers: std::mem::take(&mut self.workers),
            children: self.children.take(),
            ..PodActor::new(self.deps.clone(), self.plan.clone(), self.supervisor.clone())
        }
    }

    fn observed(&self) -> ObservedPod {
        let workers = self.plan.workers.iter().map(|worker| worker.friendly.clone());
        ObservedPod { pod: self.plan.name.clone(), workers: workers.collect() }
    }
}

supervised!(PodActor);

impl Handler<Tick> for PodActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.pod");
        self.ask_for_commands(ctx);
    }
}

impl Handler<Wake> for PodActor {
    type Result = ();

    fn handle(&mut self, wake: Wake, _: &mut Context<Self>) {
        // one that is behind with its messages will look for work anyway
        self.workers.iter().for_each(|worker| drop(worker.try_send(wake)));
    }
}

impl Handler<Commands> for PodActor {
    type Result = ();

    fn handle(&mut self, Commands(commands): Commands, _: &mut Context<Self>) {
        self.asking = false;
        for open in commands {
            if let Some(worker) = self.worker(&open.worker_id) {
                worker.do_send(Order(open.command));
            }
        }
    }
}

impl Handler<ChildExited> for PodActor {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let name = self.children.name(child.child_index).to_owned();
        self.recover_worker(child.child_index);
        match self.children.exited(child.child_index, &child.exit, Instant::now()) {
            RestartDecision::RestartAfter(pause) => {
                events::actor_restarted("worker", &name, &child.exit);
                ctx.run_later(pause, move |pod, _| pod.children.resume(child.child_index, Instant::now()));
            }
            RestartDecision::Escalate => {
                self.supervisor
                    .do_send(SupervisorFailed { name: format!("{}: {name}", self.plan.name), exit: child.exit });
            }
        }
    }
}
