//! What one generation of tasks has come to: how far it is, what it left, and the shelves it describes.

pub mod shelves;

use chrono::{DateTime, Utc};

use super::{Client, DbError};

/// Tasks made since the generation began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub open: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    pub stores_crawled: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Rows of the product table, whenever they came.
    pub products: i64,
    pub snapshots: i64,
    pub payloads: i64,
    /// The lowest of its payloads, 0…1.
    pub coverage: f64,
    pub blocks: i64,
    /// Proxies benched now, as a whole or at a host.
    pub benched: i64,
    pub seconds: f64,
}

/// When that slot of a schedule was made, if it was.
pub async fn begun(client: &Client, schedule: &str, slot: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = client.query_opt(include_str!("sql/crawls/begun.sql"), &[&schedule, &slot]).await?;
    Ok(row.map(|row| row.get(0)))
}

pub async fn progress(client: &Client, since: DateTime<Utc>) -> Result<Progress, DbError> {
    let row = client.query_one(include_str!("sql/crawls/progress.sql"), &[&since]).await?;
    Ok(Progress {
        open: row.get("open"),
        completed: row.get("completed"),
        failed: row.get("failed"),
        cancelled: row.get("cancelled"),
        stores_crawled: row.get("stores_crawled"),
    })
}

pub async fn totals(client: &Client, since: DateTime<Utc>, blocks_to_bench: u32) -> Result<Totals, DbError> {
    let row = client.query_one(include_str!("sql/crawls/totals.sql"), &[&since, &i64::from(blocks_to_bench)]).await?;
    Ok(Totals {
        products: row.get("products"),
        snapshots: row.get("snapshots"),
        payloads: row.get("payloads"),
        coverage: row.get("coverage"),
        blocks: row.get("blocks"),
        benched: row.get("benched"),
        seconds: row.get("seconds"),
    })
}
