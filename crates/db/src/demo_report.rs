//! The report of a demo's crawl: its progress, its totals and the products in the tables.

pub mod images;
pub mod products;

use chrono::{DateTime, Utc};

use super::row::first_column;
use super::{Client, DbError};

/// Tasks made since the crawl began, by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlProgress {
    pub open: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    pub stores_crawled: i64,
}

#[derive(Clone, Copy, Debug)]
pub struct Totals {
    /// Rows of the product table, from all crawls.
    pub products: i64,
    pub snapshots: i64,
    pub payloads: i64,
    /// The lowest coverage of its payloads, 0…1.
    pub coverage: f64,
    pub blocks: i64,
    pub seconds: f64,
}

/// Time at which that run of a schedule made its tasks; None before.
pub async fn begun(client: &Client, schedule: &str, due_at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = client.query_opt(include_str!("sql/demo_report/begun.sql"), &[&schedule, &due_at]).await?;
    row.as_ref().map(first_column).transpose()
}

pub async fn progress(client: &Client, since: DateTime<Utc>) -> Result<CrawlProgress, DbError> {
    let row = client.query_one(include_str!("sql/demo_report/progress.sql"), &[&since]).await?;
    Ok(CrawlProgress {
        open: row.try_get("open")?,
        completed: row.try_get("completed")?,
        failed: row.try_get("failed")?,
        cancelled: row.try_get("cancelled")?,
        stores_crawled: row.try_get("stores_crawled")?,
    })
}

pub async fn totals(client: &Client, since: DateTime<Utc>) -> Result<Totals, DbError> {
    let row = client.query_one(include_str!("sql/demo_report/totals.sql"), &[&since]).await?;
    Ok(Totals {
        products: row.try_get("products")?,
        snapshots: row.try_get("snapshots")?,
        payloads: row.try_get("payloads")?,
        coverage: row.try_get("coverage")?,
        blocks: row.try_get("blocks")?,
        seconds: row.try_get("seconds")?,
    })
}
