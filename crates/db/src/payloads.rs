//! `raw_crawl_payloads`: one row for each payload file. The file is durable before its row.

pub mod removals;
pub mod replays;
pub mod views;

use std::collections::HashSet;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::{Client, Db, DbError, Tx};
use crate::statements::{FromRow, first_column, first_columns, named, parsed, rows, sql};
use domain::menu::stock::PayloadPosition;
use domain::payload::{self, FetchStart, NewPayload, Payload, PayloadId, RemovedFiles, SweepTimes};
use domain::store::StoreId;

/// Maximum payloads counted for one store; a store makes fewer in years.
const MAX_BETWEEN: i64 = 10_000;

/// Facts about its store that a fetch reads before it begins.
pub async fn before_fetch(client: &Client, store: StoreId) -> Result<FetchStart, DbError> {
    let row = client.query_one(sql!("payloads/before_fetch.sql"), &[&store]).await?;
    let products: i64 = row.try_get("products")?;
    Ok(FetchStart {
        at: row.try_get("fetched_at")?,
        products: products.max(0) as usize,
        expects_empty: row.try_get("expects_empty")?,
        small_menu_proxies: row.try_get("small_menu_proxies")?,
    })
}

/// Records a menu that is too small to be believed at once. True when it is believed after all: the third in
/// a row, hours apart and, where there are several proxies, not all through one; or the sixth. An empty
/// menu is not.
pub async fn believe_small_menu(
    client: &Client,
    store: StoreId,
    start: &FetchStart,
    products: usize,
    proxy: Option<i64>,
) -> Result<bool, DbError> {
    let products = i32::try_from(products).unwrap_or(i32::MAX);
    first_column(
        &named!(client.query_one("payloads/believe_small_menu.sql", store, began_at = start.at, products, proxy))
            .await?,
    )
}

pub async fn insert(tx: &Tx, payload: &NewPayload) -> Result<Payload, DbError> {
    let row = named!(tx.query_one(
        "payloads/insert.sql",
        task_id = payload.task_id,
        store = payload.dispensary_id,
        platform = payload.platform.name(),
        storage_path = payload.storage_path,
        sha256 = payload.sha256,
        bytes = payload.bytes,
        product_count = payload.product_count,
        total_count = payload.total_count,
        coverage = payload.coverage,
        fetched_at = payload.fetched_at
    ))
    .await?;
    Payload::from_row(&row)
}

pub async fn get(client: &Client, id: PayloadId) -> Result<Option<Payload>, DbError> {
    client.query_opt(sql!("payloads/get.sql"), &[&id]).await?.as_ref().map(Payload::from_row).transpose()
}

/// The store's payload that was fetched last.
pub async fn latest(client: &Client, store: StoreId) -> Result<Option<Payload>, DbError> {
    client.query_opt(sql!("payloads/latest.sql"), &[&store]).await?.as_ref().map(Payload::from_row).transpose()
}

/// Whether the store of a payload with an unreadable file needs a fetch that was not requested yet.
pub async fn needs_refetch(tx: &Tx, lost: PayloadId) -> Result<bool, DbError> {
    first_column(&tx.query_one(sql!("payloads/needs_refetch.sql"), &[&lost]).await?)
}

/// Times that decide which files without a row may be deleted. A file's row may come as late as `wait` after
/// its fetch began.
pub async fn sweep_times(client: &Client, wait: Duration) -> Result<SweepTimes, DbError> {
    let row = client.query_one(sql!("payloads/sweep_times.sql"), &[&wait.as_secs_f64()]).await?;
    Ok(SweepTimes { now: row.try_get("now")?, before: row.try_get("before")? })
}

/// The storage paths of the newest payloads.
pub async fn newest_paths(client: &Client, limit: i64) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("payloads/newest_paths.sql"), &[&limit]).await?)
}

/// Whether any payload exists.
pub async fn any(client: &Client) -> Result<bool, DbError> {
    first_column(&client.query_one(sql!("payloads/any.sql"), &[]).await?)
}

/// Lists at most `limit` payloads fetched before `before`, in the order of their fetches, after `after`.
pub async fn aged(
    client: &Client,
    before: DateTime<Utc>,
    after: PayloadPosition,
    limit: i64,
) -> Result<Vec<PayloadPosition>, DbError> {
    let rows =
        named!(client.query("payloads/aged.sql", before, after_time = after.fetched_at, after_id = after.id, limit))
            .await?;
    rows.iter()
        .map(|row| Ok(PayloadPosition { fetched_at: row.try_get("fetched_at")?, id: row.try_get("id")? }))
        .collect()
}

/// Totals of the payloads that nothing needs: not the newest of their store, nor used by an open task.
pub async fn expendable(client: &Client, ids: &[PayloadId]) -> Result<RemovedFiles, DbError> {
    removed(&client.query_one(sql!("payloads/expendable.sql"), &[&ids]).await?)
}

/// Deletes the rows of unneeded payloads; their files go into `payload_removals`.
pub async fn expire(db: &Db, ids: &[PayloadId]) -> Result<RemovedFiles, DbError> {
    let tx = db.begin().await?;
    let locked: Vec<PayloadId> = first_columns(&tx.query(sql!("payloads/lock.sql"), &[&ids]).await?)?;
    // a statement of its own, after the lock: it sees the tasks of the session that had the rows locked
    let gone = removed(&tx.query_one(sql!("payloads/expire.sql"), &[&locked]).await?)?;
    tx.commit().await?;
    Ok(gone)
}

pub(super) fn removed(row: &Row) -> Result<RemovedFiles, DbError> {
    let of = |column| row.try_get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(RemovedFiles { files: of("files")?, bytes: of("bytes")? })
}

/// The storage paths that have a row, or had one that retention deleted. The others may be set aside once
/// they are old enough.
pub async fn known(client: &Client, paths: &[String]) -> Result<HashSet<String>, DbError> {
    let rows = client.query(sql!("payloads/known.sql"), &[&paths]).await?;
    rows.iter().map(first_column).collect()
}

/// Number of complete crawls of the store fetched after `from` and up to `to`, among at most [`MAX_BETWEEN`]
/// payloads.
pub async fn complete_between(
    client: &Client,
    store: StoreId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    min_coverage: f64,
) -> Result<usize, DbError> {
    let rows = named!(client.query("payloads/counts_between.sql", store, from, to, limit = MAX_BETWEEN)).await?;
    let mut complete = 0;
    for row in &rows {
        let (products, total) = (row.try_get("product_count")?, row.try_get("total_count")?);
        complete += usize::from(payload::is_complete(products, total, min_coverage));
    }
    Ok(complete)
}

rows! {
    Payload {
        id, task_id, dispensary_id,
        platform: parsed,
        storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at,
    }
}
