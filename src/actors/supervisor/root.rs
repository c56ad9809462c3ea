//! The actors' thread, and `Root`: the parent of the supervisor.
//!
//! In: limits and the process's lifecycle. Out: the supervisor's address. When the supervisor fails too
//! often, the process drains. It must not know what runs below the supervisor.

use std::sync::Arc;
use std::time::Instant;

use actix::prelude::*;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::SupervisorActor;
use settings::Config;
use supervision::lifecycle::Lifecycle;
use supervision::runner::ChildExited;
use supervision::service_manager;
use supervision::watchdog::Watchdog;
use supervision::{Children, RestartDecision, RestartPolicy};
use telemetry::events;

/// Starts the actors' thread with the supervisor on it; `None` when it ended at once. A message on the
/// sender, or its drop, ends all actors.
pub async fn start(
    config: &Config,
    watchdog: &Watchdog,
    lifecycle: &Lifecycle,
    runtime: Arc<Runtime>,
) -> std::io::Result<Option<(Addr<SupervisorActor>, oneshot::Sender<()>)>> {
    let (supervisor_tx, supervisor_rx) = oneshot::channel();
    let (end_actors, end_requested) = oneshot::channel::<()>();
    let policy = RestartPolicy::from(&config.supervision);
    let (watchdog, lifecycle) = (watchdog.clone(), lifecycle.clone());
    std::thread::Builder::new().name("actors".to_owned()).spawn(move || {
        let system = System::with_tokio_rt(move || runtime);
        system.block_on(async move {
            let root = Root { policy, watchdog, lifecycle, supervisor: None }.start();
            if let Ok(supervisor) = root.send(StartSupervisor).await {
                let _ = supervisor_tx.send(supervisor);
            }
            let _ = end_requested.await;
        });
    })?;
    Ok(supervisor_rx.await.ok().map(|supervisor| (supervisor, end_actors)))
}

/// Parent of the supervisor: restarts it, and drains the process when that does not help.
struct Root {
    policy: RestartPolicy,
    watchdog: Watchdog,
    lifecycle: Lifecycle,
    supervisor: Option<Children>,
}

#[derive(Message)]
#[rtype(result = "Addr<SupervisorActor>")]
struct StartSupervisor;

impl Actor for Root {
    type Context = Context<Self>;

    /// A service manager that hears nothing for long takes the process for hung, and starts it again.
    fn started(&mut self, ctx: &mut Context<Self>) {
        if let Some(interval) = service_manager::alive_interval() {
            ctx.run_interval(interval, |_, _| alive());
        }
    }
}

fn alive() {
    fail::fail_point!("actor.root");
    service_manager::alive();
}

impl Handler<StartSupervisor> for Root {
    type Result = MessageResult<StartSupervisor>;

    fn handle(&mut self, _: StartSupervisor, ctx: &mut Context<Self>) -> Self::Result {
        let mut children = Children::new(self.policy.clone(), self.watchdog.clone());
        let (policy, watchdog, lifecycle) = (self.policy.clone(), self.watchdog.clone(), self.lifecycle.clone());
        let (supervisor, _) =
            children.start("supervisor", "supervisor", &Arbiter::current(), ctx.address().recipient(), move || {
                SupervisorActor::new(Children::new(policy, watchdog), lifecycle)
            });
        self.supervisor = Some(children);
        MessageResult(supervisor)
    }
}

impl Handler<ChildExited> for Root {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let Some(children) = self.supervisor.as_mut() else { return };
        match children.exited(child.child_index, &child.exit, Instant::now()) {
            RestartDecision::RestartAfter(pause) => {
                events::actor_crashed("supervisor", "supervisor", &child.exit, pause);
                ctx.run_later(pause, move |root, _| {
                    if let Some(children) = root.supervisor.as_mut() {
                        children.resume(child.child_index, Instant::now());
                    }
                });
            }
            RestartDecision::Nothing => {}
            RestartDecision::Escalate => self.lifecycle.fail_too_often("supervisor", &child.exit),
        }
    }
}
