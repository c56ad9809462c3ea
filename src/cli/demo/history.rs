//! The simulated history of a continuous demo, in two parts: runs, requests and failures before it starts,
//! prices and stock as soon as its first crawl has made the products.

use std::time::Duration;

use tokio::time::Instant;

use super::{State, faults};
use db::demo::history::QueueHistory;
use db::{Db, DbError, demo};
use domain::store::StoreId;

/// The host of the simulated platforms, as counts of requests name it.
const HOST: &str = "127.0.0.1";

/// Returns how long it took; None when it was written before.
pub async fn write_queue(db: &Db, state: &State, apart: &[StoreId]) -> Result<Option<Duration>, DbError> {
    let begun = Instant::now();
    let history = QueueHistory {
        seed: state.seed,
        stores: state.stores,
        host: HOST,
        dead_proxy: faults::DEAD_PROXY as i64 + 1,
        empty: faults::empty(apart),
    };
    Ok(demo::history::write_queue(db, history).await?.then(|| begun.elapsed()))
}

/// The history of prices and stock, until it is written.
#[derive(Clone, Copy, Debug)]
pub enum ProductHistory {
    Due,
    /// Written, or not wanted.
    Done,
}

impl ProductHistory {
    /// Returns how long it took; None when there was nothing to write, or not now.
    pub async fn write(&mut self, db: &Db, seed: u64) -> Result<Option<Duration>, DbError> {
        if matches!(self, ProductHistory::Done) {
            return Ok(None);
        }
        let begun = Instant::now();
        match demo::history::write_products(db, seed).await {
            // a refresh holds some of the products, or the keeper restarts the server: after the next crawl
            Err(error) if error.is_transient() => Ok(None),
            written => {
                *self = ProductHistory::Done;
                Ok(written?.then(|| begun.elapsed()))
            }
        }
    }
}
