//! `fetch_minute`: requests to hosts by minute, as each process counts its own.

use std::time::Duration;

use crate::statements::{column, named, sql};
use crate::{Client, DbError, MAX_BATCH};
use domain::counts::fetches::{FetchKey, FetchTotal};

/// Writes the totals that `process` has counted so far. Writing them again, or older ones later, changes
/// nothing.
pub async fn write(client: &Client, process: i64, totals: &[(FetchKey, FetchTotal)]) -> Result<(), DbError> {
    for part in totals.chunks(MAX_BATCH) {
        named!(client.execute(
            "counts/fetch_minute/write.sql",
            process,
            minutes = column(part, |(key, _)| key.minute),
            hosts = column(part, |(key, _)| key.host.as_str()),
            proxies = column(part, |(key, _)| key.proxy),
            outcomes = column(part, |(key, _)| key.outcome),
            requests = column(part, |(_, total)| total.requests),
            bytes_sent = column(part, |(_, total)| total.bytes_sent),
            bytes_received = column(part, |(_, total)| total.bytes_received),
            seconds = column(part, |(_, total)| total.seconds)
        ))
        .await?;
    }
    Ok(())
}

/// Removes at most `batch` rows that are older than `keep`; returns their number.
pub async fn prune(client: &Client, keep: Duration, batch: i64) -> Result<u64, DbError> {
    client.execute(sql!("counts/fetch_minute/prune.sql"), &[&keep.as_secs_f64(), &batch]).await
}
