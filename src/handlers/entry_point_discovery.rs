//! `entry_point_discovery`: finds out which store of the platform a menu address leads to.
//!
//! In: a store that came without a platform id. Out: its id and the platform's own slug, and one chained
//! `product_discovery`.

use serde_json::json;

use super::context::TaskStore;
use super::platform_client::PlatformClient;
use super::{Context, payload_fetch};
use crate::platforms::StoreRef;
use domain::store::Store;
use domain::task::kinds::entry_point_discovery::Args;
use queue::{Outcome, TaskError, WriteResults};

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let store = match ctx.store().await? {
        TaskStore::Enabled(store) => store,
        TaskStore::Disabled { reason } => return Ok(Outcome::Cancel { reason }),
    };
    let found = resolve(ctx, &store).await?;
    reject_duplicate(ctx, &store, &found).await?;

    let result = json!({ "platform_dispensary_id": found.platform_dispensary_id, "slug": found.slug });
    let done = Outcome::done(result).next(payload_fetch::first(store.platform, store.id)).write(
        (store.id, found),
        |(store, found), tx| {
            Box::pin(async move {
                db::stores::resolve(tx, *store, &found.platform_dispensary_id, found.slug.as_deref()).await?;
                Ok(WriteResults::default())
            })
        },
    );
    Ok(done.into())
}

async fn resolve(ctx: &Context, store: &Store) -> Result<StoreRef, TaskError> {
    let mut platform_client = PlatformClient::for_store(ctx, store).await?;
    let found = platform_client.crawler().resolve_store(store).await;
    platform_client.end().await;
    Ok(found?)
}

/// One store under two addresses would be crawled twice, and two stores under one id would share a history.
async fn reject_duplicate(ctx: &Context, store: &Store, found: &StoreRef) -> Result<(), TaskError> {
    let id = &found.platform_dispensary_id;
    if let Some(known) = store.platform_dispensary_id.as_ref().filter(|known| *known != id) {
        return Err(TaskError::permanent(format!(
            "its address leads to {id} at {}, but it is known as {known}",
            store.platform
        )));
    }
    let client = ctx.services.db.client().await?;
    match db::stores::of_platform_id(&client, store.platform, id).await? {
        Some(existing) if existing != store.id => Err(TaskError::permanent(format!(
            "store {} is a duplicate of store {existing}: both are {id} at {}; switch this one off: `drover stores disable {}`",
            store.id, store.platform, store.id
        ))),
        _ => Ok(()),
    }
}
