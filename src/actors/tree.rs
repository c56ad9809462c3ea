//! `Tree`: starts everything that runs tasks, in order, and takes it down again: Heartbeat → ProxyPool → Scheduler → Pods.
//!
//! In: the process's dependencies and a plan. Out: a running tree, which [`Tree::drain`] ends: claim nothing more, let tasks
//! finish within the grace time, give the rest back, deregister.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::prelude::*;
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use super::cell::ChildExited;
use super::claimer::{Claimer, Rules};
use super::execute::Executor;
use super::heartbeat::Heartbeat;
use super::ledger::{Ledger, Stop};
use super::lifecycle::{Lifecycle, Phase};
use super::proxy_pool::{ProxyPool, ProxyPoolDeps};
use super::resources::{self, Load};
use super::supervision::{Children, Limits, Verdict};
use super::supervisor::{Branches, StartProxyPool, SupervisorActor};
use super::watchdog::Watchdog;
use super::worker::WorkerName;
use crate::config::Config;
use crate::db::{Db, listen, tasks, workers};
use crate::domain::task::{Held, LeaseTimes};
use crate::stealth::ProxySource;
use crate::{events, handlers};

/// How long bodies may take to notice that they are to be given back.
const RELEASE_WITHIN: Duration = Duration::from_secs(10);

/// What every actor of the process shares. Cheap to clone.
#[derive(Clone)]
pub struct Shared {
    pub config: Arc<Config>,
    pub db: Db,
    pub times: LeaseTimes,
    pub lifecycle: Lifecycle,
    pub ledger: Ledger,
    pub claimer: Claimer,
    pub executor: Executor,
    pub heartbeat: Heartbeat,
    pub watchdog: Watchdog,
    pub resources: watch::Receiver<Load>,
    /// Changes when there may be new work.
    pub notices: watch::Receiver<u64>,
    pub runtime: tokio::runtime::Handle,
    /// The same, as actors' threads want it.
    pub parent_runtime: Arc<Runtime>,
}

impl Shared {
    /// Puts tasks back whose actor died. Where the database is away, their leases run out instead.
    pub fn recover(&self, held: Vec<Held>) {
        if held.is_empty() {
            return;
        }
        let db = self.db.clone();
        self.runtime.spawn(async move {
            let recovered = async { tasks::recover_held(&db.client().await?, &held).await };
            match recovered.await {
                Ok(done) => events::tasks_recovered(done.requeued as u64, done.failed as u64),
                Err(error) => events::chore_failed("recovery of a dead actor's tasks", &error),
            }
        });
    }
}

/// One pod to be started.
#[derive(Clone, Debug)]
pub struct PodPlan {
    pub name: String,
    pub workers: Vec<WorkerName>,
}

/// What this process runs.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub schedules: bool,
    pub pods: Vec<PodPlan>,
}

/// What the tree is built of.
pub struct Parts {
    pub config: Arc<Config>,
    pub db: Db,
    pub runtime: Arc<Runtime>,
    pub proxies: ProxyPoolDeps,
    pub plan: Plan,
}

pub struct Tree {
    shared: Shared,
    proxies: ProxyPool,
    worker_ids: Vec<String>,
    over: Option<oneshot::Sender<()>>,
}

#[derive(Debug, thiserror::Error)]
pub enum StartError<E> {
    #[error("a thread could not be started: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the actors' thread ended while it was starting")]
    Actors,
    #[error("{0}")]
    Services(E),
}

impl Tree {
    /// `services` makes the handlers' dependencies around the proxy pool.
    pub async fn start<E>(
        parts: Parts,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<handlers::Services, E>,
    ) -> Result<Tree, StartError<E>> {
        let Parts { config, db, runtime, proxies: deps, plan } = parts;
        let lifecycle = Lifecycle::default();
        let times = config.lease_times();
        let watchdog = Watchdog::start(&config.supervision, lifecycle.clone(), runtime.handle().clone())?;
        let heartbeat = Heartbeat::start(db.server().clone(), times, &config.supervision, lifecycle.clone())?;
        let (supervisor, over) = start_root(&config, &watchdog, &lifecycle, runtime.clone()).await?;

        let pool = supervisor.send(StartProxyPool(deps.clone())).await.map_err(|_| StartError::Actors)?;
        let proxies = ProxyPool::new(pool, &deps);
        let ledger = Ledger::default();
        let claimer = Claimer::start(Rules {
            db: db.clone(),
            lease: times.lease,
            lifecycle: lifecycle.clone(),
            ledger: ledger.clone(),
            proxies: proxies.state(),
            intensity: (&config.supervision).into(),
        });
        let executor = Executor {
            db: db.clone(),
            claimer: claimer.clone(),
            services: Arc::new(services(Arc::new(proxies.clone())).map_err(StartError::Services)?),
            config: config.clone(),
        };
        let shared = Shared {
            notices: listen::listen(db.server(), tasks::WAKE_CHANNEL),
            resources: resources::watch(&config.worker, ledger.clone()),
            runtime: runtime.handle().clone(),
            parent_runtime: runtime,
            config,
            db,
            times,
            lifecycle,
            ledger,
            claimer,
            executor,
            heartbeat,
            watchdog,
        };
        let worker_ids: Vec<String> =
            plan.pods.iter().flat_map(|pod| &pod.workers).map(|worker| worker.id.clone()).collect();
        events::workers_planned(worker_ids.len(), worker_ids.len() * shared.config.topology.slots);
        let branches = Branches { shared: shared.clone(), plan };
        supervisor.send(branches).await.map_err(|_| StartError::Actors)?;
        Ok(Tree { shared, proxies, worker_ids, over: Some(over) })
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        &self.shared.lifecycle
    }

    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    pub fn proxies(&self) -> &ProxyPool {
        &self.proxies
    }

