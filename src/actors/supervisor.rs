//! `SupervisorActor`: parent of the scheduler, the proxy pool and the pods; starts them, and restarts each
//! alone.
//!
//! In: messages that say what to start. Out: children, and a process that drains when restarting them does
//! not help. That process exits non-zero with the first cause, and systemd or Kubernetes starts it again.
//! When the supervisor itself crashes, its children continue, and it takes them over when it is rebuilt. It must
//! not know what its children do.

pub mod root;

use std::time::Instant;

use actix::prelude::*;

use super::plan::PodPlan;
use super::pods::deps::ActorDeps;
use super::pods::pod::{PodActor, PodEnded, PodFailed, Retire};
use super::proxy_pool::{ProxyPoolActor, ProxyPoolDeps};
use super::scheduler::{SchedulerActor, SchedulerDeps};
use supervision::lifecycle::Lifecycle;
use supervision::messages::Tick;
use supervision::runner::ChildExited;
use supervision::supervised;
use supervision::{Children, Rebuild, RestartDecision};
use telemetry::events;

pub struct SupervisorActor {
    children: Children,
    lifecycle: Lifecycle,
    pods: Vec<RunningPod>,
}

/// A pod, on a thread of its own.
struct RunningPod {
    name: String,
    child_index: usize,
    address: Addr<PodActor>,
    thread: ArbiterHandle,
}

#[derive(Message)]
#[rtype(result = "()")]
pub struct StartScheduler(pub SchedulerDeps);

/// Starts the pool. Sent before [`StartPods`]: the handlers' sessions hold the pool's address.
#[derive(Message)]
#[rtype(result = "Addr<ProxyPoolActor>")]
pub struct StartProxyPool(pub ProxyPoolDeps);

#[derive(Message)]
#[rtype(result = "()")]
pub struct StartPods {
    pub deps: ActorDeps,
    pub pods: Vec<PodPlan>,
}

/// Lets the workers of these pods finish their tasks; a pod ends with its last worker.
#[derive(Message)]
#[rtype(result = "()")]
pub struct RetirePods(pub Vec<String>);

impl SupervisorActor {
    pub fn new(children: Children, lifecycle: Lifecycle) -> Self {
        SupervisorActor { children, lifecycle, pods: Vec::new() }
    }

    fn start_pod(&mut self, deps: &ActorDeps, pod: PodPlan, ctx: &mut Context<Self>) {
        let (deps, supervisor) = (deps.clone(), ctx.address());
        let runtime = deps.owned_runtime.clone();
        let thread = Arbiter::with_tokio_rt(move || runtime).handle();
        let (name, label) = (pod.name.clone(), format!("pod {}", pod.name));
        let make = move || PodActor::new(deps, pod, supervisor);
        let (address, child_index) = self.children.start("pod", &label, &thread, ctx.address().recipient(), make);
        self.pods.push(RunningPod { name, child_index, address, thread });
    }
}

impl Actor for SupervisorActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        self.children.resume_parked(Instant::now());
        ctx.run_interval(self.children.tick_interval(), |_, ctx| ctx.notify(Tick));
    }
}

impl Rebuild for SupervisorActor {
    fn rebuilt(&mut self) -> Self {
        let pods = std::mem::take(&mut self.pods);
        SupervisorActor { pods, ..SupervisorActor::new(self.children.take(), self.lifecycle.clone()) }
    }
}

supervised!(SupervisorActor);

impl Handler<StartScheduler> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, StartScheduler(deps): StartScheduler, ctx: &mut Context<Self>) {
        let parent = ctx.address().recipient();
        self.children.start("scheduler", "scheduler", &Arbiter::current(), parent, move || SchedulerActor::new(deps));
    }
}

impl Handler<StartProxyPool> for SupervisorActor {
    type Result = MessageResult<StartProxyPool>;

    fn handle(&mut self, StartProxyPool(deps): StartProxyPool, ctx: &mut Context<Self>) -> Self::Result {
        let parent = ctx.address().recipient();
        let make = move || ProxyPoolActor::new(deps);
        MessageResult(self.children.start("proxy_pool", "proxy pool", &Arbiter::current(), parent, make).0)
    }
}

impl Handler<StartPods> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, StartPods { deps, pods }: StartPods, ctx: &mut Context<Self>) {
        for pod in pods {
            self.start_pod(&deps, pod, ctx);
        }
    }
}

impl Handler<RetirePods> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, RetirePods(names): RetirePods, _: &mut Context<Self>) {
        for pod in self.pods.iter().filter(|pod| names.contains(&pod.name)) {
            pod.address.do_send(Retire);
        }
    }
}

impl Handler<PodEnded> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, PodEnded(name): PodEnded, _: &mut Context<Self>) {
        let Some(at) = self.pods.iter().position(|pod| pod.name == name) else { return };
        let RunningPod { child_index, thread, .. } = self.pods.remove(at);
        self.children.remove(child_index);
        thread.stop();
        events::pod_ended(&name);
    }
}

impl Handler<Tick> for SupervisorActor {
    type Result = ();

    /// Does nothing, but crashes where a test asks for it.
    fn handle(&mut self, _: Tick, _: &mut Context<Self>) {
        fail::fail_point!("actor.supervisor");
    }
}

impl Handler<ChildExited> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let (kind, name) = self.children.kind_and_name(child.child_index);
        match self.children.exited(child.child_index, &child.exit, Instant::now()) {
            RestartDecision::RestartAfter(pause) => {
                events::actor_crashed(kind, &name, &child.exit, pause);
                ctx.run_later(pause, move |actor, _| actor.children.resume(child.child_index, Instant::now()));
            }
            RestartDecision::Nothing => {}
            RestartDecision::Escalate => self.lifecycle.fail_too_often(&name, &child.exit),
        }
    }
}

impl Handler<PodFailed> for SupervisorActor {
    type Result = ();

    fn handle(&mut self, failed: PodFailed, _: &mut Context<Self>) {
        self.lifecycle.fail_too_often(&failed.worker, &failed.exit);
    }
}
