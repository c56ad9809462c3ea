//! `Pods`: the parts of a process that runs tasks, beside the scheduler: heartbeat, proxy pool, claimer and
//! pods of workers, started in this order.
//!
//! In: the tree's dependencies, its supervisor, a plan with pods. Out: workers that claim, and a drain that
//! puts the rest of the tasks back. It must not know what tasks do.

pub mod deps;
mod own_workers;
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

use super::plan::{Follows, PodPlan};
use super::proxy_pool::{FetchCountsWriter, ProxyPool, ProxyPoolDeps};
use super::supervisor::{RetirePods, StartPods, StartProxyPool, SupervisorActor};
use super::tree::{StartError, TreeDeps};
use super::{load, names};
use crate::handlers::ChangePublisher;
use crate::stealth::{ProxySource, Sessions};
use db::connection::listen::Listener;
use db::{DbError, tasks};
use deps::{ActorDeps, TaskParts};
use domain::task::pause::Pauses;
use domain::task::{Blame, TaskLease};
use own_workers::OwnWorkers;
use queue::claimer::{Claimer, ClaimerDeps};
use queue::execute::Executor;
use queue::heartbeat::Heartbeat;
use queue::held_tasks::{HeldTasks, Stop};
use queue::pauses::watch_pauses;
use settings::{Config, LoadedConfig};
use supervision::background::{Background, BackgroundLoop};
use supervision::lifecycle::{DrainLimits, Lifecycle, MAX_LAST_WRITES, Phase};
use supervision::watchdog::Watchdog;
use telemetry::events;

/// Pause between two attempts to start more pods.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub struct Pods {
    deps: ActorDeps,
    proxies: ProxyPool,
    sessions: Sessions,
    fetch_counts: FetchCountsWriter,
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
        background: Background,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<TaskParts, E>,
    ) -> Result<Pods, StartError<E>> {
        let TreeDeps { config, live, db, runtime, clock, plan, started_at, .. } = deps;
        let times = config.lease_times();
        let held_tasks = HeldTasks::default();
        let lifecycle = background.lifecycle().clone();
        let heartbeat = Heartbeat {
            server: db.server().clone(),
            times,
            beat_grace: config.beat_grace(),
            background: background.clone(),
            held_tasks: held_tasks.clone(),
        };
        heartbeat.start()?;

        let pool_deps =
            ProxyPoolDeps::new(db.clone(), live.part(|config| config.proxies.clone()), config.secrets.keys(), clock);
        let fetch_counts = pool_deps.fetch_counts.clone();
        let pool = supervisor.send(StartProxyPool(pool_deps.clone())).await.map_err(|_| StartError::Actors)?;
        let proxies = ProxyPool::new(pool, &pool_deps);
        let parts = services(Arc::new(proxies.clone())).map_err(StartError::Services)?;
        let TaskParts { work, sessions, change_publisher, can_write_payloads } = parts;
        publish_changes(&background, change_publisher);
        let sharing = (sessions.clone(), config.proxies.flush_every, lifecycle.clone());
        background
            .start("exchange of hosts", move || keep_sharing_hosts(sharing.0.clone(), sharing.1, sharing.2.clone()));
        let writing = (fetch_counts.clone(), lifecycle.clone());
        background.start("writer of fetch counts", move || writing.0.clone().keep_writing(writing.1.clone()));
        let pauses = watch_pauses(&db, &background).await;
        let rereading = (sessions.clone(), pauses.clone());
        background.start("reader of hosts", move || keep_rereading_hosts(rereading.0.clone(), rereading.1.clone()));
        let claimer = Claimer::start(ClaimerDeps {
            db: db.clone(),
            times,
            background: background.clone(),
            held_tasks: held_tasks.clone(),
            proxies: proxies.state(),
            can_write_payloads,
            pauses: pauses.clone(),
        });
        let (listener, wake_ups) = Listener::new(db.server(), tasks::WAKE_CHANNEL);
        background.start("listener for tasks", move || listener.clone().run());
        let deps = ActorDeps {
            wake_ups,
            load: load::start_sampling(live.clone(), held_tasks.clone(), &background),
            own_workers: OwnWorkers::new(&config, &plan, lifecycle.clone()),
            follows: plan.follows,
            executor: Executor::new(db.clone(), claimer.clone(), work, live.clone(), lifecycle.clone(), pauses.clone()),
            pauses,
            runtime: runtime.handle().clone(),
            owned_runtime: runtime,
            config,
            live,
            db,
            times,
            lifecycle,
            background,
            registry: Arc::default(),
            started_at,
            held_tasks,
            claimer,
            watchdog,
        };
        let counting = deps.clone();
        deps.background.start("count of slots", move || keep_counting_slots(counting.clone()));
        if plan.follows == Follows::PodsAndWorkers {
            let (supervisor, deps, pods) = (supervisor.clone(), deps.clone(), plan.pods.clone());
            let live = deps.live.subscribe();
            deps.background.clone().start("count of pods", PodCount { supervisor, deps, live, pods });
        }
        let pods = StartPods { deps: deps.clone(), pods: plan.pods };
        supervisor.send(pods).await.map_err(|_| StartError::Actors)?;
        Ok(Pods { deps, proxies, sessions, fetch_counts })
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
            registration::deregister(&self.deps.db, &self.deps.own_workers.all()).await
        };
        if let Err(error) = within_last_writes(deregistered).await {
            let workers = self.deps.own_workers.all();
            let names: Vec<&str> = workers.iter().map(|worker| worker.friendly_name.as_str()).collect();
            events::workers_not_deregistered(&names.join(", "), &error);
        }
    }
}

