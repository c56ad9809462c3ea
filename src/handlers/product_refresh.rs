//! `product_refresh`: turns a kept payload into products, snapshots and stock. It never asks the menu
//! platform.
//!
//! In: a payload's id, or none for the store's latest; or the menu that the fetch before it in the same slot
//! has parsed already. Out: the writes of one [`MenuWrite`] and their counts. Any payload may be replayed at
//! any time: its permitted changes depend on its place among its store's payloads. A payload whose file is
//! lost or damaged fails the task for good, and one fetch is queued in its place.

mod changes;
mod variants;
pub mod write;

use std::sync::Arc;

use serde_json::json;

use super::Context;
use super::context::TaskStore;
use crate::platforms;
use domain::menu::NormalMenu;
use domain::payload::Payload;
use domain::store::StoreId;
use domain::task::kinds::product_refresh::Args;
use domain::task::role::Role;
use foundation::memory::MemoryPermit;
use queue::{FollowUp, HandOver, Outcome, TaskError, WriteResults};
use storage::{StorageError, StoredMenu};
use telemetry::events::DataWritten;
use write::MenuWrite;

/// A menu on its way from the fetch to its refresh, in memory. The payload file holds the same and stays the
/// truth: after a crash, and for every later refresh.
#[derive(Clone, Debug)]
pub struct FetchedMenu {
    pub payload: Payload,
    /// None: only the file has it.
    pub menu: Option<Arc<NormalMenu>>,
    /// Permit that is held while the products are.
    pub memory: MemoryPermit,
}

/// `hand_over`: the [`FetchedMenu`] of the fetch that this refresh continues from.
pub async fn run(ctx: &Context, args: Args, hand_over: Option<HandOver>) -> Result<Outcome, TaskError> {
    let FetchedMenu { payload, menu, memory } = match hand_over.and_then(HandOver::open::<FetchedMenu>) {
        Some(fetched) => fetched,
        None => match ctx.store().await? {
            TaskStore::Enabled(store) => find_payload(ctx, store.id, args.payload_id).await?.into(),
            TaskStore::Disabled { reason } => return Ok(Outcome::Cancel { reason }),
        },
    };
    let menu = match menu {
        Some(menu) => menu,
        None => match read_menu(ctx, &payload).await? {
            Ok(menu) => Arc::new(menu),
            Err(lost) => return Ok(fetch_again(payload, &lost)),
        },
    };
    Ok(refresh(ctx, payload, menu, memory))
}

impl From<Payload> for FetchedMenu {
    fn from(payload: Payload) -> FetchedMenu {
        FetchedMenu { payload, menu: None, memory: MemoryPermit::default() }
    }
}

fn refresh(ctx: &Context, payload: Payload, menu: Arc<NormalMenu>, memory: MemoryPermit) -> Outcome {
    let mut result = json!({ "payload_id": payload.id, "warnings": menu.warnings.by_kind() });
    if !menu.unknown_keys.is_empty() {
        result["unknown_keys"] = json!(menu.unknown_keys);
    }
    let min_coverage = ctx.services.platforms.get(payload.platform).limits.min_coverage;
    let low_stock = ctx.services.low_stock.current();
    let categories = Arc::clone(&ctx.services.categories);
    let menu_write = MenuWrite { payload, menu, min_coverage, low_stock, categories, memory };
    let store = menu_write.payload.dispensary_id;
    let done = Outcome::done(result).write(menu_write, |menu_write, tx| {
        Box::pin(async move {
            let counts = menu_write.write(tx).await?;
            let data = Some(DataWritten::Products((&counts).into()));
            Ok(WriteResults { result: counts.into(), data, ..WriteResults::default() })
        })
    });
    let (downloads, publisher) = (ctx.services.downloads.clone(), ctx.services.change_publisher.clone());
    done.after(move |_| async move {
        publisher.wake();
        if let Some(downloads) = downloads {
            downloads.add(store);
        }
    })
    .into()
}

async fn find_payload(ctx: &Context, store: StoreId, id: Option<i64>) -> Result<Payload, TaskError> {
    let client = ctx.services.db.client().await?;
    let found = match id {
        Some(id) => db::payloads::get(&client, id).await?.filter(|payload| payload.dispensary_id == store),
        None => db::payloads::latest(&client, store).await?,
    };
    found.ok_or_else(|| {
        TaskError::permanent(match id {
            Some(id) => format!("no_payload: store {store} has no payload {id}"),
            None => format!("no_payload: store {store} has no payload yet: enqueue a payload_fetch first"),
        })
    })
}

/// The inner error: the file itself is at fault.
async fn read_menu(ctx: &Context, payload: &Payload) -> Result<Result<NormalMenu, StorageError>, TaskError> {
    let platform = payload.platform;
    let normalise = move |stored: StoredMenu| platforms::normalise(platform, &stored.pages());
    match ctx.services.payloads.read_with(&payload.storage_path, &payload.sha256, normalise).await {
        Ok(Ok(menu)) => Ok(Ok(menu)),
        Ok(Err(error)) => Err(TaskError::permanent(format!("payload {}: {error}", payload.id))),
        Err(error) if error.is_permanent() => Ok(Err(error)),
        Err(error) => Err(error.into()),
    }
}

/// Only a fetch helps, unless a newer payload holds more than this one could.
fn fetch_again(payload: Payload, lost: &StorageError) -> Outcome {
    let reason = format!("payload {}: {lost}", payload.id);
    let done = Outcome::done(json!({ "payload_id": payload.id })).failing(reason).write(payload, |payload, tx| {
        Box::pin(async move {
            let fetch = FollowUp {
                dispensary_id: Some(payload.dispensary_id),
                platform: Some(payload.platform.name().to_owned()),
                ..FollowUp::new(Role::PayloadFetch, json!({}))
            };
            let is_needed = db::payloads::needs_refetch(tx, payload.id).await?;
            let result = [("fetches_again".to_owned(), json!(is_needed))].into_iter().collect();
            Ok(WriteResults {
                result,
                next: is_needed.then_some(fetch).into_iter().collect(),
                ..WriteResults::default()
            })
        })
    });
    done.into()
}
