//! `open`: the database that the configuration names, or the private one.

use thiserror::Error;

use super::embedded::{self, Embedded, EmbeddedError};
use super::error::DbError;
use super::pools::{Db, PoolSizes};
use crate::config::Config;

/// A database, and the private server's lock when it lives there. Keep it for as long as the database is used.
pub struct Opened {
    pub db: Db,
    /// May hold a password: for connections, not for people.
    pub url: String,
    server: Option<Embedded>,
}

#[derive(Debug, Error)]
pub enum OpenError {
    #[error("no private database server")]
    Private(#[from] EmbeddedError),
    #[error("database.url cannot be used")]
    BadUrl(#[from] DbError),
}

/// Starts or joins the private server unless there is a URL. Connects nothing yet.
pub async fn open(config: &Config) -> Result<Opened, OpenError> {
    let settings = &config.database;
    let server = match settings.url.is_empty() {
        true => Some(start_private(config).await?),
        false => None,
    };
    let url = server.as_ref().map_or_else(|| settings.url.clone(), |server| server.url().to_owned());
    let db = Db::new(&url, settings, PoolSizes { work: settings.pool_work, api: settings.pool_api })?;
    Ok(Opened { db, url, server })
}

/// The private server in the data directory.
pub async fn start_private(config: &Config) -> Result<Embedded, EmbeddedError> {
    let options = embedded::Options { bin: config.database.pg_bin.clone(), ..embedded::Options::default() };
    embedded::start_with(&embedded::dir_in(config.data_dir()), options).await
}

impl Opened {
    pub fn is_private(&self) -> bool {
        self.server.is_some()
    }

    /// Lets the program that this process becomes go on keeping the private server.
    pub fn keep_through_exec(&self) -> Result<(), EmbeddedError> {
        self.server.as_ref().map_or(Ok(()), Embedded::keep_through_exec)
    }
}
