//! `PodActor`: a named group of workers: starts them, wakes them, hands them their commands, restarts them
//! when they crash.
//!
//! In: commands from the database, wake-ups. Out: messages to its workers. The tasks of a worker that died
//! are stopped and put back at once. It must not know what its workers claim.

use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::watch;

use super::deps::ActorDeps;
use super::recovery;
use super::worker::{Command, ConfigChanged, PausesChanged, Wake, WorkerActor};
use crate::actors::plan::PodPlan;
use db::workers::{self, OpenCommand};
use domain::task::Blame;
use supervision::messages::Tick;
use supervision::runner::{ChildExited, Exit};
use supervision::supervised;
use supervision::{Children, Rebuild, RestartDecision, RestartPolicy};
use telemetry::events;

pub struct PodActor {
    deps: ActorDeps,
    plan: PodPlan,
    supervisor: Recipient<PodFailed>,
    workers: Vec<Addr<WorkerActor>>,
    children: Children,
    is_reading_commands: bool,
}

/// A pod gives up: one of its workers cannot be restarted, or they crashed too often together.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct PodFailed {
    /// The names of the pod and of the worker that crashed last.
    pub worker: String,
    pub exit: Exit,
}

/// Shortest time between two wake-ups of the pod's workers.
const MIN_WAKE_INTERVAL: Duration = Duration::from_millis(20);

impl PodActor {
    pub fn new(deps: ActorDeps, plan: PodPlan, supervisor: Recipient<PodFailed>) -> Self {
        let children = Children::new(RestartPolicy::from(&deps.config.supervision), deps.watchdog.clone());
        PodActor { deps, plan, supervisor, workers: Vec::new(), children, is_reading_commands: false }
    }

    fn start_workers(&mut self, ctx: &mut Context<Self>) {
        // a pod without workers is a command that uses the proxies alone
        if let Some(first) = self.plan.workers.first() {
            let (workers, slots) = (self.plan.workers.len(), self.deps.config.topology.slots);
            events::pod_started(&self.plan.name, workers, slots, &first.roles.label());
        }
        let arbiter = Arbiter::current();
        for plan in self.plan.workers.clone() {
            let (deps, own_arbiter) = (self.deps.clone(), arbiter.clone());
            let name = plan.friendly_name.clone();
            let make = move || WorkerActor::new(deps, plan, own_arbiter);
            self.workers.push(self.children.start("worker", &name, &arbiter, ctx.address().recipient(), make));
        }
    }

    /// Sends itself `message` at each change, with a pause between two.
    fn forward<T, M>(&self, mut changes: watch::Receiver<T>, message: M, pause: Duration, ctx: &mut Context<Self>)
    where
        T: Send + Sync + 'static,
        M: Message<Result = ()> + Copy + Send + 'static,
        Self: Handler<M>,
    {
        let pod = ctx.address();
        ctx.spawn(
            async move {
                while changes.changed().await.is_ok() {
                    pod.do_send(message);
                    tokio::time::sleep(pause).await;
                }
            }
            .into_actor(self),
        );
    }

    fn read_commands(&mut self, ctx: &mut Context<Self>) {
        if std::mem::replace(&mut self.is_reading_commands, true) {
            return;
        }
        let (db, name) = (self.deps.db.clone(), self.plan.name.clone());
        let ids: Vec<String> = self.plan.workers.iter().map(|worker| worker.id.clone()).collect();
        let since = self.deps.started_at;
        let reading = self.deps.runtime.spawn(async move {
            fail::fail_point!("pod.commands");
            let read = async { workers::open_commands(&db.client().await?, &ids, since).await };
            read.await.unwrap_or_else(|error| {
                // the next tick reads again
                if !error.is_transient() {
                    events::commands_not_read(&name, &error);
                }
                Vec::new()
            })
        });
        // a panic is logged where it happens, and reads no command
        let delivered = reading.into_actor(self).map(|read, pod, _| pod.deliver(read.unwrap_or_default()));
        ctx.spawn(delivered);
    }

    fn deliver(&mut self, commands: Vec<OpenCommand>) {
        self.is_reading_commands = false;
        for open in &commands {
            if let Some(worker) = self.worker(&open.worker_id) {
                worker.do_send(Command(open.command));
            }
        }
        if commands.is_empty() {
            return;
        }
        let (db, name) = (self.deps.db.clone(), self.plan.name.clone());
        self.deps.runtime.spawn(async move {
            // marked only after the delivery: a command that is delivered twice does no harm, a lost one does
            let marked = async { workers::mark_taken(&db.client().await?, &commands).await };
            if let Err(error) = marked.await {
                events::commands_not_marked(&name, &error);
            }
        });
    }

    fn worker(&self, id: &str) -> Option<&Addr<WorkerActor>> {
        let index = self.plan.workers.iter().position(|worker| worker.id == id)?;
        self.workers.get(index)
    }

    /// A worker's crash counts against none of its tasks.
    fn recover_tasks_of(&self, worker_index: usize) {
        if let Some(worker) = self.plan.workers.get(worker_index) {
            recovery::recover(&self.deps, self.deps.held_tasks.take_from_worker(&worker.id), Blame::NoTask);
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
        // a burst of them wakes the workers once
        self.forward(self.deps.wake_ups.clone(), Wake, MIN_WAKE_INTERVAL, ctx);
        // a worker's pause is also a command, which is read at once
        self.forward(self.deps.pauses.clone(), PausesChanged, Duration::ZERO, ctx);
        self.forward(self.deps.live.subscribe(), ConfigChanged, Duration::ZERO, ctx);
        ctx.run_interval(self.deps.config.queue.poll_interval, |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for PodActor {
    /// Its workers go on meanwhile, and are taken over.
    fn rebuilt(&mut self) -> Self {
        PodActor {
            workers: std::mem::take(&mut self.workers),
            children: self.children.take(),
            ..PodActor::new(self.deps.clone(), self.plan.clone(), self.supervisor.clone())
        }
    }
}

supervised!(PodActor);

impl Handler<Tick> for PodActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Context<Self>) {
        fail::fail_point!("actor.pod");
        self.read_commands(ctx);
    }
}

impl Handler<Wake> for PodActor {
    type Result = ();

    fn handle(&mut self, wake: Wake, _: &mut Context<Self>) {
        // one that is behind with its messages will look for work anyway
        self.workers.iter().for_each(|worker| drop(worker.try_send(wake)));
    }
}

impl Handler<PausesChanged> for PodActor {
    type Result = ();

    fn handle(&mut self, changed: PausesChanged, ctx: &mut Context<Self>) {
        self.workers.iter().for_each(|worker| drop(worker.try_send(changed)));
        self.read_commands(ctx);
    }
}

impl Handler<ConfigChanged> for PodActor {
    type Result = ();

    fn handle(&mut self, changed: ConfigChanged, _: &mut Context<Self>) {
        self.workers.iter().for_each(|worker| drop(worker.try_send(changed)));
    }
}

impl Handler<ChildExited> for PodActor {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let (kind, name) = self.children.kind_and_name(child.child_index);
        self.recover_tasks_of(child.child_index);
        match self.children.exited(child.child_index, &child.exit, Instant::now()) {
            RestartDecision::RestartAfter(pause) => {
                events::actor_crashed(kind, &name, &child.exit, pause);
                ctx.run_later(pause, move |pod, _| pod.children.resume(child.child_index, Instant::now()));
            }
            RestartDecision::Escalate => {
                let worker = format!("{}: {name}", self.plan.name);
                self.supervisor.do_send(PodFailed { worker, exit: child.exit });
            }
        }
    }
}
