//! `Tree`: starts everything that runs tasks, in order, and takes it down again: Heartbeat → ProxyPool → Scheduler → Pods.
//!
//! In: the process's dependencies and a plan. Out: a running tree, which [`Tree::drain`] ends: claim nothing more, let tasks
//! finish within the grace time, give the rest back, deregister.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::claimer::{Claimer, ClaimerDeps};
use super::departures::Departures;
use super::deps::ActorDeps;
use super::execute::Executor;
use super::heartbeat::Heartbeat;
use super::held_tasks::{HeldTasks, Stop};
use super::lifecycle::{Lifecycle, Phase};
use super::plan::Plan;
use super::proxy_pool::{ProxyPool, ProxyPoolDeps};
use super::supervisor::{Branches, StartProxyPool};
use super::watchdog::Watchdog;
use super::{resources, root};
use crate::config::Config;
use crate::db::{Db, listen, tasks, workers};
use crate::domain::task::TaskLease;
use crate::stealth::ProxySource;
use crate::{events, handlers};

/// What the tree is built of.
pub struct TreeDeps {
    pub config: Arc<Config>,
    pub db: Db,
    pub runtime: Arc<Runtime>,
    pub proxies: ProxyPoolDeps,
    pub plan: Plan,
    /// The database's time now.
    pub started_at: DateTime<Utc>,
}

pub struct Tree {
    deps: ActorDeps,
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
        parts: TreeDeps,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<handlers::Services, E>,
    ) -> Result<Tree, StartError<E>> {
        let TreeDeps { config, db, runtime, proxies: deps, plan, started_at } = parts;
        let lifecycle = Lifecycle::default();
        let times = config.lease_times();
        let watchdog = Watchdog::start(&config, lifecycle.clone(), runtime.handle().clone())?;
        let held_tasks = HeldTasks::default();
        let heartbeat = Heartbeat {
            server: db.server().clone(),
            times,
            lifecycle: lifecycle.clone(),
            held_tasks: held_tasks.clone(),
            restart_limit: (&config.supervision).into(),
        };
        heartbeat.start()?;
        let (supervisor, over) =
            root::start(&config, &watchdog, &lifecycle, runtime.clone()).await?.ok_or(StartError::Actors)?;

        let pool = supervisor.send(StartProxyPool(deps.clone())).await.map_err(|_| StartError::Actors)?;
        let proxies = ProxyPool::new(pool, &deps);
        let services = Arc::new(services(Arc::new(proxies.clone())).map_err(StartError::Services)?);
        let claimer = Claimer::start(ClaimerDeps {
            db: db.clone(),
            times,
            lifecycle: lifecycle.clone(),
            held_tasks: held_tasks.clone(),
            proxies: proxies.state(),
            can_store: services.payloads.can_write(),
            restart_limit: (&config.supervision).into(),
        });
        let executor = Executor::new(db.clone(), claimer.clone(), services, config.clone(), lifecycle.clone());
        let departures = Departures::new(&plan, lifecycle.clone());
        let deps = ActorDeps {
            notices: listen::listen(db.server(), tasks::WAKE_CHANNEL),
            resources: resources::watch(&config.worker, held_tasks.clone()),
            runtime: runtime.handle().clone(),
            parent_runtime: runtime,
            config,
            db,
            times,
            lifecycle,
            departures,
            started_at,
            held_tasks,
            claimer,
            executor,
            watchdog,
        };
        let worker_ids: Vec<String> =
            plan.pods.iter().flat_map(|pod| &pod.workers).map(|worker| worker.id.clone()).collect();
        events::workers_planned(worker_ids.len(), worker_ids.len() * deps.config.topology.slots);
        let branches = Branches { deps: deps.clone(), plan };
        supervisor.send(branches).await.map_err(|_| StartError::Actors)?;
        Ok(Tree { deps, proxies, worker_ids, over: Some(over) })
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        &self.deps.lifecycle
    }

    pub fn deps(&self) -> &ActorDeps {
        &self.deps
    }

    /// Whether this process runs tasks at all.
    pub fn has_workers(&self) -> bool {
        !self.worker_ids.is_empty()
    }

    pub fn proxies(&self) -> &ProxyPool {
        &self.proxies
    }

    /// Ends the tree. Returns the cause, when something in it had failed. However long the database or a task takes, it is over
    /// within the grace time and [`DrainLimits::after_grace`].
    pub async fn drain(mut self) -> Option<String> {
        let limits = DrainLimits::from(self.deps.config.as_ref());
        let ActorDeps { lifecycle, held_tasks, .. } = &self.deps;
        lifecycle.advance(Phase::Draining);
        events::draining(held_tasks.count(), limits.grace);
        tokio::select! {
            () = held_tasks.empty() => {}
            () = lifecycle.reached(Phase::Releasing) => {}
            () = tokio::time::sleep(limits.grace) => {}
        }
        lifecycle.advance(Phase::Releasing);
        held_tasks.close(Stop::Release);
        // a settlement that is under way may end
        let _ = tokio::time::timeout(limits.stop_grace, held_tasks.empty()).await;
        let _ = tokio::time::timeout(LAST_WRITES, self.write_last()).await;
        lifecycle.advance(Phase::Over);
        if let Some(over) = self.over.take() {
            let _ = over.send(());
        }
        self.deps.lifecycle.cause()
    }

    async fn write_last(&self) {
        let put_back = self.put_back(self.deps.held_tasks.take_all());
        tokio::join!(put_back, self.proxies.flush(LAST_WRITES), self.deregister());
    }

    /// Puts tasks back whose bodies did not stop: their fence keeps them from writing.
    async fn put_back(&self, leases: Vec<TaskLease>) {
        if leases.is_empty() {
            return;
        }
        events::tasks_force_released(leases.len());
        let recovered = async { tasks::recover_held(&self.deps.db.client().await?, &leases, false).await };
        if let Err(error) = recovered.await {
            events::release_incomplete(leases.len(), &error);
        }
    }

    async fn deregister(&self) {
        let db = &self.deps.db;
        let deregistered = async { workers::deregister(&db.client().await?, &self.worker_ids).await };
        if let Err(error) = deregistered.await {
            events::worker_not_registered("all", &error);
        }
    }
}

/// How long the last writes of a process may take together.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// How long a drain may take.
#[derive(Clone, Copy, Debug)]
pub struct DrainLimits {
    /// For tasks to finish.
    pub grace: Duration,
    /// For bodies to stop, and settlements to end, after that.
    pub stop_grace: Duration,
}

impl DrainLimits {
    /// From the end of the grace time to the end of the process.
    pub fn after_grace(&self) -> Duration {
        self.stop_grace + LAST_WRITES
    }
}

impl From<&Config> for DrainLimits {
    fn from(config: &Config) -> Self {
        DrainLimits { grace: config.worker.grace, stop_grace: config.supervision.stop_grace }
    }
}
