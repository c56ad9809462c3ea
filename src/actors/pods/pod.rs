//! `PodActor`: a named group of workers: starts them, wakes them, hands them their commands, restarts them
//! when they crash.
//!
//! In: commands from the database, wake-ups, the number of workers that the configuration wants. Out: messages to its workers, and its
//! own end when it is retired and its last worker has left. The tasks of a worker that died are stopped and put back at once. It must
//! not know what its workers claim.

use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::sync::watch;

use super::deps::ActorDeps;
use super::recovery;
use super::worker::{Command, ConfigChanged, PausesChanged, Wake, WorkerActor};
use crate::actors::plan::{Follows, PodPlan};
use crate::actors::supervisor::SupervisorActor;
use db::workers::{self, OpenCommand};
use domain::task::Blame;
use domain::worker::WorkerCommand;
use supervision::messages::Tick;
use supervision::runner::{ChildExited, Exit};
use supervision::supervised;
use supervision::{Children, Rebuild, RestartDecision, RestartPolicy};
use telemetry::events;

pub struct PodActor {
    deps: ActorDeps,
    plan: PodPlan,
    supervisor: Addr<SupervisorActor>,
    workers: Vec<PodWorker>,
    /// Number of workers that was asked for last; none before the start.
    wanted: Option<usize>,
    is_retired: bool,
    children: Children,
    is_reading_commands: bool,
}

struct PodWorker {
    id: String,
    /// Number in the pod, from 1.
    number: usize,
    address: Addr<WorkerActor>,
    child_index: usize,
    /// Decommissioned: it ends with its last task.
    is_leaving: bool,
}

/// Decommissions all workers; the pod ends with the last one.
#[derive(Clone, Copy, Message)]
#[rtype(result = "()")]
pub struct Retire;

/// A retired pod has no worker left.
#[derive(Message)]
#[rtype(result = "()")]
pub struct PodEnded(pub String);

