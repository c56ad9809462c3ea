//! The database that the configuration names, or the private server's.
//!
//! In: a configuration. Out: a [`Db`] that connects when it is asked for a connection, and what keeps the private server running.

use thiserror::Error;

use crate::config::Config;
use crate::db::{Db, DbError, PoolSizes};
use crate::private_server::{self, PrivateServer, PrivateServerError};

/// A database, with the lock on the private server when it is in one. Keep it for as long as the database is used.
pub struct OpenDatabase {
    pub db: Db,
    /// May hold a password: not for display.
    pub url: String,
    server: Option<PrivateServer>,
}

#[derive(Debug, Error)]
pub enum OpenError {
    #[error("no private database server")]
    Private(#[from] PrivateServerError),
    #[error("database.url cannot be used")]
    BadUrl(#[from] DbError),
}

/// Starts or joins the private server unless there is a URL. Does not connect yet.
pub async fn open(config: &Config) -> Result<OpenDatabase, OpenError> {
    let settings = &config.database;
    let server = match settings.url.is_empty() {
        true => Some(start_private(config).await?),
        false => None,
    };
    let url = server.as_ref().map_or_else(|| settings.url.clone(), |server| server.url().to_owned());
    let db = Db::new(&url, settings, PoolSizes { work: settings.pool_work, api: settings.pool_api })?;
    Ok(OpenDatabase { db, url, server })
}

/// The private server in the data directory.
pub async fn start_private(config: &Config) -> Result<PrivateServer, PrivateServerError> {
    let options = private_server::Options { bin: config.database.pg_bin.clone(), ..private_server::Options::default() };
    private_server::start_with(&private_server::dir_in(config.data_dir()), options).await
}

impl OpenDatabase {
    pub fn is_private(&self) -> bool {
        self.server.is_some()
    }

    /// Passes the lock on the private server on to the program that this process executes.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        self.server.as_ref().map_or(Ok(()), PrivateServer::keep_through_exec)
    }
}
