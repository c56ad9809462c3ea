//! A sync with the table `proxies`: the counters of this process are written, the rows with the counters of all processes are
//! read.

use actix::Message;

use crate::clock::Clock;
use crate::db::proxies::LoadedProxies;
use crate::db::{self, Db, DbError};
use crate::domain::proxy::CounterDelta;
use crate::secrets::SecretKeys;

/// The result of a sync.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SyncResult {
    /// Of the actor instance that began it.
    pub instance: u64,
    /// Whether the deltas are in the table; false when that is not known.
    pub flushed: bool,
    pub rows: Result<LoadedProxies, String>,
}

/// Bounded by the deadlines of the database; a panic is an error like others, so that an answer always comes.
pub async fn sync(
    db: Db,
    deltas: Vec<CounterDelta>,
    clock: Clock,
    keys: SecretKeys,
) -> (bool, Result<LoadedProxies, String>) {
    let flushed = match tokio::spawn(flush(db.clone(), deltas, clock)).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => return (false, Err(error.to_string())),
        Err(error) => return (false, Err(error.to_string())),
    };
    match tokio::spawn(load(db, keys)).await {
        Ok(rows) => (flushed, rows.map_err(|error| error.to_string())),
        Err(error) => (flushed, Err(error.to_string())),
    }
}

async fn flush(db: Db, deltas: Vec<CounterDelta>, clock: Clock) -> Result<(), DbError> {
    if deltas.is_empty() {
        return Ok(());
    }
    let client = db.client().await?;
    db::proxies::flush(&client, &deltas, clock.instant()).await
}

async fn load(db: Db, keys: SecretKeys) -> Result<LoadedProxies, DbError> {
    let client = db.client().await?;
    db::proxies::load(&client, &keys).await
}
