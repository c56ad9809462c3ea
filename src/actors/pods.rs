//! `Pods`: the parts of a process that runs tasks, beside the scheduler: heartbeat, proxy pool, claimer and
//! pods of workers, started in this order.
//!
//! In: the tree's dependencies, its supervisor, a plan with pods. Out: workers that claim, and a drain that
//! puts the rest of the tasks back. It must not know what tasks do.

mod decommissioned_workers;
pub mod deps;
pub mod pod;
mod recovery;
mod registration;
pub mod task;
pub mod worker;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use tokio::sync::watch;

use super::load;
use super::plan::WorkerPlan;
use super::proxy_pool::{FetchCountsWriter, ProxyPool, ProxyPoolDeps};
use super::supervisor::{StartPods, StartProxyPool, SupervisorActor};
use super::tree::{StartError, TreeDeps};
use crate::handlers::TaskServices;
use crate::stealth::{ProxySource, Sessions};
use db::{DbError, listen, tasks};
use decommissioned_workers::DecommissionedWorkers;
use deps::ActorDeps;
use domain::pause::Pauses;
use domain::task::{Blame, TaskLease};
use queue::claimer::{Claimer, ClaimerDeps};
use queue::execute::Executor;
use queue::heartbeat::Heartbeat;
use queue::held_tasks::{HeldTasks, Stop};
use queue::pauses::watch_pauses;
use settings::LiveConfig;
use supervision::lifecycle::{DrainLimits, Lifecycle, MAX_LAST_WRITES, Phase};
use supervision::watchdog::Watchdog;
use telemetry::events;

pub struct Pods {
    deps: ActorDeps,
    proxies: ProxyPool,
    sessions: Sessions,
    fetch_counts: FetchCountsWriter,
    workers: Vec<WorkerPlan>,
}

/// The tasks that a process held when its drain began, by their ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrainCounts {
    pub ended: usize,
    /// Tasks that were put back into the queue.
    pub given_back: usize,
}

impl Pods {
    pub async fn start<E>(
        deps: TreeDeps,
        supervisor: &Addr<SupervisorActor>,
        watchdog: Watchdog,
        lifecycle: Lifecycle,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<TaskServices, E>,
    ) -> Result<Pods, StartError<E>> {
        let TreeDeps { config, live, db, runtime, clock, plan, started_at, .. } = deps;
        let times = config.lease_times();
        let held_tasks = HeldTasks::default();
        let heartbeat = Heartbeat {
            server: db.server().clone(),
            times,
            beat_grace: config.beat_grace(),
            lifecycle: lifecycle.clone(),
            held_tasks: held_tasks.clone(),
            restart_limit: (&config.supervision).into(),
        };
        heartbeat.start()?;

        let pool_deps = ProxyPoolDeps::new(db.clone(), config.proxies.clone(), config.secrets.keys(), clock);
        let fetch_counts = pool_deps.fetch_counts.clone();
        let pool = supervisor.send(StartProxyPool(pool_deps.clone())).await.map_err(|_| StartError::Actors)?;
        let proxies = ProxyPool::new(pool, &pool_deps);
        let services = Arc::new(services(Arc::new(proxies.clone())).map_err(StartError::Services)?);
        tokio::spawn(keep_sharing_hosts(services.sessions.clone(), config.proxies.flush_every, lifecycle.clone()));
        let sessions = services.sessions.clone();
        tokio::spawn(fetch_counts.clone().keep_writing(lifecycle.clone()));
        let pauses = watch_pauses(&db, lifecycle.clone()).await;
        tokio::spawn(keep_rereading_hosts(services.sessions.clone(), pauses.clone()));
        let claimer = Claimer::start(ClaimerDeps {
            db: db.clone(),
            times,
            lifecycle: lifecycle.clone(),
            held_tasks: held_tasks.clone(),
            proxies: proxies.state(),
            can_write_payloads: services.payloads.can_write(),
            pauses: pauses.clone(),
            restart_limit: (&config.supervision).into(),
        });
        let deps = ActorDeps {
            wake_ups: listen::listen(db.server(), tasks::WAKE_CHANNEL),
            load: load::start_sampling(live.clone(), held_tasks.clone()),
            decommissioned: DecommissionedWorkers::new(&plan, lifecycle.clone()),
            executor: Executor::new(
                db.clone(),
                claimer.clone(),
                services,
                config.clone(),
                lifecycle.clone(),
                pauses.clone(),
            ),
            pauses,
            runtime: runtime.handle().clone(),
            owned_runtime: runtime,
            config,
            live,
            db,
            times,
            lifecycle,
            registry: Arc::default(),
            started_at,
            held_tasks,
            claimer,
            watchdog,
        };
        let workers: Vec<WorkerPlan> = plan.pods.iter().flat_map(|pod| &pod.workers).cloned().collect();
        tokio::spawn(keep_counting_slots(deps.live.clone(), workers.len(), deps.lifecycle.clone()));
        let pods = StartPods { deps: deps.clone(), pods: plan.pods };
        supervisor.send(pods).await.map_err(|_| StartError::Actors)?;
        Ok(Pods { deps, proxies, sessions, fetch_counts, workers })
    }

