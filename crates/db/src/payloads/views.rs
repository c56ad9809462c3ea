//! Payloads for display: pages, one, and two of a store for comparison. Reads only.
//!
//! `storage` has their files: the file of a row may be gone.

use crate::statements::{FromRow, named, read_all, rows, sql, word};
use crate::{Client, DbError, payloads};
use contract::payloads::{PayloadFilter, PayloadView};
use domain::payload::{Payload, PayloadId};
use domain::store::{Platform, StoreId};

/// Lists at most `limit` payloads, in the filter's order.
pub async fn list(client: &Client, filter: &PayloadFilter, limit: i64) -> Result<Vec<PayloadView>, DbError> {
    let platform = filter.platform.map(Platform::name);
    let (after_time, after_id) = filter.after.map(|after| (after.fetched_at, after.id)).unzip();
    let rows = named!(client.query_planned(
        by_age("payloads/views/list.sql", filter.sort),
        store = filter.dispensary_id,
        platform,
        from = filter.from,
        to = filter.to,
        after_time,
        after_id,
        limit
    ))
    .await?;
    read_all(&rows)
}

pub async fn get(client: &Client, id: PayloadId) -> Result<Option<PayloadView>, DbError> {
    let row = client.query_opt(sql!("payloads/views/get.sql"), &[&id]).await?;
    row.as_ref().map(PayloadView::from_row).transpose()
}

/// The two payloads of a store to compare, older one first unless the caller names another order: without
/// `to` the latest, without `from` the one before `to`. `Missing` when the store has no such payload.
pub async fn to_compare(
    client: &Client,
    store: StoreId,
    from: Option<PayloadId>,
    to: Option<PayloadId>,
) -> Result<(Payload, Payload), DbError> {
    let to = match to {
        Some(id) => of_store(client, store, id).await?,
        None => payloads::latest(client, store).await?.ok_or_else(|| missing(store, "a payload"))?,
    };
    let from = match from {
        Some(id) => of_store(client, store, id).await?,
        None => before(client, &to).await?.ok_or_else(|| missing(store, &format!("a payload before {}", to.id)))?,
    };
    Ok((from, to))
}

async fn of_store(client: &Client, store: StoreId, id: PayloadId) -> Result<Payload, DbError> {
    let payload = payloads::get(client, id).await?.ok_or_else(|| DbError::Missing(format!("payload {id}")))?;
    match payload.dispensary_id {
        its_store if its_store == store => Ok(payload),
        other => Err(DbError::Missing(format!("payload {id} belongs to store {other}; in store {store} it"))),
    }
}

async fn before(client: &Client, payload: &Payload) -> Result<Option<Payload>, DbError> {
    let sql = sql!("payloads/before.sql");
    let row = client.query_opt(sql, &[&payload.dispensary_id, &payload.id]).await?;
    row.as_ref().map(Payload::from_row).transpose()
}

fn missing(store: StoreId, what: &str) -> DbError {
    DbError::Missing(format!("{what} of store {store}"))
}

rows! {
    PayloadView {
        id, task_id, dispensary_id, dispensary_name,
        platform: word,
        storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at,
    }
}
