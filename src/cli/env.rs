//! `Env`: what every command may use: the configuration, stdout, the runtime, and the database once it is asked for.

use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use super::output::Output;
use crate::config::{Config, Loaded};
use crate::db::open::{self, OpenError, Opened};
use crate::db::{Db, migrate};

pub struct Env {
    pub config: Arc<Config>,
    /// The configuration with its origins.
    pub loaded: Loaded,
    pub out: Output,
    /// The process's one runtime; actors' threads run on it too.
    pub runtime: Arc<Runtime>,
    database: OnceCell<Opened>,
}

impl Env {
    pub(super) fn new(loaded: Loaded, out: Output, runtime: Arc<Runtime>) -> Self {
        Env { config: Arc::new(loaded.config.clone()), loaded, out, runtime, database: OnceCell::new() }
    }

    /// The database with the schema that this program needs. The private server is started when it is the one.
    pub async fn db(&self) -> anyhow::Result<Db> {
        let db = &self.database().await?.db;
        migrate::up(db).await?;
        Ok(db.clone())
    }

    /// The database as it is, whatever its schema.
    pub async fn database(&self) -> Result<&Opened, OpenError> {
        self.database.get_or_try_init(|| open::open(&self.config)).await
    }
}
