//! `raw_crawl_payloads`: one row for each payload file. The file is durable before its row.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::{Client, DbError, Tx};
use crate::domain::dispensary::{DispensaryId, UnknownPlatform};
use crate::domain::payload::{self, NewPayload, Payload, PayloadId};

/// Payloads of one store that are looked at together: years of them.
const MOST_BETWEEN: i64 = 10_000;

pub async fn insert(tx: &Tx, payload: &NewPayload) -> Result<PayloadId, DbError> {
    let row = tx
        .query_one(
            include_str!("sql/payloads/insert.sql"),
            &[
                &payload.task_id,
                &payload.dispensary_id,
                &payload.platform.name(),
                &payload.storage_path,
                &payload.sha256,
                &payload.bytes,
                &payload.product_count,
                &payload.total_count,
                &payload.coverage,
                &payload.fetched_at,
            ],
        )
        .await?;
    Ok(row.try_get(0)?)
}

pub async fn get(client: &Client, id: PayloadId) -> Result<Option<Payload>, DbError> {
    client.query_opt(include_str!("sql/payloads/get.sql"), &[&id]).await?.as_ref().map(payload).transpose()
}

/// The store's newest payload by when it was fetched.
pub async fn latest(client: &Client, store: DispensaryId) -> Result<Option<Payload>, DbError> {
    client.query_opt(include_str!("sql/payloads/latest.sql"), &[&store]).await?.as_ref().map(payload).transpose()
}

/// Which of these storage paths have a row: the others may be swept once they are old enough.
pub async fn known(client: &Client, paths: &[String]) -> Result<HashSet<String>, DbError> {
    let rows = client.query(include_str!("sql/payloads/known.sql"), &[&paths]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// How many complete crawls of the store were fetched after `from` and up to `to`, as far as [`MOST_BETWEEN`] payloads tell.
pub async fn complete_between(
    client: &Client,
    store: DispensaryId,
    from: DateTime<Utc>,
    to: DateTime<Utc>,
    min_coverage: f64,
) -> Result<usize, DbError> {
    let sql = include_str!("sql/payloads/counts_between.sql");
    let rows = client.query(sql, &[&store, &from, &to, &MOST_BETWEEN]).await?;
    let mut complete = 0;
    for row in &rows {
        let (products, total) = (row.try_get("product_count")?, row.try_get("total_count")?);
        complete += usize::from(payload::is_complete(products, total, min_coverage));
    }
    Ok(complete)
}

fn payload(row: &Row) -> Result<Payload, DbError> {
    Ok(Payload {
        id: row.try_get("id")?,
        task_id: row.try_get("task_id")?,
        dispensary_id: row.try_get("dispensary_id")?,
        platform: row
            .try_get::<_, &str>("platform")?
            .parse()
            .map_err(|unknown: UnknownPlatform| DbError::Other(unknown.to_string()))?,
        storage_path: row.try_get("storage_path")?,
        sha256: row.try_get("sha256")?,
        bytes: row.try_get("bytes")?,
        product_count: row.try_get("product_count")?,
        total_count: row.try_get("total_count")?,
        coverage: row.try_get("coverage")?,
        fetched_at: row.try_get("fetched_at")?,
    })
}
