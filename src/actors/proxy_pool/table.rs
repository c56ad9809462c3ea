//! A sync with the database: the counters of this process are written, the rows with the counters of all
//! processes are read; with budgets, so are the bytes of today.

use actix::Message;

use super::FetchCountsWriter;
use db::proxies::LoadedProxies;
use db::{Db, DbError};
use domain::proxy::{CounterDelta, UsageToday};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;

/// The result of a sync.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SyncResult {
    /// Instance of the actor that began it.
    pub instance: u64,
    /// Whether the deltas are in the table; false when that is not known.
    pub flushed: bool,
    pub loaded: Result<LoadedRows, String>,
}

/// The rows that a sync has read.
pub struct LoadedRows {
    pub proxies: LoadedProxies,
    /// Usage of today; None where it was not asked for.
    pub usage: Option<UsageToday>,
}

/// Bounded by the deadlines of the database; a panic is an error like others, so that an answer always comes.
/// With `counts` they are written, and the usage that they are part of is read.
pub async fn sync(
    db: Db,
    deltas: Vec<CounterDelta>,
    clock: Clock,
    keys: SecretKeys,
    counts: Option<FetchCountsWriter>,
) -> (bool, Result<LoadedRows, String>) {
    let flushed = match tokio::spawn(flush(db.clone(), deltas, clock)).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => return (false, Err(error.to_string())),
        Err(error) => return (false, Err(error.to_string())),
    };
    match tokio::spawn(load(db, keys, counts)).await {
        Ok(loaded) => (flushed, loaded.map_err(|error| error.to_string())),
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

async fn load(db: Db, keys: SecretKeys, counts: Option<FetchCountsWriter>) -> Result<LoadedRows, DbError> {
    // the proxies first: the usage knows each of them
    let proxies = db::proxies::load(&db.client().await?, &keys).await?;
    let Some(counts) = counts else { return Ok(LoadedRows { proxies, usage: None }) };
    counts.write().await?;
    let usage = db::proxies::usage::today(&db.client().await?).await?;
    Ok(LoadedRows { proxies, usage: Some(usage) })
}
