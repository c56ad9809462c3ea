//! `SupervisorActor`: the root: starts the proxy pool, the scheduler and the pods, and restarts them one for one.
//!
//! When restarts do not help, the process drains and exits non-zero with the first cause; systemd or Kubernetes is next.

use std::time::Instant;

use actix::prelude::*;

use super::cell::{ChildExited, Exit};
use super::pod::PodActor;
use super::scheduler::SchedulerActor;
use super::supervision::{Children, Limits, Rebuild, Verdict};
use super::tree::{PodPlan, Shared};
use crate::{events, supervised};

pub struct SupervisorActor {
    shared: Shared,
    plan: Plan,
    children: Children,
}

/// What is to be started.
#[derive(Clone)]
pub struct Plan {
    pub schedules: bool,
    pub pods: Vec<PodPlan>,
}

/// A branch has used up its restarts.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Failing {
    pub name: String,
    pub exit: Exit,
}

impl SupervisorActor {
    pub fn new(shared: Shared, plan: Plan) -> Self {
        let children = Children::new(Limits::from(&shared.config.supervision), shared.watchdog.clone());
        SupervisorActor { shared, plan, children }
    }

    fn start_children(&mut self, ctx: &mut Context<Self>) {
        let me = ctx.address();
        let here = Arbiter::current();
        let (shared, schedules) = (self.shared.clone(), self.plan.schedules);
        self.children.start("scheduler", &here, me.clone().recipient(), move || SchedulerActor::new(shared, schedules));
        for pod in self.plan.pods.clone() {
            let shared = self.shared.clone();
            let (label, failing) = (format!("pod {}", pod.name), me.clone().recipient());
            self.children.start(&label, &pod.arbiter, me.clone().recipient(), move || {
                PodActor::new(shared, pod.name, pod.workers, failing)
            });
        }
    }

    fn give_up(&self, name: &str, exit: &Exit) {
        events::process_escalated(name, exit);
        self.shared.lifecycle.fail(format!("{name} failed too often, at last: {exit}"));
    }
}

impl Actor for SupervisorActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.start_children(ctx);
    }
}

impl Rebuild for SupervisorActor {
    /// The whole tree goes with it; what its workers held is put back.
    fn rebuilt(&self) -> Self {
        self.shared.recover(self.shared.ledger.take_all());
        SupervisorActor::new(self.shared.clone(), self.plan.clone())
    }

    fn observed(&self) -> serde_json::Value {
        serde_json::json!({ "pods": self.plan.pods.len(), "schedules": self.plan.schedules })
    }
}

supervised!(SupervisorActor);

impl Handler<ChildExited> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let name = self.children.name(child.slot).to_owned();
        match self.children.exited(child.slot, Instant::now()) {
            Verdict::RestartAfter(pause) => {
                events::actor_restarted("branch", &name, &child.exit);
                ctx.run_later(pause, move |actor, _| actor.children.resume(child.slot, Instant::now()));
            }
            Verdict::Escalate => self.give_up(&name, &child.exit),
        }
    }
}

impl Handler<Failing> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, failing: Failing, _: &mut Context<Self>) {
        self.give_up(&failing.name, &failing.exit);
    }
}
