//! `App`: one running drover: every long-lived dependency, built once, in order, and taken down in reverse.
//!
//! In: a configuration, a migrated database and what this process is to run. Used by cli; actors and api know parts of it.

pub mod names;

use std::sync::Arc;

use thiserror::Error;
use tokio::runtime::Runtime;

use crate::actors::lifecycle::{Lifecycle, Phase};
use crate::actors::proxy_pool::ProxyPoolDeps;
use crate::actors::tree::{Parts, Plan, StartError, Tree};
use crate::clock::Clock;
use crate::config::Config;
use crate::db::{Db, DbError, schedules, tasks};
use crate::events;
use crate::handlers::{self, Services};
use crate::stealth::{BadFile, Identities, ProxySource, States};
use crate::storage::Payloads;

pub struct App {
    tree: Tree,
}

#[derive(Debug, Error)]
pub enum AppError {
    #[error(transparent)]
    BadFile(#[from] BadFile),
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Services(#[from] handlers::SetupError),
}

impl App {
    /// Recovers what died before, makes the default schedules where they run here, and starts the tree.
    pub async fn start(config: Arc<Config>, db: Db, runtime: Arc<Runtime>, plan: Plan) -> Result<App, AppError> {
        let recovered = tasks::recover(&db.client().await?, None).await?;
        events::tasks_recovered(recovered.requeued as u64, recovered.failed as u64);
        if plan.schedules {
            schedules::ensure_defaults(&db.client().await?).await?;
        }
        let clock = Clock::system();
        let make = services(&config, &db, &clock)?;
        let proxies = ProxyPoolDeps::new(db.clone(), config.proxies.clone(), clock);
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

/// Reads the data files now, so that a fault in them stops the start; makes the rest once the proxy pool is there.
fn services(
    config: &Arc<Config>,
    db: &Db,
    clock: &Clock,
) -> Result<impl FnOnce(Arc<dyn ProxySource>) -> Result<Services, handlers::SetupError> + use<>, BadFile> {
    let identities = Identities::load(config.overlays.identities.as_deref())?;
    let states = States::load(config.overlays.states.as_deref())?;
    let (config, db, clock) = (config.clone(), db.clone(), clock.clone());
    Ok(move |proxies| {
        let payloads = Payloads::new(config.storage_root());
        Services::new(handlers::Parts { config, db, clock, identities, states, payloads, proxies })
    })
}