    /// Ends the tree. The cause, when something in it had failed.
    pub async fn drain(mut self) -> Option<String> {
        let Shared { lifecycle, ledger, .. } = &self.shared;
        lifecycle.advance(Phase::Draining);
        tokio::select! {
            () = ledger.empty() => {}
            () = lifecycle.reached(Phase::Releasing) => {}
            () = tokio::time::sleep(self.shared.config.worker.grace) => {}
        }
        lifecycle.advance(Phase::Releasing);
        ledger.close(Stop::Release);
        let given_back = tokio::time::timeout(RELEASE_WITHIN, ledger.empty()).await;
        if given_back.is_err() {
            events::release_incomplete(ledger.count());
        }
        self.proxies.flush(Duration::from_secs(2)).await;
        lifecycle.advance(Phase::Over);
        self.deregister().await;
        if let Some(over) = self.over.take() {
            let _ = over.send(());
        }
        self.shared.lifecycle.cause()
    }

    async fn deregister(&self) {
        let db = &self.shared.db;
        let gone = async { workers::deregister(&db.client().await?, &self.worker_ids).await };
        if let Err(error) = gone.await {
            events::worker_not_registered("all", &error);
        }
    }
}

/// Starts the actors' thread with the supervisor on it. What is sent on the sender, or its drop, ends all actors.
async fn start_root<E>(
    config: &Config,
    watchdog: &Watchdog,
    lifecycle: &Lifecycle,
    runtime: Arc<Runtime>,
) -> Result<(Addr<SupervisorActor>, oneshot::Sender<()>), StartError<E>> {
    let (ready, started) = oneshot::channel();
    let (over, ended) = oneshot::channel::<()>();
    let limits = Limits::from(&config.supervision);
    let (watchdog, lifecycle) = (watchdog.clone(), lifecycle.clone());
    std::thread::Builder::new().name("actors".to_owned()).spawn(move || {
        let system = System::with_tokio_rt(move || runtime);
        system.block_on(async move {
            let root = Root { limits, watchdog, lifecycle, supervisor: None }.start();
            if let Ok(supervisor) = root.send(Begin).await {
                let _ = ready.send(supervisor);
            }
            let _ = ended.await;
        });
    })?;
    Ok((started.await.map_err(|_| StartError::Actors)?, over))
}

/// The parent of the one actor that has no other parent.
struct Root {
    limits: Limits,
    watchdog: Watchdog,
    lifecycle: Lifecycle,
    supervisor: Option<Children>,
}

#[derive(Message)]
#[rtype(result = "Addr<SupervisorActor>")]
struct Begin;

impl Actor for Root {
    type Context = Context<Self>;
}

impl Handler<Begin> for Root {
    type Result = MessageResult<Begin>;

    fn handle(&mut self, _: Begin, ctx: &mut Context<Self>) -> Self::Result {
        let mut children = Children::new(self.limits.clone(), self.watchdog.clone());
        let (limits, watchdog, lifecycle) = (self.limits.clone(), self.watchdog.clone(), self.lifecycle.clone());
        let supervisor = children.start("supervisor", &Arbiter::current(), ctx.address().recipient(), move || {
            SupervisorActor::new(Children::new(limits, watchdog), lifecycle)
        });
        self.supervisor = Some(children);
        MessageResult(supervisor)
    }
}

impl Handler<ChildExited> for Root {
    type Result = ();

    fn handle(&mut self, child: ChildExited, ctx: &mut Context<Self>) {
        let Some(children) = self.supervisor.as_mut() else { return };
        match children.exited(child.slot, &child.exit, Instant::now()) {
            Verdict::RestartAfter(pause) => {
                events::actor_restarted("supervisor", "supervisor", &child.exit);
                ctx.run_later(pause, move |root, _| {
                    if let Some(children) = root.supervisor.as_mut() {
                        children.resume(child.slot, Instant::now());
                    }
                });
            }
            Verdict::Escalate => self.lifecycle.fail(format!("supervisor failed too often, at last: {}", child.exit)),
        }
    }
}
