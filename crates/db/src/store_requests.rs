//! Imports, changes and deletions of stores, in the transaction of the request.
//!
//! In: checked stores, or the checked change of one. Out: what became of them. The tasks that follow are queued,
//! and the tasks that are pointless now are cancelled, in the same transaction.

use strum::VariantArray;
use thiserror::Error;

use super::stores::Holdings;
use super::task_requests::{self, RequestError};
use super::tasks::{self, ChangeError, NewTask};
use super::{DbError, Tx, stores};
use contract::stores::{DeletedStore, ImportedStore, ImportedStores, RenamedStore, StoreChange};
use contract::task_requests::TaskRequest;
use domain::role::Role;
use domain::store::{NewStore, Store, StoreId};

/// Tasks that ask for the menu of a store by its id at the platform, or keep what such a task fetched.
const CRAWLS: [Role; 3] = [Role::ProductDiscovery, Role::PayloadFetch, Role::ProductRefresh];

/// Reason why a store was not changed.
#[derive(Debug, Error)]
pub enum StoreChangeError {
    #[error("store {id} would have no platform id, no slug and no menu URL: one of them must be left")]
    NoMenu { id: StoreId },
    #[error("store {other} has the platform id {platform_id} already")]
    Taken { other: StoreId, platform_id: String },
    #[error(
        "store {id} has {products} products and {payloads} payloads: delete it with them (with_products=true, or \
         --with-products on the command line), or disable it to keep them"
    )]
    HasProducts { id: StoreId, products: i64, payloads: i64 },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Adds the stores that are not known. A store without its platform's id gets a task that finds the id.
/// `Conflict` or `Contention` when another transaction adds one of them now.
pub async fn import(tx: &Tx, new: &[NewStore]) -> Result<ImportedStores, DbError> {
    let mut answer = ImportedStores::default();
    let mut tasks = Vec::new();
    for (store, row) in new.iter().zip(stores::add_unless_known(tx, new).await?) {
        if row.is_known {
            answer.known.push(row.id);
            answer.grouped += usize::from(row.is_grouped);
            answer.full.extend(row.is_full.then_some(row.id));
            let renamed = |former_slug| RenamedStore { id: row.id, former_slug, slug: row.slug };
            answer.renamed.extend(row.former_slug.map(renamed));
            continue;
        }
        if store.platform_dispensary_id.is_none() {
            tasks.push((answer.imported.len(), look_up(store, row.id)));
        }
        answer.imported.push(ImportedStore { id: row.id, name: store.name.clone(), entry_point_task_id: None });
    }
    let (places, tasks): (Vec<usize>, Vec<NewTask>) = tasks.into_iter().unzip();
    for (place, id) in places.into_iter().zip(tasks::enqueue(tx, &tasks).await?) {
        answer.imported[place].entry_point_task_id = Some(id);
    }
    Ok(answer)
}

/// Changes a store, and queues what follows: the look-up of its platform id after a change of its addresses, its
/// first crawl after a change of the id. Its open tasks for the address or id before are cancelled. Returns
/// whether anything changed.
pub async fn change(tx: &Tx, id: StoreId, change: &StoreChange) -> Result<bool, StoreChangeError> {
    let before = stores::get_locked(tx, id).await?;
    let after = changed(before.clone(), change);
    if [&after.platform_dispensary_id, &after.slug, &after.menu_url].iter().all(|key| key.is_none()) {
        return Err(StoreChangeError::NoMenu { id });
    }
    let switched = match change.crawl_enabled {
        Some(is_on) => stores::set_crawl_enabled(tx, id, is_on).await?,
        None => false,
    };
    let is_rewritten = before != Store { crawl_enabled: before.crawl_enabled, ..after.clone() };
    if is_rewritten {
        require_free_id(tx, &after).await?;
        stores::change(tx, &after).await?;
    }
    follow(tx, &before, &after).await?;
    Ok(switched || is_rewritten)
}

