//! The report of a demo's crawl: its progress, its totals and the products in the tables.

pub mod changes;
pub mod images;
pub mod products;
pub mod unit_prices;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;

use crate::statements::{FromRow, first_column, read_all, rows, sql};
use crate::{Client, DbError};
use domain::store::StoreId;

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

/// A store that is in trouble on purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultyStore {
    pub name: String,
    pub crawl_status: String,
    /// Its tasks that failed since the crawl began.
    pub failed: i64,
}

/// Time at which that run of a schedule made its tasks; None before.
pub async fn begun(client: &Client, schedule: &str, due_at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = client.query_opt(sql!("demo/report/begun.sql"), &[&schedule, &due_at]).await?;
    row.as_ref().map(first_column).transpose()
}

/// Tasks of the stores in `apart` are not counted.
pub async fn progress(client: &Client, since: DateTime<Utc>, apart: &[StoreId]) -> Result<CrawlProgress, DbError> {
    CrawlProgress::from_row(&client.query_one(sql!("demo/report/progress.sql"), &[&since, &apart]).await?)
}

/// Rows of the stores in `apart` are not counted.
pub async fn totals(client: &Client, since: DateTime<Utc>, apart: &[StoreId]) -> Result<Totals, DbError> {
    Totals::from_row(&client.query_one(sql!("demo/report/totals.sql"), &[&since, &apart]).await?)
}

/// How these stores stand.
pub async fn faulty(client: &Client, since: DateTime<Utc>, stores: &[StoreId]) -> Result<Vec<FaultyStore>, DbError> {
    read_all(&client.query(sql!("demo/report/faulty.sql"), &[&since, &stores]).await?)
}

/// Number of failed runs since the crawl began whose task succeeded later, without the stores in `apart`.
pub async fn survived(client: &Client, since: DateTime<Utc>, apart: &[StoreId]) -> Result<i64, DbError> {
    first_column(&client.query_one(sql!("demo/report/survived.sql"), &[&since, &apart]).await?)
}

/// How records that were found differ from the expected ones, each in words. Their order means nothing.
pub fn differences<T: Serialize>(noun: &str, found: &[T], expected: &[T]) -> Vec<String> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (records, sign) in [(found, 1), (expected, -1)] {
        for record in records {
            *counts.entry(json!(record).to_string()).or_default() += sign;
        }
    }
    let text = |(record, count): (String, i64)| match count.signum() {
        0 => None,
        1 => Some(format!("{noun}, {count} times unexpected: {record}")),
        _ => Some(format!("{noun}, {} times missing: {record}", -count)),
    };
    counts.into_iter().filter_map(text).collect()
}

rows! {
    CrawlProgress { open, completed, failed, cancelled, stores_crawled }
    Totals { products, snapshots, payloads, coverage, blocks, seconds }
    FaultyStore { name, crawl_status, failed }
}
