//! `/api/media/items`: the items that media jobs find and download.

use axum::Json;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ApiError, Caller, Listing, Page, PageJson, Path, Viewer};
use contract::cursor::Cursor;
use contract::media::items::{ItemFilter, ItemPage, ItemView};
use domain::media::item::ItemId;

#[derive(Deserialize, IntoParams)]
pub struct ItemPath {
    /// The item's id
    id: ItemId,
}

/// Lists items, the newest first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/media/items", tag = "media", responses((status = 200, body = ItemPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<ItemFilter>,
) -> Result<PageJson<ItemPage>, ApiError> {
    let client = caller.client().await?;
    let filter = ItemFilter { after: cursor.map(|Cursor(id)| id), ..filter };
    let items = db::media::items::list(&client, &filter, limit.with_next()).await?;
    let page = Page::of(items, limit, |item| item.id);
    Ok(page.json(|items, next_cursor| ItemPage { items, next_cursor }))
}

/// Shows an item with its file.
#[utoipa::path(get, path = "/api/media/items/{id}", tag = "media", responses((status = 200, body = ItemView)))]
pub async fn show(caller: Caller<Viewer>, Path(ItemPath { id }): Path<ItemPath>) -> Result<Json<ItemView>, ApiError> {
    let client = caller.client().await?;
    let found = db::media::items::list(&client, &ItemFilter { id: Some(id), ..ItemFilter::default() }, 1).await?.pop();
    found.map(Json).ok_or_else(|| ApiError::NotFound(format!("item {id}")))
}