    pub fn proxies(&self) -> &ProxyPool {
        &self.proxies
    }

    /// Lets tasks finish within the grace time, puts the rest back and deregisters. The process is draining
    /// already.
    pub async fn drain(&self, limits: DrainLimits) -> DrainCounts {
        let ActorDeps { lifecycle, held_tasks, .. } = &self.deps;
        let held = held_tasks.count();
        events::draining(held, limits.grace);
        tokio::select! {
            () = held_tasks.until_empty() => {}
            () = lifecycle.reached(Phase::Releasing) => {}
            () = tokio::time::sleep(limits.grace) => {}
        }
        lifecycle.advance(Phase::Releasing);
        let given_back = held_tasks.count();
        held_tasks.stop_all(Stop::Release);
        // a settlement that is under way may end
        let _ = tokio::time::timeout(limits.stop_grace, held_tasks.until_empty()).await;
        let put_back = self.put_back(self.deps.held_tasks.take_all());
        let hosts = tokio::time::timeout(MAX_LAST_WRITES, self.sessions.exchange_hosts());
        let _ =
            tokio::join!(put_back, self.proxies.flush(MAX_LAST_WRITES), self.deregister(), hosts, self.write_counts());
        DrainCounts { ended: held.saturating_sub(given_back), given_back }
    }

    /// Puts tasks back whose bodies did not stop: the fence keeps those bodies from writing.
    async fn put_back(&self, leases: Vec<TaskLease>) {
        if leases.is_empty() {
            return;
        }
        let put_back = async { tasks::recover_held(&self.deps.db.client().await?, &leases, Blame::NoTask).await };
        match within_last_writes(put_back).await {
            Ok(_) => events::tasks_force_released(leases.len()),
            Err(error) => events::release_incomplete(leases.len(), &error),
        }
    }

    async fn write_counts(&self) {
        if let Err(error) = within_last_writes(self.fetch_counts.write()).await {
            events::fetch_counts_not_written(&error, false);
        }
    }

    async fn deregister(&self) {
        let deregistered = async {
            let _writes_have_ended = self.deps.registry.write().await;
            registration::deregister(&self.deps.db, &self.workers).await
        };
        if let Err(error) = within_last_writes(deregistered).await {
            let names: Vec<&str> = self.workers.iter().map(|worker| worker.friendly_name.as_str()).collect();
            events::workers_not_deregistered(&names.join(", "), &error);
        }
    }
}

/// Shares the sessions' observations of hosts every `every`, until the process is over.
async fn keep_counting_slots(live: LiveConfig, workers: usize, lifecycle: Lifecycle) {
    let mut config = live.subscribe();
    loop {
        let slots = config.borrow_and_update().config.topology.slots;
        events::workers_planned(workers, workers * slots);
        tokio::select! {
            () = lifecycle.reached(Phase::Over) => return,
            _ = config.changed() => {}
        }
    }
}

async fn keep_sharing_hosts(sessions: Sessions, every: Duration, lifecycle: Lifecycle) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => sessions.exchange_hosts().await,
            () = lifecycle.reached(Phase::Over) => return,
        }
    }
}

/// Reads the states of hosts again when one is paused or resumed, until the process is over.
async fn keep_rereading_hosts(sessions: Sessions, mut pauses: watch::Receiver<Pauses>) {
    let mut known = HashSet::new();
    while pauses.changed().await.is_ok() {
        let paused: HashSet<String> = pauses.borrow_and_update().hosts().map(str::to_owned).collect();
        for host in known.symmetric_difference(&paused) {
            sessions.reread_host(host).await;
        }
        known = paused;
    }
}

async fn within_last_writes<T>(write: impl Future<Output = Result<T, DbError>>) -> Result<T, DbError> {
    let silent = |_| DbError::Unavailable(format!("no answer within {MAX_LAST_WRITES:?}"));
    tokio::time::timeout(MAX_LAST_WRITES, write).await.map_err(silent)?
}
