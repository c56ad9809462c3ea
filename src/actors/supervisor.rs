//! `SupervisorActor`: the root of the tree: starts the proxy pool, the scheduler and the pods, and restarts them one for one.
//!
//! When restarts do not help, the process drains and exits non-zero with the first cause; systemd or Kubernetes is next. When
//! it crashes itself, its children go on and it takes them over again.

use std::time::Instant;

use actix::prelude::*;

use super::cell::{ChildExited, Exit};
use super::lifecycle::Lifecycle;
use super::plan::{Plan, PodPlan};
use super::pod::PodActor;
use super::proxy_pool::{ProxyPoolActor, ProxyPoolDeps};
use super::scheduler::SchedulerActor;
use super::shared::Shared;
use super::supervision::{Children, Rebuild, Tick, Verdict};
use crate::{events, supervised};

pub struct SupervisorActor {
    children: Children,
    lifecycle: Lifecycle,
}

/// The proxy pool comes first: the handlers' sessions hold its address.
#[derive(Message)]
#[rtype(result = "Addr<ProxyPoolActor>")]
pub struct StartProxyPool(pub ProxyPoolDeps);

/// Everything else of the process.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Branches {
    pub shared: Shared,
    pub plan: Plan,
}

/// A branch has used up its restarts.
#[derive(Clone, Debug, Message)]
#[rtype(result = "()")]
pub struct Failing {
    pub name: String,
    pub exit: Exit,
}

impl SupervisorActor {
    pub fn new(children: Children, lifecycle: Lifecycle) -> Self {
        SupervisorActor { children, lifecycle }
    }

    /// Each pod has a thread of its own.
    fn start_pod(&mut self, shared: &Shared, pod: PodPlan, ctx: &mut Context<Self>) {
        let (shared, failing) = (shared.clone(), ctx.address().recipient());
        let runtime = shared.parent_runtime.clone();
        let thread = Arbiter::with_tokio_rt(move || runtime);
        let label = format!("pod {}", pod.name);
        self.children
            .start(&label, &thread.handle(), ctx.address().recipient(), move || PodActor::new(shared, pod, failing));
    }

    fn give_up(&self, name: &str, exit: &Exit) {
        events::process_escalated(name, exit);
        self.lifecycle.fail(format!("{name} failed too often, at last: {exit}"));
    }
}

impl Actor for SupervisorActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.children.resume_parked(Instant::now());
        ctx.run_interval(self.children.tick(), |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for SupervisorActor {
    fn rebuilt(&mut self) -> Self {
        SupervisorActor::new(self.children.take(), self.lifecycle.clone())
    }

    fn observed(&self) -> serde_json::Value {
        serde_json::json!({ "children": self.children.names() })
    }
}

supervised!(SupervisorActor);

impl Handler<StartProxyPool> for SupervisorActor {
    type Result = MessageResult<StartProxyPool>;

    fn handle(&mut self, StartProxyPool(deps): StartProxyPool, ctx: &mut Context<Self>) -> Self::Result {
        let parent = ctx.address().recipient();
        let make = move || ProxyPoolActor::new(deps);
        MessageResult(self.children.start("proxy pool", &Arbiter::current(), parent, make))
    }
}

impl Handler<Branches> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, Branches { shared, plan }: Branches, ctx: &mut Context<Self>) {
        let (scheduler, schedules) = (shared.clone(), plan.schedules);
        self.children.start("scheduler", &Arbiter::current(), ctx.address().recipient(), move || {
            SchedulerActor::new(scheduler, schedules)
        });
        for pod in plan.pods {
            self.start_pod(&shared, pod, ctx);
        }
    }
}

impl Handler<Tick> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, _: Tick, _: &mut Context<Self>) {
        fail::fail_point!("actor.supervisor");
    }
}

impl Handler<ChildExited> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let name = self.children.name(child.slot).to_owned();
        match self.children.exited(child.slot, &child.exit, Instant::now()) {
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