/// A decommissioned worker has finished its tasks.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct WorkerLeft {
    pub worker_id: String,
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
    pub fn new(deps: ActorDeps, plan: PodPlan, supervisor: Addr<SupervisorActor>) -> Self {
        let children = Children::new(RestartPolicy::from(&deps.config.supervision), deps.watchdog.clone());
        PodActor {
            deps,
            plan,
            supervisor,
            workers: Vec::new(),
            wanted: None,
            is_retired: false,
            children,
            is_reading_commands: false,
        }
    }

    fn start_workers(&mut self, ctx: &mut Context<Self>) {
        // a pod without workers is a command that uses the proxies alone
        if self.plan.workers > 0 {
            let slots = self.deps.live.current().config.slots();
            events::pod_started(&self.plan.name, self.plan.workers, slots, &self.plan.roles.label());
        }
        self.resize(self.plan.workers, ctx);
    }

    /// Starts workers at once, or decommissions the ones with the highest numbers, as often as the number changes: a worker
    /// that an operator decommissioned is not replaced before.
    fn resize(&mut self, wanted: usize, ctx: &mut Context<Self>) {
        if self.wanted.replace(wanted) == Some(wanted) || !self.deps.lifecycle.is_running() {
            return;
        }
        let staying = self.workers.iter().filter(|worker| !worker.is_leaving).count();
        (staying..wanted).for_each(|_| self.start_worker(ctx));
        self.workers.sort_by_key(|worker| worker.number);
        let surplus =
            self.workers.iter_mut().rev().filter(|worker| !worker.is_leaving).take(staying.saturating_sub(wanted));
        surplus.for_each(PodWorker::leave);
    }

    /// Starts a worker under the lowest number that no worker has.
    fn start_worker(&mut self, ctx: &mut Context<Self>) {
        let is_free = |number: &usize| self.workers.iter().all(|worker| worker.number != *number);
        let number = (1..).find(is_free).unwrap_or_default();
        let plan = self.deps.own_workers.add(&self.plan, number);
        let (deps, arbiter, pod) = (self.deps.clone(), Arbiter::current(), ctx.address().recipient());
        let (id, name) = (plan.id.clone(), plan.friendly_name.clone());
        let own_arbiter = arbiter.clone();
        let make = move || WorkerActor::new(deps, plan, own_arbiter, pod);
        let (address, child_index) = self.children.start("worker", &name, &arbiter, ctx.address().recipient(), make);
        self.workers.push(PodWorker { id, number, address, child_index, is_leaving: false });
    }

    fn end_when_empty(&self) {
        if self.is_retired && self.workers.is_empty() {
            self.supervisor.do_send(PodEnded(self.plan.name.clone()));
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
        let ids: Vec<String> = self.workers.iter().map(|worker| worker.id.clone()).collect();
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
            match self.workers.iter_mut().find(|worker| worker.id == open.worker_id) {
                Some(worker) if open.command == WorkerCommand::Decommission => worker.leave(),
                Some(worker) => worker.address.do_send(Command(open.command)),
                None => {}
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

    /// A worker's crash counts against none of its tasks.
    fn recover_tasks_of(&self, child_index: usize) {
        if let Some(worker) = self.workers.iter().find(|worker| worker.child_index == child_index) {
            recovery::recover(&self.deps, self.deps.held_tasks.take_from_worker(&worker.id), Blame::NoTask);
        }
    }
}

impl PodWorker {
    fn leave(&mut self) {
        self.is_leaving = true;
        self.address.do_send(Command(WorkerCommand::Decommission));
    }
}

impl Actor for PodActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if self.wanted.is_none() {
            self.start_workers(ctx);
        }
        self.children.resume_parked(Instant::now());
        // a burst of them wakes the workers once
        self.forward(self.deps.wake_ups.clone(), Wake, MIN_WAKE_INTERVAL, ctx);
        // a worker's pause is also a command, which is read at once
        self.forward(self.deps.pauses.clone(), PausesChanged, Duration::ZERO, ctx);
        self.forward(self.deps.live.subscribe(), ConfigChanged, Duration::ZERO, ctx);
        ctx.run_interval(self.deps.config.poll_interval(), |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for PodActor {
    /// Its workers keep running, and are taken over.
    fn rebuilt(&mut self) -> Self {
        PodActor {
            workers: std::mem::take(&mut self.workers),
            wanted: self.wanted,
            is_retired: self.is_retired,
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
        self.workers.iter().for_each(|worker| drop(worker.address.try_send(wake)));
    }
}

impl Handler<PausesChanged> for PodActor {
    type Result = ();

    fn handle(&mut self, changed: PausesChanged, ctx: &mut Context<Self>) {
        self.workers.iter().for_each(|worker| drop(worker.address.try_send(changed)));
        self.read_commands(ctx);
    }
}

impl Handler<ConfigChanged> for PodActor {
    type Result = ();

    fn handle(&mut self, changed: ConfigChanged, ctx: &mut Context<Self>) {
        if self.deps.follows != Follows::Nothing && !self.is_retired {
            self.resize(self.deps.live.current().config.workers_per_pod(), ctx);
        }
        self.workers.iter().for_each(|worker| drop(worker.address.try_send(changed)));
    }
}

impl Handler<Retire> for PodActor {
    type Result = ();

    fn handle(&mut self, _: Retire, ctx: &mut Context<Self>) {
        self.is_retired = true;
        self.resize(0, ctx);
        self.end_when_empty();
    }
}

impl Handler<WorkerLeft> for PodActor {
    type Result = ();

    fn handle(&mut self, WorkerLeft { worker_id }: WorkerLeft, _: &mut Context<Self>) {
        let Some(at) = self.workers.iter().position(|worker| worker.id == worker_id) else { return };
        let worker = self.workers.remove(at);
        self.children.remove(worker.child_index);
        self.end_when_empty();
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
            RestartDecision::Nothing => {}
            RestartDecision::Escalate => {
                let worker = format!("{}: {name}", self.plan.name);
                self.supervisor.do_send(PodFailed { worker, exit: child.exit });
            }
        }
    }
}
