//! `PodActor`: a named group of workers: starts them, wakes them, hands them their commands, restarts them when they die.
//!
//! The tasks of a worker that died are stopped and put back at once, by what the ledger remembers.

use std::time::{Duration, Instant};

use actix::prelude::*;

use super::cell::ChildExited;
use super::plan::PodPlan;
use super::shared::Shared;
use super::supervision::{Children, Limits, Rebuild, Tick, Verdict};
use super::supervisor::Failing;
use super::worker::{Order, Wake, WorkerActor};
use crate::db::workers::{self, OpenCommand};
use crate::{events, supervised};

pub struct PodActor {
    shared: Shared,
    plan: PodPlan,
    supervisor: Recipient<Failing>,
    workers: Vec<Addr<WorkerActor>>,
    children: Children,
    asking: bool,
}

/// Commands for workers of this pod, as read from the database.
#[derive(Message)]
#[rtype(result = "()")]
struct Commands(Vec<OpenCommand>);

/// How often a notice of new work may wake the pod's workers.
const WAKE_PAUSE: Duration = Duration::from_millis(20);

impl PodActor {
    pub fn new(shared: Shared, plan: PodPlan, supervisor: Recipient<Failing>) -> Self {
        let children = Children::new(Limits::from(&shared.config.supervision), shared.watchdog.clone());
        PodActor { shared, plan, supervisor, workers: Vec::new(), children, asking: false }
    }

    fn start_workers(&mut self, ctx: &mut Context<Self>) {
        let arbiter = Arbiter::current();
        for name in self.plan.workers.clone() {
            let (shared, home) = (self.shared.clone(), arbiter.clone());
            let label = name.friendly.clone();
            let worker = self
                .children
                .start(&label, &arbiter, ctx.address().recipient(), move || WorkerActor::new(shared, name, home));
            self.workers.push(worker);
        }
    }

    /// Forwards notices of new work; a burst of them wakes the workers once.
    fn listen(&self, ctx: &mut Context<Self>) {
        let mut notices = self.shared.notices.clone();
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
        let (db, pod) = (self.shared.db.clone(), ctx.address());
        let ids: Vec<String> = self.plan.workers.iter().map(|name| name.id.clone()).collect();
        self.shared.runtime.spawn(async move {
            let read = async { workers::open_commands(&db.client().await?, &ids).await };
            // a database that is away has no commands; the next tick asks again
            let commands = read.await.unwrap_or_default();
            let delivered = pod.send(Commands(commands.clone())).await.is_ok();
            if !delivered || commands.is_empty() {
                return;
            }
            // one that stays open is delivered twice, which does no harm; one that is lost would
            let taken = async { workers::taken(&db.client().await?, &commands).await };
            if let Err(error) = taken.await {
                events::chore_failed("delivery of commands", &error);
            }
        });
    }

    fn worker(&self, id: &str) -> Option<&Addr<WorkerActor>> {
        let place = self.plan.workers.iter().position(|name| name.id == id)?;
        self.workers.get(place)
    }

    fn recover_worker(&self, slot: usize) {
        if let Some(name) = self.plan.workers.get(slot) {
            self.shared.recover(self.shared.ledger.take_from(&name.id));
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
        ctx.run_interval(self.shared.config.queue.poll_interval, |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for PodActor {
    /// Its workers go on meanwhile, and are taken over.
    fn rebuilt(&mut self) -> Self {
        PodActor {
            workers: std::mem::take(&mut self.workers),
            children: self.children.take(),
            ..PodActor::new(self.shared.clone(), self.plan.clone(), self.supervisor.clone())
        }
    }

    fn observed(&self) -> serde_json::Value {
        serde_json::json!({ "pod": self.plan.name, "workers": self.workers.len() })
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
        let name = self.children.name(child.slot).to_owned();
        self.recover_worker(child.slot);
        match self.children.exited(child.slot, &child.exit, Instant::now()) {
            Verdict::RestartAfter(pause) => {
                events::actor_restarted("worker", &name, &child.exit);
                ctx.run_later(pause, move |pod, _| pod.children.resume(child.slot, Instant::now()));
            }
            Verdict::Escalate => {
                self.supervisor.do_send(Failing { name: format!("{}: {name}", self.plan.name), exit: child.exit });
            }
        }
    }
}
