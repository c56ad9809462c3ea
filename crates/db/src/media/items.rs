//! `media_items`, and the files of downloaded items, `media_files`.

use serde_json::json;

use crate::statements::{first_columns, json, known_word, named, read_all, reason, rows, sql, storable, word};
use crate::{Client, DbError, Tx};
use contract::media::items::{ItemFilter, ItemView};
use domain::media::item::{Item, ItemEnd, ItemId, ItemState, NewItem};
use domain::task::TaskId;

/// Adds the items that are not known yet; returns the ids of these.
pub async fn insert(tx: &Tx, items: &[NewItem]) -> Result<Vec<ItemId>, DbError> {
    first_columns(&tx.query(sql!("media/items/insert.sql"), &[&storable(&json!(items))]).await?)
}

/// Lists at most `limit` items, in the filter's order.
pub async fn list(client: &Client, filter: &ItemFilter, limit: i64) -> Result<Vec<ItemView>, DbError> {
    let ItemFilter { id, source, state, account_id, sort, after } = filter;
    let state = state.map(ItemState::name);
    read_all(
        &named!(client.query(by_age("media/items/list.sql", *sort), id, source, state, account_id, after, limit))
            .await?,
    )
}

/// The items among these, by their ids, for a task that downloads them.
pub async fn get(client: &Client, ids: &[ItemId], task: TaskId) -> Result<Vec<Item>, DbError> {
    read_all(&client.query(sql!("media/items/get.sql"), &[&ids, &task]).await?)
}

/// Writes how an attempt to download an item ended. One that has its file keeps it.
pub async fn end(tx: &Tx, id: ItemId, end: &ItemEnd) -> Result<(), DbError> {
    let file = match end {
        ItemEnd::Downloaded(file) => Some(file),
        _ => None,
    };
    let (digest, path) = (file.map(|file| &file.sha256), file.map(|file| &file.path));
    let (bytes, media_type) = (file.map(|file| file.bytes), file.map(|file| &file.media_type));
    let (width, height) = (file.and_then(|file| file.width), file.and_then(|file| file.height));
    let duration = file.and_then(|file| file.duration_ms);
    let state = end.state().name();
    let reason = end.reason().map(reason);
    named!(tx.execute(
        "media/items/end.sql",
        id,
        state,
        reason,
        sha256 = digest,
        path,
        bytes,
        media_type,
        width,
        height,
        duration_ms = duration
    ))
    .await?;
    Ok(())
}

rows! {
    ItemView {
        id, source, source_id, account_id,
        kind: word,
        url, title, posted_at,
        state: word,
        attempts, last_error, sha256, path, local_image_path, bytes, media_type, width, height, duration_ms,
        metadata: json,
        created_at, downloaded_at,
    }
    Item { id, source, kind: known_word, url, referer, platform, credential_id, is_over }
}
