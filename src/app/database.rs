//! The database that the configuration names, or the private server's.
//!
//! In: a configuration. Out: a [`Db`] that connects when it is asked for a connection, and what keeps the
//! private server running.

use std::process::Command;

use thiserror::Error;

use db::{Db, DbError, PoolSizes};
use private_server::{PrivateServer, PrivateServerError};
use settings::{Config, DatabaseUrl, Secret};

/// A database, with the lock on the private server where it is in that. Keep it for as long as the database
/// is used.
pub struct OpenDatabase {
    pub db: Db,
    /// May hold a password.
    pub url: Secret,
    server: Option<PrivateServer>,
}

#[derive(Debug, Error)]
pub enum OpenError {
    #[error("there is no private database server")]
    Private(#[from] PrivateServerError),
    #[error("database.url: {0} (`drover config show --origin` shows where it is set)")]
    BadUrl(String),
}

impl OpenError {
    /// Drops the "database: " prefix of `DbError::Other`.
    fn bad_url(error: DbError) -> OpenError {
        match error {
            DbError::Other(text) => OpenError::BadUrl(text),
            other => OpenError::BadUrl(other.to_string()),
        }
    }
}

/// Starts or joins the private server unless there is a URL. Does not connect yet.
pub async fn open(config: &Config) -> Result<OpenDatabase, OpenError> {
    open_with(config, Vec::new()).await
}

/// Same as [`open`], with settings of a private server (`name=value`) beside its own.
pub async fn open_with(config: &Config, server_settings: Vec<String>) -> Result<OpenDatabase, OpenError> {
    let settings = &config.database;
    let server = match settings.url.is_empty() {
        true => Some(start_private_with(config, server_settings).await?),
        false => None,
    };
    let url = server.as_ref().map_or_else(|| settings.url.clone(), |server| server.url().into());
    let sizes = PoolSizes { work: settings.pool_work, api: settings.pool_api };
    let db = Db::new(url.reveal(), settings, sizes).map_err(OpenError::bad_url)?;
    Ok(OpenDatabase { db, url, server })
}

/// The private server in the data directory.
pub async fn start_private(config: &Config) -> Result<PrivateServer, PrivateServerError> {
    start_private_with(config, Vec::new()).await
}

async fn start_private_with(config: &Config, settings: Vec<String>) -> Result<PrivateServer, PrivateServerError> {
    let bin = config.database.pg_bin.clone();
    let options = private_server::Options { bin, settings, ..private_server::Options::default() };
    private_server::start_with(&private_server::dir_in(config.data_dir()), options).await
}

impl OpenDatabase {
    pub fn is_private(&self) -> bool {
        self.server.is_some()
    }

    /// Has a client program of Postgres connect here: its next argument is the URL, and a variable the password, since
    /// every process of the machine can read a command line. The error says why the URL cannot be read.
    pub fn connect(&self, program: &mut Command) -> Result<(), &'static str> {
        let url = DatabaseUrl::parse(self.url.reveal())?;
        program.arg(url.to_string());
        if let Some(password) = url.password() {
            program.env("PGPASSWORD", password);
        }
        Ok(())
    }

    /// Passes the lock on the private server on to the program that this process executes.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        self.server.as_ref().map_or(Ok(()), PrivateServer::keep_through_exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unreadable_url_is_named_once_with_the_place_to_look() {
        let config = Config::with(&[("database.url", "postgresql://me:sec@ret@db/x")]).unwrap();
        let error = anyhow::Error::from(open(&config).await.err().unwrap());
        assert_eq!(
            format!("{error:#}"),
            "database.url: the database URL cannot be read: it has a second @: encode the one in the password as %40 \
             (`drover config show --origin` shows where it is set)"
        );
    }
}
