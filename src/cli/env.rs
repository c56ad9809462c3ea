//! `Env`: the environment of every command: the configuration, stdout, the runtime, and the database, opened
//! at its first use.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use super::remote::Remote;
use super::{ApiClient, CliError, Output, Stop, http};
use crate::app::database::{self, OpenDatabase, OpenError};
use api::{Actors, Health};
use db::schema::migrate::MigrateError;
use db::{Db, DbError, schema};
use settings::{Config, DatabaseUrl, LiveConfig, LoadedConfig, Sources};

/// The file of a demo in its data directory.
pub const DEMO_FILE: &str = "demo.json";

pub struct Env {
    pub config: Arc<Config>,
    /// The configuration with its origins; in a service, some of its keys follow `sources`.
    pub live: LiveConfig,
    pub sources: Sources,
    pub out: Output,
    /// The process's one runtime; actors' threads run on it too.
    pub runtime: Arc<Runtime>,
    /// The data directory that `--dir` names.
    pub dir: Option<PathBuf>,
    /// Signals to the process.
    pub stop: Stop,
    database: OnceCell<OpenDatabase>,
}

impl Env {
    pub(super) fn new(
        loaded: LoadedConfig,
        sources: Sources,
        out: Output,
        runtime: Arc<Runtime>,
        stop: Stop,
        dir: Option<PathBuf>,
    ) -> Self {
        Env {
            config: Arc::new(loaded.config.clone()),
            live: LiveConfig::new(loaded),
            sources,
            out,
            runtime,
            stop,
            dir,
            database: OnceCell::new(),
        }
    }

    /// Whether `--dir` names the directory of a demo.
    pub fn is_of_demo(&self) -> bool {
        self.dir.as_ref().is_some_and(|dir| dir.join(DEMO_FILE).exists())
    }

    /// The database, for commands that no API serves; brings its schema up to date first.
    pub async fn db(&self) -> anyhow::Result<Db> {
        self.require_own_database()?;
        self.service_db().await
    }

    /// The database for services, whose API other commands use. Starts the private server if there is no URL.
    pub async fn service_db(&self) -> anyhow::Result<Db> {
        let opened = self.database().await?;
        self.require_sound_session(opened).await?;
        schema::migrate::up_own(&opened.db).await.map_err(|error| schema_error(opened, error))?;
        Ok(opened.db.clone())
    }

    /// Behind a pooler drover sets nothing that outlives a transaction, so the account must have it.
    async fn require_sound_session(&self, opened: &OpenDatabase) -> anyhow::Result<()> {
        let wanted = schema::server_info::necessary_settings(&opened.db, &self.config.database).await;
        match wanted.map_err(|error| schema_error(opened, error.into()))? {
            None => Ok(()),
            Some(wanted) => Err(CliError::bad_config(format!(
                "drover cannot work with the settings of its account behind the pooler: run `{wanted}`, then RECONNECT in the pooler"
            ))
            .into()),
        }
    }

    /// The database for commands that only read: they change nothing, so an outdated schema is an error.
    pub async fn db_to_read(&self) -> anyhow::Result<Db> {
        self.require_own_database()?;
        self.require_data()?;
        let opened = self.database().await?;
        schema::migrate::require_current(&opened.db).await.map_err(|error| schema_error(opened, error))?;
        Ok(opened.db.clone())
    }

    /// The API, for commands that change something: a server's with `--url`, else of this process on the
    /// database.
    pub async fn api(&self) -> anyhow::Result<ApiClient> {
        match self.remote()? {
            Some(remote) => Ok(remote),
            None => self.local(self.db().await?),
        }
    }

    /// The API, for commands that only read: in this process an outdated schema is an error.
    pub async fn api_to_read(&self) -> anyhow::Result<ApiClient> {
        match self.remote()? {
            Some(remote) => Ok(remote),
            None => self.local(self.db_to_read().await?),
        }
    }

    /// Whether commands use a server's API, and have no database of their own.
    pub fn is_remote(&self) -> bool {
        !self.config.client.url.is_empty()
    }

    /// Prevents a command from changing or showing another database than the server's.
    pub(super) fn require_own_database(&self) -> Result<(), CliError> {
        if self.is_remote() {
            return Err(CliError::usage(
                "the API does not offer this command: run it without --url on a machine with access to the database",
            ));
        }
        Ok(())
    }

    /// Whether a database is configured, or was created in the data directory.
    pub(super) fn has_data(&self) -> bool {
        !self.config.database.url.is_empty() || private_server::dir_in(self.config.data_dir()).exists()
    }

    /// Prevents a command that only reads from creating a database in a directory that was misspelled.
    pub(super) fn require_data(&self) -> Result<(), CliError> {
        if self.has_data() {
            return Ok(());
        }
        let dir = self.config.data_dir();
        Err(CliError::not_found(format!(
            "there is no drover data in {}: name another directory with --dir, or begin with `drover stores import FILE` or `drover up`",
            dir.display()
        )))
    }

    /// The API of the service that runs at --url, else on this machine.
    pub async fn running_service(&self) -> anyhow::Result<ApiClient> {
        if let Some(remote) = self.remote()? {
            return Ok(remote);
        }
        let url = http::local_api_url(&self.config.api).await?;
        Ok(ApiClient::remote(Remote::new(&url, self.config.client.token.clone())?))
    }

    fn remote(&self) -> anyhow::Result<Option<ApiClient>> {
        if !self.is_remote() {
            return Ok(None);
        }
        let client = &self.config.client;
        Ok(Some(ApiClient::remote(Remote::new(&client.url, client.token.clone())?)))
    }

    fn local(&self, db: Db) -> anyhow::Result<ApiClient> {
        let health = Health::new(None, || Actors::Running);
        Ok(ApiClient::local(api::command_line(http::api_state(self, &self.config, db.one_off(), health)?)))
    }

    /// Opens the database without checking its schema.
    pub async fn database(&self) -> Result<&OpenDatabase, OpenError> {
        self.database.get_or_try_init(|| database::open(&self.config)).await
    }
}

/// The error of comparing or changing the schema, with the database's name and, if it is at fault, a remedy.
/// The cause stays in the chain: the exit code is derived from it.
pub(super) fn schema_error(database: &OpenDatabase, error: MigrateError) -> anyhow::Error {
    match error {
        MigrateError::Db(error) => {
            let context = format!("{} cannot be used; {}", database_name(database), remedy(database, &error));
            anyhow::Error::from(error).context(context)
        }
        other => anyhow::Error::from(other).context(database_name(database)),
    }
}

/// The name of a database in messages.
pub(super) fn database_name(database: &OpenDatabase) -> String {
    format!("the database {}", DatabaseUrl::masked(database.url.reveal()))
}

fn remedy(database: &OpenDatabase, error: &DbError) -> &'static str {
    match error {
        DbError::Unavailable(_) if database.is_private() => "see postgres/server.log in its data directory",
        DbError::Unavailable(_) => "start its server, or correct database.url",
        error if error.is_transient() => "try again",
        _ => "see its server's log",
    }
}
