//! `entry_point_discovery`: finds out which store of the platform a menu address leads to.
//!
//! In: a store that came without a platform id. Out: its id and the platform's own slug, and one chained `product_discovery`.

use serde_json::json;

use super::context::Store;
use super::outing::Outing;
use super::store_discovery::first_fetch;
use super::{Context, Learned, Outcome, TaskError};
use crate::db;
use crate::domain::args;
use crate::domain::dispensary::Dispensary;
use crate::platforms::StoreRef;

pub async fn run(ctx: &Context, _: args::EntryPointDiscovery) -> Result<Outcome, TaskError> {
    let store = match ctx.store().await? {
        Store::Open(store) => store,
        Store::Closed { reason } => return Ok(Outcome::Cancel { reason }),
    };
    let found = resolve(ctx, &store).await?;
    refuse_twin(ctx, &store, &found).await?;

    let result = json!({ "platform_dispensary_id": found.platform_dispensary_id, "slug": found.slug });
    let done = Outcome::done(result).next(first_fetch(store.platform, store.id)).write(move |tx| {
        Box::pin(async move {
            db::stores::resolve(tx, store.id, &found.platform_dispensary_id, found.slug.as_deref()).await?;
            Ok(Learned::default())
        })
    });
    Ok(done.into())
}

async fn resolve(ctx: &Context, store: &Dispensary) -> Result<StoreRef, TaskError> {
    let mut outing = Outing::to_store(ctx, store).await?;
    let found = outing.crawler().resolve_store(store).await;
    outing.end().await;
    Ok(found?)
}

/// One shop under two addresses would be crawled twice.
async fn refuse_twin(ctx: &Context, store: &Dispensary, found: &StoreRef) -> Result<(), TaskError> {
    let client = ctx.db.client().await?;
    let id = &found.platform_dispensary_id;
    match db::stores::of_platform_id(&client, store.platform, id).await? {
        Some(twin) if twin != store.id => {
            Err(TaskError::permanent(format!("it is dispensary {twin} once more: both are {id} at {}", store.platform)))
        }
        _ => Ok(()),
    }
}
