//! `payload_fetch` and `product_discovery`: ask the menu platform for a store's whole menu and keep the raw answer.
//!
//! In: a crawlable store. Out: a payload file, its row, and one chained `product_refresh`. It may run twice, and then leaves a
//! file without a row, which a tick removes.

use serde_json::{Value, json};

use super::context::Store;
use super::outing::Outing;
use super::{Chained, Context, Learned, Outcome, TaskError};
use crate::db;
use crate::db::products::Shelf;
use crate::domain::args;
use crate::domain::dispensary::Dispensary;
use crate::domain::payload::{NewPayload, PayloadId};
use crate::domain::role::Role;
use crate::platforms::Menu;
use crate::storage::{PageBytes, PayloadContent, PayloadFile, PayloadHead};

pub async fn run(ctx: &Context, _: args::PayloadFetch) -> Result<Outcome, TaskError> {
    let store = match ctx.store().await? {
        Store::Open(store) => store,
        Store::Closed { reason } => return Ok(Outcome::Cancel { reason }),
    };
    if !store.is_crawlable() {
        return Ok(Outcome::Cancel { reason: format!("dispensary {} has no platform id yet", store.id) });
    }
    ctx.payloads.check_room().await?;
    let menu = fetch(ctx, &store).await?;
    let file = ctx.payloads.write(content(&menu)).await?;
    let payload = new_payload(ctx, &menu, file);

    let done = Outcome::done(told(&payload)).write(move |tx| {
        Box::pin(async move {
            let payload_id = db::payloads::insert(tx, &payload).await?;
            db::stores::fetched(tx, payload.dispensary_id).await?;
            Ok(Learned {
                result: [("payload_id".to_owned(), json!(payload_id))].into_iter().collect(),
                next: vec![refresh(&payload, payload_id)],
            })
        })
    });
    Ok(done.into())
}

async fn fetch(ctx: &Context, store: &Dispensary) -> Result<Menu, TaskError> {
    let shelf = Shelf { dispensary_id: store.id, platform: store.platform };
    let had_products = db::products::exist(&ctx.db.client().await?, shelf).await?;
    let mut outing = Outing::to_store(ctx, store).await?;
    let menu = outing.crawler().fetch_menu(store, had_products).await;
    outing.end().await;
    Ok(menu?)
}

fn told(payload: &NewPayload) -> Value {
    json!({
        "products": payload.product_count,
        "total_count": payload.total_count,
        "coverage": payload.coverage,
        "bytes": payload.bytes,
    })
}

/// The pages share their bytes with `menu`.
fn content(menu: &Menu) -> PayloadContent {
    let head = PayloadHead {
        platform: menu.platform,
        dispensary_id: menu.dispensary_id,
        platform_dispensary_id: menu.platform_dispensary_id.clone(),
        fetched_at: menu.fetched_at,
        total_count: menu.total_count,
    };
    let pages = menu.pages.iter().map(|page| PageBytes { bytes: page.bytes.clone(), is_gzip: page.is_gzip });
    PayloadContent { head, pages: pages.collect() }
}

fn new_payload(ctx: &Context, menu: &Menu, file: PayloadFile) -> NewPayload {
    NewPayload {
        task_id: ctx.task_id,
        dispensary_id: menu.dispensary_id,
        platform: menu.platform,
        storage_path: file.storage_path,
        sha256: file.sha256,
        bytes: file.bytes as i64,
        product_count: menu.product_count as i32,
        total_count: menu.total_count as i32,
        coverage: menu.coverage(),
        fetched_at: menu.fetched_at,
    }
}

fn refresh(payload: &NewPayload, payload_id: PayloadId) -> Chained {
    Chained {
        role: Role::ProductRefresh,
        dispensary_id: Some(payload.dispensary_id),
        platform: Some(payload.platform),
        priority: None,
        payload: json!({ "payload_id": payload_id }),
    }
}
