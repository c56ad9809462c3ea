//! Facts that a server and a database report about themselves.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::connection::server::{Server, lock_timeout};
use crate::statements::{FromRow, rows, sql};
use crate::{Client, Db, DbError};

/// The encoding that a database must have.
pub const ENCODING: &str = "UTF8";
/// Remedy for a database of another encoding, which cannot be changed.
pub const ENCODING_REMEDY: &str = "create another database with CREATE DATABASE drover ENCODING 'UTF8' TEMPLATE template0, and name it in \
     database.url";

/// `application_name` of a connection that does not count as a client.
const OBSERVER: &str = "drover-observer";
const OBSERVER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// Version as Postgres writes it, e.g. `15.14`.
    pub version: String,
    pub now: DateTime<Utc>,
    /// The encoding of the database; see [`ENCODING`].
    pub encoding: String,
}

/// Settings of a session outside of transactions. drover sets them by itself, except behind a pooler;
/// there, the account has them.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    pub time_zone: String,
    pub isolation: String,
    pub jit: bool,
    /// 0 = no limit.
    pub statement_timeout_ms: i64,
    /// 0 = no limit.
    pub lock_timeout_ms: i64,
}

rows! {
    SessionSettings { time_zone, isolation, jit, statement_timeout_ms, lock_timeout_ms }
}

impl SessionSettings {
    /// Statements that set the account right without which results would be wrong, or long work fail.
    pub fn necessary(&self, config: &settings::Database) -> Vec<(&'static str, String)> {
        let maintenance = as_millis(config.maintenance_timeout);
        let mut wanted = Vec::new();
        if self.time_zone != "UTC" {
            wanted.push(("timezone", "UTC".to_owned()));
        }
        if self.isolation != "read committed" {
            wanted.push(("default_transaction_isolation", "read committed".to_owned()));
        }
        if (1..maintenance).contains(&self.statement_timeout_ms) {
            wanted.push(("statement_timeout", format!("{maintenance}ms")));
        }
        wanted
    }

    /// The same without which a statement may run, wait or compile for longer than it has to.
    pub fn advisable(&self, config: &settings::Database) -> Vec<(&'static str, String)> {
        let mut wanted = Vec::new();
        if self.statement_timeout_ms == 0 {
            wanted.push(("statement_timeout", format!("{}ms", as_millis(config.maintenance_timeout))));
        }
        if self.lock_timeout_ms == 0 {
            wanted.push(("lock_timeout", format!("{}ms", as_millis(lock_timeout(config.statement_timeout)))));
        }
        if self.jit {
            wanted.push(("jit", "off".to_owned()));
        }
        wanted
    }
}

/// The statements that give the account these settings.
pub fn alter_role(wanted: &[(&'static str, String)]) -> String {
    let statements: Vec<String> =
        wanted.iter().map(|(name, value)| format!("ALTER ROLE CURRENT_USER SET {name} = '{value}'")).collect();
    statements.join("; ")
}

pub async fn session(client: &Client) -> Result<SessionSettings, DbError> {
    SessionSettings::from_row(&client.query_one(sql!("schema/server_info/session.sql"), &[]).await?)
}

/// Statements behind a pooler without which results would be wrong; None if all is well.
pub async fn necessary_settings(db: &Db, config: &settings::Database) -> Result<Option<String>, DbError> {
    if !db.server().is_pooled() {
        return Ok(None);
    }
    let wanted = session(&db.client().await?).await?.necessary(config);
    Ok(Some(alter_role(&wanted)).filter(|_| !wanted.is_empty()))
}

fn as_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

pub async fn read(client: &Client) -> Result<ServerInfo, DbError> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version'), clock_timestamp(), current_setting('server_encoding')",
            &[],
        )
        .await?;
    Ok(ServerInfo { version: row.try_get(0)?, now: row.try_get(1)?, encoding: row.try_get(2)? })
}

/// Whether the server at `url` has clients other than this one.
pub async fn has_clients(url: &str) -> Result<bool, DbError> {
    let server = Server::parse(url, OBSERVER_TIMEOUT)?;
    let (client, connection) = server.connect(OBSERVER, OBSERVER_TIMEOUT).await?;
    let answer = async {
        tokio::select! {
            row = client.query_one(sql!("schema/server_info/has_clients.sql"), &[&OBSERVER]) => Ok(row?.try_get(0)?),
            _ = connection => Err(DbError::Unavailable("the connection was closed".to_owned())),
        }
    };
    let silent = |_| DbError::Unavailable(format!("the server did not answer within {OBSERVER_TIMEOUT:?}"));
    tokio::time::timeout(OBSERVER_TIMEOUT, answer).await.map_err(silent)?
}
