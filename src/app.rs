//! `App`: one running drover: every long-lived dependency, built once, in order, and taken down in reverse.
//!
//! In: a configuration, a migrated database and what this process is to run. Used by cli; actors and api know parts of it.

pub mod data;
pub mod names;
mod services;

use std::sync::Arc;

use thiserror::Error;
use tokio::runtime::Runtime;

use crate::actors::lifecycle::{Lifecycle, Phase};
use crate::actors::plan::Plan;
use crate::actors::proxy_pool::ProxyPoolDeps;
use crate::actors::tree::{Parts, StartError, Tree};
use crate::clock::Clock;
use crate::config::Config;
use crate::db::{Db, DbError, installation, schedules, tasks};
use crate::events;
use crate::storage::Payloads;
use services::services;

pub use services::ServicesError;

pub struct App {
    tree: Tree,
}

#[derive(Debug, Error)]
pub enum AppError {
    #[error("the process could not be started")]
    Db(#[from] DbError),
    /// A file or address that the configuration names is wrong.
    #[error("{0}")]
    Services(ServicesError),
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
    /// Recovers what died before, makes the default schedules where they run here, and starts the tree.
    pub async fn start(config: Arc<Config>, db: Db, runtime: Arc<Runtime>, plan: Plan) -> Result<App, AppError> {
        let recovered = tasks::recover(&db.client().await?, None).await?;
        events::tasks_recovered(recovered.requeued as u64, recovered.failed as u64);
        if plan.schedules {
            schedules::ensure_defaults(&db.client().await?).await?;
        }
        if !plan.pods.is_empty() {
            claim_files(&config, &db).await?;
        }
        let clock = Clock::system();
        let proxies = ProxyPoolDeps::new(db.clone(), config.proxies.clone(), clock.clone());
        let (settings, database) = (config.clone(), db.clone());
        let make = move |proxies| services(&settings, &database, &clock, proxies);
        let tree = Tree::start(Parts { config, db, runtime, proxies, plan }, make).await?;
        Ok(App { tree })
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn lifecycle(&self) -> &Lifecycle {
        self.tree.lifecycle()
    }

    /// Comes back when something here has failed for good.
    pub async fn failed(&self) {
        self.lifecycle().reached(Phase::Draining).await;
    }

    /// Lets tasks finish within the grace time, gives the rest back; `at_once` need not wait for them. The cause, when something
    /// had failed.
    pub async fn stop(self, at_once: impl Future<Output = ()> + Send + 'static) -> Option<String> {
        let lifecycle = self.lifecycle().clone();
        let second = tokio::spawn(async move {
            at_once.await;
            lifecycle.advance(Phase::Releasing);
        });
        let cause = self.tree.drain().await;
        second.abort();
        cause
    }
}

/// A disk that is full or away is told by whoever writes to it.
async fn claim_files(config: &Config, db: &Db) -> Result<(), DbError> {
    let (owner, root) = (installation::id(&db.client().await?).await?, config.storage_root());
    if let Ok(false) = Payloads::new(root).claim(&owner).await {
        events::storage_shared(root);
    }
    Ok(())
}
