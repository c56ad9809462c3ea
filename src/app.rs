//! `App`: one running drover: builds the long-lived dependencies once, in order, and stops them in reverse.
//!
//! In: a configuration, a migrated database and the plan of what this process runs. The parts that may wait
//! for the database come first ([`PreparedApp`]) and may be dropped at any moment; the parts that run tasks
//! are started after them, and have to be stopped. Used by cli; must not know api.

pub mod data;
pub mod database;
pub mod hosts;
mod media_hosts;
pub mod predecessors;
pub mod robots;
mod services;

use std::sync::Arc;

use thiserror::Error;
use tokio::runtime::Runtime;

use crate::actors::plan::Plan;
use crate::actors::proxy_pool::ProxyPool;
use crate::actors::scheduler::chores::recover;
use crate::actors::tree::{Drained, StartError, Tree, TreeDeps};
use crate::downloads::{DownloadQueue, Downloads};
use crate::handlers::housekeeping::Housekeeping;
use db::{Client, Db, DbError, schedules, schema, workers};
use foundation::clock::Clock;
pub use services::{ServicesError, services};
use settings::LiveConfig;
use storage::{Ownership, Payloads, Place, PlaceError};
use supervision::background::Background;
use supervision::lifecycle::{Lifecycle, Phase};
use telemetry::events;

pub struct App {
    tree: Tree,
    images: Option<(Downloads, DownloadQueue)>,
}

/// All that an [`App`] needs of the database before it starts. It holds no task and may be dropped.
pub struct PreparedApp(TreeDeps);

#[derive(Debug, Error)]
pub enum AppError {
    #[error("the database failed while the process started")]
    Db(#[from] DbError),
    /// A file or URL that the configuration names is wrong.
    #[error("{0}")]
    Services(ServicesError),
    #[error(transparent)]
    Storage(#[from] PlaceError),
    #[error("the actors could not be started: {0}")]
    Actors(String),
}

impl From<StartError<ServicesError>> for AppError {
    fn from(error: StartError<ServicesError>) -> Self {
        match error {
            StartError::Services(error) => AppError::Services(error),
            other => AppError::Actors(other.to_string()),
        }
    }
}

impl App {
    /// Recovers tasks whose lease ran out. Where schedules run in this process, makes the default ones and
    /// closes job runs that the older schema left running. Starts nothing.
    pub async fn prepare(live: LiveConfig, db: Db, runtime: Arc<Runtime>, plan: Plan) -> Result<PreparedApp, AppError> {
        let config = Arc::new(live.current().config.clone());
        recover::recover(&db, &config).await?;
        if plan.schedules {
            schedules::ensure_defaults(&db.client().await?, &crate::platforms::default_schedules()).await?;
            schema::legacy::close_runs(&db.client().await?).await?;
        }
        let payloads = payloads(Place::of(&config)?, &db.client().await?, !plan.pods.is_empty()).await?;
        let started_at = workers::now(&db.client().await?).await?;
        let housekeeping = Housekeeping { db: db.clone(), payloads };
        Ok(PreparedApp(TreeDeps { config, live, db, runtime, clock: Clock::system(), housekeeping, plan, started_at }))
    }

    /// Proxies; None where no tasks run.
    pub fn proxies(&self) -> Option<&ProxyPool> {
        self.tree.proxies()
    }

    /// Queue of downloads; None where no images are downloaded.
    pub fn downloads(&self) -> Option<&DownloadQueue> {
        self.images.as_ref().map(|(_, queue)| queue)
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        self.tree.lifecycle()
    }

    /// Starts loops that end with this process, or end it.
    pub fn background(&self) -> &Background {
        self.tree.background()
    }

    /// Returns when the tree has failed for good.
    pub async fn until_failed(&self) {
        self.lifecycle().reached(Phase::Draining).await;
    }

    /// Lets tasks finish within the grace time and gives the rest back; `at_once` ends the grace time.
    pub async fn stop(self, at_once: impl Future<Output = ()>) -> Drained {
        let lifecycle = self.lifecycle().clone();
        let images = async {
            if let Some((downloads, _)) = self.images {
                downloads.stop().await;
            }
        };
        let mut drain = std::pin::pin!(async { tokio::join!(self.tree.drain(), images).0 });
        tokio::select! {
            drained = &mut drain => return drained,
            () = at_once => lifecycle.advance(Phase::Releasing),
        }
        drain.await
    }
}

impl PreparedApp {
    /// Starts the tree. From here on there may be tasks to give back.
    pub async fn start(self) -> Result<App, AppError> {
        let PreparedApp(deps) = self;
        let (config, Housekeeping { db, payloads }) = (deps.config.clone(), deps.housekeeping.clone());
        let (clock, live) = (deps.clock.clone(), deps.live.clone());
        let mut images = None;
        let make = |proxies| {
            let services = services(&live, &db, payloads, &clock, proxies)?;
            images = services::downloads(&config, &services)?;
            Ok(services.into())
        };
        let tree = Tree::start(deps, make).await?;
        let images = images.map(|(queue, deps)| (Downloads::start(queue.clone(), deps, tree.background()), queue));
        Ok(App { tree, images })
    }
}

/// The payload files of this database, with a warning when their place is wrong. `registers`: whether tasks
/// run in this process, so that the place is registered as this database's. An unavailable one does not keep
/// the process from starting: tasks that need it are snoozed.
async fn payloads(place: Place, client: &Client, registers: bool) -> Result<Payloads, DbError> {
    let payloads = Payloads::new(place.clone(), schema::installation::storage_owner(client).await?);
    if !registers {
        return Ok(payloads);
    }
    if db::payloads::any(client).await? {
        payloads.expect_owner();
    }
    match payloads.register_owner().await {
        Ok(Ownership::Exclusive | Ownership::New) => {}
        Ok(Ownership::Shared) => events::storage_shared(&place),
        Err(error) => events::storage_unavailable(&error),
    }
    Ok(payloads)
}
