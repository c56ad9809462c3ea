//! `Tree`: starts everything that runs tasks, in order, and takes it down again: Heartbeat → ProxyPool → Scheduler → Pods.
//!
//! In: the process's dependencies and a plan. Out: a running tree, which [`Tree::drain`] ends: claim nothing more, let tasks
//! finish within the grace time, give the rest back, deregister.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::claimer::{Claimer, Rules};
use super::execute::Executor;
use super::heartbeat::Heartbeat;
use super::ledger::{Ledger, Stop};
use super::lifecycle::{Lifecycle, Phase};
use super::plan::Plan;
use super::proxy_pool::{ProxyPool, ProxyPoolDeps};
use super::shared::Shared;
use super::supervisor::{Branches, StartProxyPool};
use super::watchdog::Watchdog;
use super::{resources, root};
use crate::config::Config;
use crate::db::{Db, listen, tasks, workers};
use crate::domain::task::Held;
use crate::stealth::ProxySource;
use crate::{events, handlers};

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
        let (supervisor, over) =
            root::start(&config, &watchdog, &lifecycle, runtime.clone()).await?.ok_or(StartError::Actors)?;

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

    /// Whether this process runs tasks at all.
    pub fn has_workers(&self) -> bool {
        !self.worker_ids.is_empty()
    }

    pub fn proxies(&self) -> &ProxyPool {
        &self.proxies
    }

    /// Ends the tree. The cause, when something in it had failed.
    pub async fn drain(mut self) -> Option<String> {
        let Shared { lifecycle, ledger, .. } = &self.shared;
        lifecycle.advance(Phase::Draining);
        events::draining(ledger.count(), self.shared.config.worker.grace);
        tokio::select! {
            () = ledger.empty() => {}
            () = lifecycle.reached(Phase::Releasing) => {}
            () = tokio::time::sleep(self.shared.config.worker.grace) => {}
        }
        let at_once = lifecycle.phase() >= Phase::Releasing;
        lifecycle.advance(Phase::Releasing);
        ledger.close(Stop::Release);
        if tokio::time::timeout(self.release_within(at_once), ledger.empty()).await.is_err() {
            self.put_back(ledger.take_all()).await;
        }
        self.proxies.flush(Duration::from_secs(2)).await;
        lifecycle.advance(Phase::Over);
        self.deregister().await;
        if let Some(over) = self.over.take() {
            let _ = over.send(());
        }
        self.shared.lifecycle.cause()
    }

    /// A settlement that is under way may end, unless somebody said twice that it is to stop now.
    fn release_within(&self, at_once: bool) -> Duration {
        let config = &self.shared.config;
        let patience = config.supervision.stop_grace;
        if at_once { patience } else { patience.max(config.database.transaction_timeout) }
    }

    /// What does not stop is put back over its head: its fence keeps it from writing.
    async fn put_back(&self, held: Vec<Held>) {
        events::stopped_over_their_heads(held.len());
        let recovered = async { tasks::recover_held(&self.shared.db.client().await?, &held, false).await };
        if let Err(error) = recovered.await {
            events::release_incomplete(held.len(), &error);
        }
    }

    async fn deregister(&self) {
        let db = &self.shared.db;
        let gone = async { workers::deregister(&db.client().await?, &self.worker_ids).await };
        if let Err(error) = gone.await {
            events::worker_not_registered("all", &error);
        }
    }
}
