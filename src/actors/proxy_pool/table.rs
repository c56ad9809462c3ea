//! One exchange with the table: what this process learnt goes out, what all of them know comes back.

use actix::Message;

use crate::clock::Clock;
use crate::db::{self, Db, DbError};
use crate::domain::proxy::{Increment, Standing};

/// What came of an exchange.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Synced {
    /// Of the actor that began it.
    pub generation: u64,
    /// Whether the increments are in the table, as far as anybody knows.
    pub flushed: bool,
    pub rows: Result<Vec<Standing>, String>,
}

/// Bounded by the database's deadlines; a panic in it is an error like others, so that an answer always comes.
pub async fn exchange(db: Db, increments: Vec<Increment>, clock: Clock) -> (bool, Result<Vec<Standing>, String>) {
    let flushed = match tokio::spawn(flush(db.clone(), increments, clock)).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => return (false, Err(error.to_string())),
        Err(error) => return (false, Err(error.to_string())),
    };
    match tokio::spawn(load(db)).await {
        Ok(rows) => (flushed, rows.map_err(|error| error.to_string())),
        Err(error) => (flushed, Err(error.to_string())),
    }
}

async fn flush(db: Db, increments: Vec<Increment>, clock: Clock) -> Result<(), DbError> {
    if increments.is_empty() {
        return Ok(());
    }
    let client = db.client().await?;
    db::proxies::flush(&client, &increments, clock.instant()).await
}

async fn load(db: Db) -> Result<Vec<Standing>, DbError> {
    let client = db.client().await?;
    db::proxies::load(&client).await
}
