//! `product_refresh`: turns a kept payload into products, snapshots and stock. It never asks the menu platform.
//!
//! In: a payload's id, or none for the store's latest. Out: the writes of one [`Crawl`] and their counts. Any payload may be
//! replayed at any time: what it may still change depends on its place among its store's payloads.

pub mod crawl;

use std::collections::BTreeMap;

use serde_json::json;

use super::context::Store;
use super::{Context, Learned, Outcome, TaskError};
use crate::domain::args;
use crate::domain::dispensary::DispensaryId;
use crate::domain::payload::Payload;
use crate::domain::product::{NormalMenu, Warning};
use crate::{cpu, db, platforms};
use crawl::Crawl;

pub async fn run(ctx: &Context, args: args::ProductRefresh) -> Result<Outcome, TaskError> {
    let store = match ctx.store().await? {
        Store::Open(store) => store,
        Store::Closed { reason } => return Ok(Outcome::Cancel { reason }),
    };
    let payload = find_payload(ctx, store.id, args.payload_id).await?;
    let menu = read_menu(ctx, &payload).await?;

    let mut result = json!({ "payload_id": payload.id, "warnings": by_kind(&menu.warnings) });
    if !menu.unknown_keys.is_empty() {
        result["unknown_keys"] = json!(menu.unknown_keys);
    }
    let crawl = Crawl { payload, products: menu.products, min_coverage: ctx.limits.min_coverage };
    let write = Outcome::done(result).write(move |tx| {
        Box::pin(async move {
            let counts = crawl.write(tx).await?;
            Ok(Learned { result: counts.into(), next: Vec::new() })
        })
    });
    Ok(write.into())
}

async fn find_payload(ctx: &Context, store: DispensaryId, id: Option<i64>) -> Result<Payload, TaskError> {
    let client = ctx.db.client().await?;
    let found = match id {
        Some(id) => db::payloads::get(&client, id).await?.filter(|payload| payload.dispensary_id == store),
        None => db::payloads::latest(&client, store).await?,
    };
    found.ok_or_else(|| {
        TaskError::permanent(match id {
            Some(id) => format!("no_payload: dispensary {store} has no payload {id}"),
            None => format!("no_payload: dispensary {store} has none yet"),
        })
    })
}

async fn read_menu(ctx: &Context, payload: &Payload) -> Result<NormalMenu, TaskError> {
    let stored = ctx.payloads.read(&payload.storage_path, &payload.sha256).await?;
    let platform = payload.platform;
    let normalised = cpu::run(move || platforms::normalise(platform, &stored.pages())).await;
    normalised.map_err(|error| TaskError::permanent(format!("payload {}: {error}", payload.id)))
}

fn by_kind(warnings: &[Warning]) -> BTreeMap<&'static str, usize> {
    let mut kinds = BTreeMap::new();
    for warning in warnings {
        *kinds.entry(warning.kind).or_default() += 1;
    }
    kinds
}
