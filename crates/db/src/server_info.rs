//! Facts that a server and a database report about themselves.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::connect::Server;
use super::{Client, DbError};

/// `application_name` of a connection that does not count as a client.
const OBSERVER: &str = "drover-observer";
const OBSERVER_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// As Postgres writes it, e.g. `15.14`.
    pub version: String,
    pub now: DateTime<Utc>,
}

pub async fn read(client: &Client) -> Result<ServerInfo, DbError> {
    let row = client.query_one("SELECT current_setting('server_version'), clock_timestamp()", &[]).await?;
    Ok(ServerInfo { version: row.try_get(0)?, now: row.try_get(1)? })
}

/// Whether the server at `url` has clients other than this one.
pub async fn has_clients(url: &str) -> Result<bool, DbError> {
    let server = Server::parse(url, OBSERVER_TIMEOUT)?;
    let (client, connection) = server.connect(OBSERVER, OBSERVER_TIMEOUT).await?;
    let answer = async {
        tokio::select! {
            row = client.query_one(include_str!("sql/server_info/has_clients.sql"), &[&OBSERVER]) => Ok(row?.try_get(0)?),
            _ = connection => Err(DbError::Unavailable("the connection was closed".to_owned())),
        }
    };
    let silent = |_| DbError::Unavailable(format!("the server did not answer within {OBSERVER_TIMEOUT:?}"));
    tokio::time::timeout(OBSERVER_TIMEOUT, answer).await.map_err(silent)?
}
