//! The simulated history of a continuous demo: seven days of runs, requests, failures, prices and stock, so
//! that charts and product pages have something to show.
//!
//! In: a seed, and the stores and proxies of the demo; for prices, the products of its first crawl. Out: rows
//! that bear a mark: process 0, the worker `simulated`, a crawl id below 0. Each part is written once, in one
//! transaction. It must not know the simulator.

use crate::statements::{named, sql};
use crate::{Db, DbError};
use domain::store::StoreId;

/// Fetches of the history in a minute, by number of stores: three crawls.
const CRAWLS_A_MINUTE: f64 = 3.0;
const REQUESTS_PER_FETCH: f64 = 4.0;

/// The demo whose history of the queue is written.
#[derive(Clone, Copy, Debug)]
pub struct QueueHistory<'a> {
    pub seed: u64,
    pub stores: usize,
    pub host: &'a str,
    /// Place of the proxy that never answers, from 1, in the order of their ids.
    pub dead_proxy: i64,
    /// Stores whose menu has been empty for days.
    pub empty: &'a [StoreId],
}

/// Writes runs, requests and failures; false when they were written before.
pub async fn write_queue(db: &Db, history: QueueHistory<'_>) -> Result<bool, DbError> {
    let QueueHistory { seed, stores, host, dead_proxy, empty } = history;
    let tx = db.begin_maintenance().await?;
    if is_written(&tx).await?.of_queue {
        return Ok(false);
    }
    let (seed, fetches) = (salt(seed), stores as f64 * CRAWLS_A_MINUTE);
    tx.execute(sql!("demo/history/runs.sql"), &[&seed, &fetches]).await?;
    tx.execute(sql!("demo/history/runs_until.sql"), &[]).await?;
    let requests = fetches * REQUESTS_PER_FETCH;
    named!(tx.execute("demo/history/requests.sql", seed, host, requests, dead_proxy)).await?;
    tx.execute(sql!("demo/history/failures.sql"), &[&seed]).await?;
    tx.execute(sql!("demo/history/mark.sql"), &[]).await?;
    for store in empty {
        tx.execute(sql!("demo/history/empty_menus.sql"), &[store]).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// Writes prices and stock of the products that exist now; false when they were written before.
pub async fn write_products(db: &Db, seed: u64) -> Result<bool, DbError> {
    let tx = db.begin_maintenance().await?;
    if is_written(&tx).await?.of_products {
        return Ok(false);
    }
    let seed = salt(seed);
    tx.execute(sql!("demo/history/prices.sql"), &[&seed]).await?;
    tx.execute(sql!("demo/history/first_seen.sql"), &[]).await?;
    tx.execute(sql!("demo/history/days.sql"), &[]).await?;
    tx.execute(sql!("analytics/write_unit_price_week.sql"), &[]).await?;
    tx.execute(sql!("demo/history/weeks.sql"), &[&seed]).await?;
    tx.commit().await?;
    Ok(true)
}

/// Makes a number so small that the statements can add to it.
fn salt(seed: u64) -> i64 {
    (seed >> 2).cast_signed()
}

struct Written {
    of_queue: bool,
    of_products: bool,
}

async fn is_written(tx: &crate::Tx) -> Result<Written, DbError> {
    let row = tx.query_one(sql!("demo/history/is_written.sql"), &[]).await?;
    Ok(Written { of_queue: row.try_get("of_queue")?, of_products: row.try_get("of_products")? })
}
