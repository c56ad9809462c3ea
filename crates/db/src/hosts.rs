//! `hosts`: the shared knowledge of all processes about each host. One row is locked, changed by the rules of
//! `domain::host`, and stored.
//!
//! Times are the database's. Rows are read and written as JSON by the names of their columns, which are the
//! fields of [`HostState`].

pub mod key_reads;
pub mod robots;
pub mod rotating_values;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::{Client, Db, DbError};
use crate::statements::{FromRow, read_all, rows, sql, word};
use contract::hosts::HostFilter;
use domain::host::{BreakerState, HostState};
use domain::vocabulary::Word;

/// A host's state, and its time by the database's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRow {
    pub host: String,
    pub state: HostState,
    pub now: DateTime<Utc>,
}

/// Applies `change` to the row of `host` while no other process can; makes the row where there is none.
/// Returns the stored row and the result of `change`. After `Unavailable` the row may be stored all the same.
pub async fn exchange<T>(
    db: &Db,
    host: &str,
    change: impl FnOnce(&mut HostState, DateTime<Utc>) -> T,
) -> Result<(HostRow, T), DbError> {
    let tx = db.begin().await?;
    let mut row = locked(&tx, host).await?;
    let result = change(&mut row.state, row.now);
    store(&tx, &row).await?;
    tx.commit().await?;
    Ok((row, result))
}

/// Applies `change` to the row of a known host, in the caller's transaction, while no other process can.
/// `Missing` when there is no such row.
pub async fn change<E: From<DbError>>(
    client: &Client,
    host: &str,
    change: impl FnOnce(&mut HostState, DateTime<Utc>) -> Result<(), E>,
) -> Result<HostRow, E> {
    let row = client.query_opt(sql!("hosts/lock.sql"), &[&host]).await?;
    let mut row = HostRow::from_row(&row.ok_or_else(|| missing(host))?)?;
    change(&mut row.state, row.now)?;
    store(client, &row).await?;
    Ok(row)
}

/// Lists at most `limit` hosts that were ever asked, by name.
pub async fn list(client: &Client, filter: &HostFilter, limit: i64) -> Result<Vec<HostRow>, DbError> {
    let HostFilter { on_hold, after } = filter;
    read_all(&client.query(sql!("hosts/list.sql"), &[after, on_hold, &limit]).await?)
}

/// Number of hosts by the state of their breaker; a state that no host has is left out.
pub async fn breakers(client: &Client) -> Result<Vec<(Word<BreakerState>, i64)>, DbError> {
    let rows = client.query(sql!("hosts/breakers.sql"), &[]).await?;
    rows.iter().map(|row| Ok((word(row, "breaker")?, row.try_get("hosts")?))).collect()
}

/// `Missing` when there is no such row.
pub async fn get(client: &Client, host: &str) -> Result<HostRow, DbError> {
    let row = client.query_opt(sql!("hosts/get.sql"), &[&host]).await?;
    HostRow::from_row(&row.ok_or_else(|| missing(host))?)
}

/// Forgets a host: processes notice with their next exchange. `Missing` when there is no such row.
pub async fn reset(client: &Client, host: &str) -> Result<(), DbError> {
    match client.execute(sql!("hosts/reset.sql"), &[&host]).await? {
        0 => Err(missing(host)),
        _ => Ok(()),
    }
}

async fn locked(client: &Client, host: &str) -> Result<HostRow, DbError> {
    let lock = sql!("hosts/lock.sql");
    if let Some(row) = client.query_opt(lock, &[&host]).await? {
        return HostRow::from_row(&row);
    }
    client.execute(sql!("hosts/add.sql"), &[&host]).await?;
    HostRow::from_row(&client.query_one(lock, &[&host]).await?)
}

async fn store(client: &Client, row: &HostRow) -> Result<(), DbError> {
    let state = serde_json::to_value(&row.state).map_err(unreadable)?;
    client.execute(sql!("hosts/store.sql"), &[&row.host, &state]).await?;
    Ok(())
}

fn missing(host: &str) -> DbError {
    DbError::Missing(format!("host {host}"))
}

fn unreadable(error: serde_json::Error) -> DbError {
    DbError::Other(format!("the row of a host cannot be read or written: {error}"))
}

rows! {
    HostRow { host, state: read_state, now }
}

fn read_state(row: &Row, column: &str) -> Result<HostState, DbError> {
    serde_json::from_value(row.try_get(column)?).map_err(unreadable)
}
