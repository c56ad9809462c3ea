//! `Env`: what every command may use: the configuration, stdout, the runtime, and the database, opened at its first use.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use super::Stop;
use super::output::Output;
use crate::app::database::{self, OpenDatabase, OpenError};
use crate::config::{Config, DatabaseUrl, LoadedConfig};
use crate::db::{Db, migrate};

pub struct Env {
    pub config: Arc<Config>,
    /// The configuration with its origins.
    pub loaded: LoadedConfig,
    pub out: Output,
    /// The process's one runtime; actors' threads run on it too.
    pub runtime: Arc<Runtime>,
    /// The data directory that `--dir` names.
    pub dir: Option<PathBuf>,
    /// The signals that the process gets.
    pub stop: Stop,
    database: OnceCell<OpenDatabase>,
}

impl Env {
    pub(super) fn new(
        loaded: LoadedConfig,
        out: Output,
        runtime: Arc<Runtime>,
        stop: Stop,
        dir: Option<PathBuf>,
    ) -> Self {
        Env { config: Arc::new(loaded.config.clone()), loaded, out, runtime, stop, dir, database: OnceCell::new() }
    }

    /// The database, its schema brought up to date first. Starts the private server where there is no URL.
    pub async fn db(&self) -> anyhow::Result<Db> {
        let OpenDatabase { db, url, .. } = self.database().await?;
        migrate::up(db).await.with_context(|| DatabaseUrl::masked(url))?;
        Ok(db.clone())
    }

    /// For commands that only read: they change nothing, so an outdated schema is an error.
    pub async fn db_to_read(&self) -> anyhow::Result<Db> {
        let OpenDatabase { db, url, .. } = self.database().await?;
        migrate::require_current(db).await.with_context(|| DatabaseUrl::masked(url))?;
        Ok(db.clone())
    }

    /// The database as it is, whatever its schema.
    pub async fn database(&self) -> Result<&OpenDatabase, OpenError> {
        self.database.get_or_try_init(|| database::open(&self.config)).await
    }
}