/// Deletes a store and cancels its open tasks. A store with products or payloads is deleted only `with_products`.
pub async fn delete(tx: &Tx, id: StoreId, with_products: bool) -> Result<DeletedStore, StoreChangeError> {
    let store = stores::get_locked(tx, id).await?;
    let Holdings { products, payloads, is_discovered } = stores::holdings(tx, id).await?;
    if !with_products && (products > 0 || payloads > 0) {
        return Err(StoreChangeError::HasProducts { id, products, payloads });
    }
    cancel_open(tx, id, Role::VARIANTS).await?;
    stores::delete(tx, id).await?;
    Ok(DeletedStore { id, name: store.name, products, payloads, is_discovered })
}

/// Replaces the tasks for the menu that the store had before: a run of one would write what belongs to another
/// store.
async fn follow(tx: &Tx, before: &Store, after: &Store) -> Result<(), DbError> {
    let is_other = after.platform_dispensary_id != before.platform_dispensary_id;
    let is_found_elsewhere = (&after.slug, &after.menu_url) != (&before.slug, &before.menu_url);
    if is_other {
        cancel_open(tx, after.id, &CRAWLS).await?;
    }
    match &after.platform_dispensary_id {
        Some(_) if is_other => {
            cancel_open(tx, after.id, &[Role::EntryPointDiscovery]).await?;
            queue(tx, after, Role::ProductDiscovery).await
        }
        None if is_other || is_found_elsewhere => {
            cancel_open(tx, after.id, &[Role::EntryPointDiscovery]).await?;
            queue(tx, after, Role::EntryPointDiscovery).await
        }
        // the look-up that it had was cancelled while it was disabled
        None if after.crawl_enabled && !before.crawl_enabled => queue(tx, after, Role::EntryPointDiscovery).await,
        _ => Ok(()),
    }
}

fn changed(mut store: Store, change: &StoreChange) -> Store {
    let StoreChange { crawl_enabled, name, slug, menu_url, platform_dispensary_id } = change.clone();
    store.crawl_enabled = crawl_enabled.unwrap_or(store.crawl_enabled);
    store.name = name.unwrap_or(store.name);
    store.slug = slug.unwrap_or(store.slug);
    store.menu_url = menu_url.unwrap_or(store.menu_url);
    store.platform_dispensary_id = platform_dispensary_id.unwrap_or(store.platform_dispensary_id);
    store
}

async fn require_free_id(tx: &Tx, store: &Store) -> Result<(), StoreChangeError> {
    let Some(platform_id) = &store.platform_dispensary_id else { return Ok(()) };
    match stores::of_platform_id(tx, store.platform, platform_id).await? {
        Some(other) if other != store.id => Err(StoreChangeError::Taken { other, platform_id: platform_id.clone() }),
        _ => Ok(()),
    }
}

async fn cancel_open(tx: &Tx, id: StoreId, roles: &[Role]) -> Result<(), DbError> {
    for task in stores::open_tasks(tx, id, roles).await? {
        match tasks::cancel(tx, task).await {
            // it has ended meanwhile
            Ok(_) | Err(ChangeError::Missing(_) | ChangeError::Status { .. }) => {}
            Err(ChangeError::Db(error)) => return Err(error),
            Err(other) => return Err(DbError::Other(other.to_string())),
        }
    }
    Ok(())
}

/// Queues a task of the store, unless the store is disabled or has such a task.
async fn queue(tx: &Tx, store: &Store, role: Role) -> Result<(), DbError> {
    if !store.crawl_enabled {
        return Ok(());
    }
    let request = TaskRequest { role: role.name().to_owned(), dispensary_id: Some(store.id), ..TaskRequest::default() };
    match task_requests::enqueue(tx, request).await {
        Ok(_) | Err(RequestError::Duplicate { .. }) => Ok(()),
        Err(RequestError::Db(error)) => Err(error),
        Err(other) => Err(DbError::Other(other.to_string())),
    }
}

fn look_up(store: &NewStore, id: StoreId) -> NewTask {
    NewTask {
        dispensary_id: Some(id),
        platform: Some(store.platform.name().to_owned()),
        dedup_key: Some(format!("{}:{id}", Role::EntryPointDiscovery)),
        ..NewTask::new(Role::EntryPointDiscovery)
    }
}
