//! `Tree`: starts the actors of a process, in this order: watchdog, actors' thread, scheduler, and then pods;
//! and ends them.
//!
//! In: the process's dependencies and a plan. Out: a running tree, which [`Tree::drain`] ends. [`Pods`]
//! starts the actors that run tasks, and only where the plan has pods. It must not know what tasks do.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::plan::Plan;
use super::pods::deps::TaskParts;
use super::pods::{DrainCounts, Pods, publish_changes};
use super::proxy_pool::ProxyPool;
use super::scheduler::SchedulerDeps;
use super::scheduler::chore::ChoreDeps;
use super::supervisor::{StartScheduler, root};
use crate::handlers::ChangePublisher;
use crate::handlers::housekeeping::Housekeeping;
use crate::stealth::ProxySource;
use db::Db;
use foundation::clock::Clock;
use settings::{Config, LiveConfig};
use supervision::background::Background;
use supervision::lifecycle::{DrainLimits, Lifecycle, Phase};
use supervision::watchdog::Watchdog;

/// Parts that the tree is built from.
pub struct TreeDeps {
    /// Configuration as it was when the process started.
    pub config: Arc<Config>,
    pub live: LiveConfig,
    pub db: Db,
    pub runtime: Arc<Runtime>,
    pub clock: Clock,
    pub housekeeping: Housekeeping,
    pub plan: Plan,
    /// The database's time now.
    pub started_at: DateTime<Utc>,
}

pub struct Tree {
    lifecycle: Lifecycle,
    background: Background,
    limits: DrainLimits,
    /// Pods; None where no tasks run.
    pods: Option<Pods>,
    end_actors: Option<oneshot::Sender<()>>,
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

/// The end of a tree.
pub struct Drained {
    pub tasks: DrainCounts,
    /// Why it had failed, if it had.
    pub cause: Option<String>,
}

impl Tree {
    /// `services` makes the handlers' dependencies around the proxy pool; it is called where tasks run.
    pub async fn start<E>(
        deps: TreeDeps,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<TaskParts, E>,
    ) -> Result<Tree, StartError<E>> {
        let lifecycle = Lifecycle::default();
        let started = Tree::start_parts(deps, lifecycle.clone(), services).await;
        if started.is_err() {
            // ends the threads that had been started
            lifecycle.advance(Phase::Over);
        }
        started
    }

    async fn start_parts<E>(
        deps: TreeDeps,
        lifecycle: Lifecycle,
        services: impl FnOnce(Arc<dyn ProxySource>) -> Result<TaskParts, E>,
    ) -> Result<Tree, StartError<E>> {
        let watchdog = Watchdog::start(&deps.config, lifecycle.clone(), deps.runtime.handle().clone())?;
        let started = root::start(&deps.config, &watchdog, &lifecycle, deps.runtime.clone()).await?;
        let (supervisor, end_actors) = started.ok_or(StartError::Actors)?;

        let scheduler = StartScheduler(scheduler_deps(&deps));
        supervisor.send(scheduler).await.map_err(|_| StartError::Actors)?;
        let limits = DrainLimits::from(deps.config.as_ref());
        let background = Background::new(&deps.config.supervision, lifecycle.clone());
        let pods = match deps.plan.pods.is_empty() {
            true => {
                publish_changes(&background, ChangePublisher::new(deps.db.clone()));
                None
            }
            false => Some(Pods::start(deps, &supervisor, watchdog, background.clone(), services).await?),
        };
        Ok(Tree { background, lifecycle, limits, pods, end_actors: Some(end_actors) })
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Starts loops that end with this process, or end it.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Proxies; None where no tasks run.
    pub fn proxies(&self) -> Option<&ProxyPool> {
        self.pods.as_ref().map(Pods::proxies)
    }

    /// Ends the tree: claims nothing more, lets tasks finish within the grace time, gives the rest back.
    /// Returns what became of its tasks, and the cause when something in it had failed. However long the
    /// database or a task takes, it is over within the grace time and [`DrainLimits::after_grace`].
    pub async fn drain(mut self) -> Drained {
        self.lifecycle.advance(Phase::Draining);
        let tasks = match &self.pods {
            Some(pods) => pods.drain(self.limits).await,
            None => DrainCounts::default(),
        };
        self.lifecycle.advance(Phase::Over);
        if let Some(end) = self.end_actors.take() {
            let _ = end.send(());
        }
        Drained { tasks, cause: self.lifecycle.cause() }
    }
}

fn scheduler_deps(deps: &TreeDeps) -> SchedulerDeps {
    let TreeDeps { live, db, runtime, housekeeping, plan, .. } = deps;
    SchedulerDeps {
        chores: ChoreDeps { live: live.clone(), db: db.clone(), housekeeping: housekeeping.clone() },
        runs_schedules: plan.schedules,
        runs_tasks: !plan.pods.is_empty(),
        runtime: runtime.handle().clone(),
    }
}