/// Publishes changes until the process is over.
pub fn publish_changes(background: &Background, publisher: ChangePublisher) {
    let lifecycle = background.lifecycle().clone();
    background.start("publisher of changes", move || {
        let (publisher, lifecycle) = (publisher.clone(), lifecycle.clone());
        async move {
            tokio::select! {
                () = publisher.run() => {}
                () = lifecycle.reached(Phase::Over) => {}
            }
        }
    });
}

/// Reports how many workers and slots there are, until the process is over.
async fn keep_counting_slots(deps: ActorDeps) {
    let (mut config, mut workers) = (deps.live.subscribe(), deps.own_workers.subscribe());
    loop {
        let slots = config.borrow_and_update().config.slots();
        let count = workers.borrow_and_update().len();
        events::workers_planned(count, count * slots);
        tokio::select! {
            () = deps.lifecycle.reached(Phase::Over) => return,
            _ = config.changed() => {}
            _ = workers.changed() => {}
        }
    }
}

/// Starts and retires pods when `topology.pods` changes, until the process drains.
struct PodCount {
    supervisor: Addr<SupervisorActor>,
    deps: ActorDeps,
    live: watch::Receiver<Arc<LoadedConfig>>,
    pods: Vec<PodPlan>,
}

impl BackgroundLoop for PodCount {
    async fn run(&mut self) {
        loop {
            tokio::select! {
                () = self.deps.lifecycle.reached(Phase::Draining) => return,
                changed = self.live.changed() => if changed.is_err() { return },
            }
            let config = self.live.borrow_and_update().config.clone();
            let retired = self.pods.split_off(config.topology.pods.min(self.pods.len()));
            if !retired.is_empty() {
                self.supervisor.do_send(RetirePods(retired.into_iter().map(|pod| pod.name).collect()));
            }
            let missing = config.topology.pods - self.pods.len();
            let new = tokio::select! {
                () = self.deps.lifecycle.reached(Phase::Draining) => return,
                new = new_pods(&self.deps, &config, missing, &self.pods) => new,
            };
            self.pods.extend_from_slice(&new);
            if !new.is_empty() {
                self.supervisor.do_send(StartPods { deps: self.deps.clone(), pods: new });
            }
        }
    }
}

/// Pods with names that no process uses; waits for a database that does not answer.
async fn new_pods(deps: &ActorDeps, config: &Config, missing: usize, pods: &[PodPlan]) -> Vec<PodPlan> {
    if missing == 0 {
        return Vec::new();
    }
    let mut is_logged = false;
    loop {
        let choose = |in_use: &[String]| {
            let own = pods.iter().map(|pod| pod.name.clone());
            let names: Vec<String> = in_use.iter().cloned().chain(own).collect();
            names::pods(config, missing, &names)
        };
        match names::take(&deps.db, &config.worker.host, choose).await {
            Ok(pods) => return pods,
            Err(error) if !is_logged => events::pods_not_started(missing, &error),
            Err(_) => {}
        }
        is_logged = true;
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// Shares the sessions' observations of hosts every `every`, until the process is over.
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
