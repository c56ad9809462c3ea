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
use crate::config::{Config, Overlay};
use crate::db::{Db, DbError, schedules, tasks};
use crate::events;
use crate::handlers::Services;
use crate::stealth::{self, AllowList, BadFile, Identities, ProxySource, Sessions, States, TlsSetupError};
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
) -> Result<impl FnOnce(Arc<dyn ProxySource>) -> Result<Services, TlsSetupError> + use<>, BadFile> {
    let identities = Identities::load(text(&config.overlays.identities))?;
    let states = States::load(text(&config.overlays.states))?;
    let (config, db, clock) = (config.clone(), db.clone(), clock.clone());
    Ok(move |proxies| {
        let sessions = Sessions::new(stealth::Parts {
            proxies,
            identities,
            states,
            allowed_hosts: AllowList::new(allowed_hosts(&config)),
            http: config.http.clone(),
            rotations: config.proxies.clone(),
            politeness: config.politeness.clone(),
            clock: clock.clone(),
        })?;
        let payloads = Payloads::new(config.storage_root());
        Ok(Services { db, sessions, payloads, clock, config: config.platform.clone() })
    })
}

/// The platforms' own hosts and those the operator adds; a store's registered hosts come with its sessions.
fn allowed_hosts(config: &Config) -> Vec<String> {
    let platforms = [config.platform.dutchie.base_url.clone()];
    platforms.into_iter().chain(config.http.host_allowlist.iter().cloned()).collect()
}

fn text(overlay: &Option<Overlay>) -> Option<&str> {
    overlay.as_ref().map(|overlay| overlay.text.as_str())
}
