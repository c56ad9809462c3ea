//! `payload_fetch` and `product_discovery`: ask the menu platform for a store's whole menu and keep the raw
//! answer.
//!
//! In: a crawlable store. Out: a payload file, its row, and one chained `product_refresh`, which may continue in
//! the same slot with the fetched menu. It may run twice, and then leaves a file without a row, which the
//! sweep sets aside.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use super::context::TaskStore;
use super::platform_client::PlatformClient;
use super::product_refresh::FetchedMenu;
use super::progress::report_progress_while;
use super::{Context, RunProgress};
use crate::platforms::{Menu, MenuProgress};
use crate::stealth::ProxyId;
use db::pipeline;
use domain::amounts::counted;
use domain::payload::{FetchStart, NewPayload, Payload};
use domain::store::{Platform, Store, StoreId};
use domain::task::kinds::payload_fetch::Args;
use domain::task::role::Role;
use queue::{FollowUp, HandOver, Outcome, TaskError, WriteResults};
use storage::{PageBytes, PayloadContent, PayloadFile, PayloadHead};
use telemetry::events::DataWritten;

/// The first fetch of a new store.
pub fn first(platform: Platform, store: StoreId) -> FollowUp {
    FollowUp {
        dispensary_id: Some(store),
        platform: Some(platform.name().to_owned()),
        priority: Some(Role::ProductDiscovery.default_priority()),
        ..FollowUp::new(Role::ProductDiscovery, json!({}))
    }
}

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let (store, start) = begin(ctx).await?;
    let store = match store {
        TaskStore::Enabled(store) => store,
        TaskStore::Disabled { reason } => return Ok(Outcome::Cancel { reason }),
    };
    if !store.is_crawlable() {
        return Ok(Outcome::Cancel { reason: no_platform_id(store.id) });
    }
    ctx.services.payloads.check_room().await?;
    let menu = fetch(ctx, &store, &start).await?;
    let file = ctx.services.payloads.write(PayloadContent::from(&menu)).await?;
    let payload = new_payload(ctx, &menu, file);

    // the pages are in the file, and go; the products stay for the refresh
    let Menu { normal, memory, .. } = menu;
    let fetched = (payload, Arc::new(normal), memory);
    let done = Outcome::done(result(&fetched.0)).write(fetched, |(payload, menu, memory), tx| {
        Box::pin(async move {
            let insert = db::payloads::insert(tx, payload);
            let (payload, ()) =
                pipeline(insert, db::stores::record_fetch(tx, payload.dispensary_id, payload.product_count)).await?;
            let result = [("payload_id".to_owned(), json!(payload.id))].into_iter().collect();
            let next = vec![refresh_task(&payload)];
            let data = Some(DataWritten::Payload { bytes: payload.bytes as u64, coverage: payload.coverage });
            let fetched = FetchedMenu { payload, menu: Some(menu.clone()), memory: memory.clone() };
            Ok(WriteResults { result, next, data, hand_over: Some(HandOver::new(fetched)) })
        })
    });
    Ok(done.into())
}

fn no_platform_id(store: StoreId) -> String {
    format!(
        "store {store} has no platform id yet: `drover enqueue --role entry_point_discovery --dispensary {store}` looks it up"
    )
}

async fn begin(ctx: &Context) -> Result<(TaskStore, FetchStart), TaskError> {
    let id = ctx.store_id()?;
    let client = ctx.services.db.client().await?;
    let (store, start) = pipeline(db::stores::get(&client, id), db::payloads::before_fetch(&client, id)).await?;
    Ok((TaskStore::of(id, store)?, start))
}

async fn fetch(ctx: &Context, store: &Store, start: &FetchStart) -> Result<Menu, TaskError> {
    let mut platform_client = PlatformClient::for_store(ctx, store).await?;
    let (pages, seen) = watch::channel(MenuProgress::default());
    let on_page = |page| _ = pages.send(page);
    let menu =
        report_progress_while(ctx, seen, progress, platform_client.crawler().fetch_menu(store, start, &on_page)).await;
    let proxy = platform_client.proxy();
    platform_client.end().await;
    let menu = menu?;
    if start.is_too_small(menu.product_count) {
        confirm_small_menu(ctx, &menu, start, proxy).await?;
    }
    Ok(menu)
}

fn progress(&MenuProgress { products, announced }: &MenuProgress) -> RunProgress {
    match announced {
        Some(total) => RunProgress::of(products, total, format!("{products} of {} fetched", counted(total, "product"))),
        None => RunProgress { percent: None, message: format!("{} fetched", counted(products, "product")) },
    }
}

/// A menu that lost more than half is taken for a fault of the platform's, until enough fetches show it; an
/// empty one until an operator accepts it.
async fn confirm_small_menu(
    ctx: &Context,
    menu: &Menu,
    start: &FetchStart,
    proxy: Option<ProxyId>,
) -> Result<(), TaskError> {
    let client = ctx.services.db.client().await?;
    if db::payloads::believe_small_menu(&client, menu.dispensary_id, start, menu.product_count, proxy).await? {
        return Ok(());
    }
    Err(TaskError::retry(doubt(menu, start)))
}

fn doubt(menu: &Menu, start: &FetchStart) -> String {
    let (now, before, store) = (menu.product_count, start.products, menu.dispensary_id);
    match (now, before) {
        (0, 0) => format!(
            "empty menu: it holds no product, and the store was never crawled. If it sells nothing: `drover stores accept-empty {store}`"
        ),
        (0, _) => format!(
            "empty menu: it holds no product, down from {before}; the store's products stay as they are. If it no longer sells anything: \
             `drover stores accept-empty {store}`"
        ),
        _ => format!(
            "suspicious: the menu holds {}, down from {before}; it is kept once three fetches, two hours apart and not all through one proxy, show as few",
            counted(now, "product")
        ),
    }
}

fn result(payload: &NewPayload) -> Value {
    json!({
        "products": payload.product_count,
        "total_count": payload.total_count,
        "coverage": payload.coverage,
        "bytes": payload.bytes,
    })
}

/// The pages share their bytes with `menu`.
impl From<&Menu> for PayloadContent {
    fn from(menu: &Menu) -> PayloadContent {
        let head = PayloadHead {
            platform: menu.platform,
            dispensary_id: menu.dispensary_id,
            platform_dispensary_id: menu.platform_dispensary_id.clone(),
            fetched_at: menu.fetched_at,
            total_count: menu.total_count,
        };
        let pages = menu.pages.iter().map(|page| PageBytes {
            bytes: page.bytes.clone(),
            is_gzip: page.is_gzip,
            question: page.question.clone(),
        });
        PayloadContent { head, pages: pages.collect() }
    }
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

fn refresh_task(payload: &Payload) -> FollowUp {
    FollowUp {
        dispensary_id: Some(payload.dispensary_id),
        platform: Some(payload.platform.name().to_owned()),
        ..FollowUp::new(Role::ProductRefresh, json!({ "payload_id": payload.id }))
    }
}
