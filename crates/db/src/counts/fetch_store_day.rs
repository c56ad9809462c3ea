//! `fetch_store_day`: requests to hosts by store and day, as each process counts its own.

use std::time::Duration;

use crate::statements::{column, named, sql};
use crate::{Client, DbError, MAX_BATCH};
use domain::counts::fetches::FetchTotal;
use domain::counts::store_fetches::StoreDay;

/// Writes the totals that `process` has counted so far. Writing them again, or older ones later, changes
/// nothing.
pub async fn write(client: &Client, process: i64, totals: &[(StoreDay, FetchTotal)]) -> Result<(), DbError> {
    for part in totals.chunks(MAX_BATCH) {
        named!(client.execute(
            "counts/fetch_store_day/write.sql",
            process,
            days = column(part, |(key, _)| key.day),
            stores = column(part, |(key, _)| key.store),
            requests = column(part, |(_, total)| total.requests),
            bytes_sent = column(part, |(_, total)| total.bytes_sent),
            bytes_received = column(part, |(_, total)| total.bytes_received)
        ))
        .await?;
    }
    Ok(())
}

/// Removes at most `batch` rows of days that ended longer ago than `keep`; returns their number.
pub async fn prune(client: &Client, keep: Duration, batch: i64) -> Result<u64, DbError> {
    client.execute(sql!("counts/fetch_store_day/prune.sql"), &[&keep.as_secs_f64(), &batch]).await
}
