//! Imports, changes and deletions of stores, in the transaction of the request.
//!
//! In: checked stores, or the checked change of one. Out: what became of them. The tasks that follow are queued,
//! and the tasks that are pointless now are cancelled, in the same transaction.

use strum::VariantArray;
use thiserror::Error;

use super::{AddressOwner, Holdings};
use crate::tasks::requests::RequestError;
use crate::tasks::{ChangeError, NewTask};
use crate::{DbError, Tx, stores, tasks};
use contract::stores::{DeletedStore, ImportedStore, ImportedStores, RenamedStore, StoreChange};
use contract::task_requests::TaskRequest;
use domain::amounts::counted;
use domain::store::menu_urls::{MenuKey, MenuUrls};
use domain::store::{NewStore, Store, StoreId};
use domain::task::role::Role;

/// Tasks that ask for the menu of a store by its id at the platform, or keep what such a task fetched.
const CRAWLS: [Role; 3] = [Role::ProductDiscovery, Role::PayloadFetch, Role::ProductRefresh];

/// Reason why a store was not changed.
#[derive(Debug, Error)]
pub enum StoreChangeError {
    #[error("store {id} would have no platform id, no slug and no menu URL: at least one of them must remain")]
    NoMenu { id: StoreId },
    #[error("store {other} has the platform id {platform_id} already")]
    Taken { other: StoreId, platform_id: String },
    #[error(
        "store {other} ({name}) has the slug {slug} already: correct that store first (drover stores edit {other} --slug SLUG), or delete \
         it if both are one store (drover stores delete {other}{flag})"
    )]
    SlugTaken {
        other: StoreId,
        name: String,
        slug: String,
        /// ` --with-products` where the other store is not deleted without it.
        flag: &'static str,
    },
    #[error(
        "store {id} is looked up by its menu URL {menu_url}, so another slug changes nothing: give menu_url, too, or an empty one, which \
         removes it (--menu-url URL, --menu-url '')"
    )]
    Overruled { id: StoreId, menu_url: String },
    /// The platform does not know the menu URL.
    #[error("{0}")]
    MenuUrl(String),
    #[error(
        "store {id} has {} and {}: delete it with them (with_products=true, or \
         --with-products on the command line), or disable it to keep them", counted(*products, "product"), counted(*payloads, "payload")
    )]
    HasProducts { id: StoreId, products: i64, payloads: i64 },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Effect of the change of a store.
#[derive(Debug)]
pub struct Changed {
    pub is_rewritten: bool,
    /// Why its new address leaves its crawls as they are.
    pub notice: Option<String>,
}

/// Adds the stores that are not known. A store without its platform's id gets a task that finds the id.
/// `Conflict` or `Contention` when another transaction adds one of them now.
pub async fn import(tx: &Tx, new: &[NewStore], key: &MenuKey<'_>) -> Result<ImportedStores, DbError> {
    let mut answer = ImportedStores::default();
    let mut tasks = Vec::new();
    for (store, row) in new.iter().zip(stores::add_unless_known(tx, new, key).await?) {
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
/// first crawl after a change of the id. Its open tasks for the address or id before are cancelled. `urls` judges a new menu URL.
pub async fn change(
    tx: &Tx,
    id: StoreId,
    change: &StoreChange,
    urls: &dyn MenuUrls,
) -> Result<Changed, StoreChangeError> {
    let before = stores::get_locked(tx, id).await?;
    let after = changed(before.clone(), change);
    if [&after.platform_dispensary_id, &after.slug, &after.menu_url].iter().all(|key| key.is_none()) {
        return Err(StoreChangeError::NoMenu { id });
    }
    let switched = match change.crawl_enabled {
        Some(is_on) => stores::set_crawl_enabled(tx, id, is_on).await?,
        None => false,
    };
    require_address(tx, &before, &after, urls).await?;
    require_free_id(tx, &after).await?;
    if after.platform != before.platform {
        stores::sell_out(tx, &[id]).await?;
    }
    let is_rewritten =
        stores::change(tx, &after, change.city.as_ref(), &|platform, url: &str| urls.key(platform, url)).await?;
    follow(tx, &before, &after).await?;
    Ok(Changed { is_rewritten: switched || is_rewritten, notice: notice(&before, &after) })
}

/// A store with a platform id is crawled by it, whatever its slug and menu URL are.
fn notice(before: &Store, after: &Store) -> Option<String> {
    let platform_id = after.platform_dispensary_id.as_ref()?;
    if before.platform_dispensary_id.as_ref() != Some(platform_id) {
        return None;
    }
    let is_new = |now: &Option<String>, before: &Option<String>| now.is_some() && now != before;
    let has_new_url = is_new(&after.menu_url, &before.menu_url);
    let (address, remedy) = match (is_new(&after.slug, &before.slug), &after.menu_url) {
        _ if has_new_url => ("menu URL", "--platform-id ''"),
        (true, None) => ("slug", "--platform-id ''"),
        (true, Some(_)) => ("slug", "--platform-id '' --menu-url ''"),
        (false, _) => return None,
    };
    Some(format!(
        "the new {address} is stored, and changes nothing in what is crawled: store {id} is crawled by its platform id {platform_id}. To look \
         the id up by the {address}, run drover stores edit {id} {remedy}",
        id = after.id
    ))
}

/// Deletes a store and cancels its open tasks. A store with products or payloads is deleted only `with_products`.
pub async fn delete(tx: &Tx, id: StoreId, with_products: bool) -> Result<DeletedStore, StoreChangeError> {
    let store = stores::get_locked(tx, id).await?;
    let holdings = stores::holdings(tx, id).await?;
    let Holdings { products, payloads, is_discovered } = holdings;
    if !with_products && !holdings.is_empty() {
        return Err(StoreChangeError::HasProducts { id, products, payloads });
    }
    cancel_open(tx, id, Role::VARIANTS).await?;
    stores::delete(tx, id).await?;
    Ok(DeletedStore { id, name: store.name, products, payloads, is_discovered })
}

/// Replaces the tasks for the menu that the store had before: a run of one would write what belongs to another
/// store.
async fn follow(tx: &Tx, before: &Store, after: &Store) -> Result<(), DbError> {
    let identity = |store: &Store| (store.platform, store.platform_dispensary_id.clone());
    let is_other = identity(after) != identity(before);
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
    let StoreChange { crawl_enabled, name, platform, slug, menu_url, platform_dispensary_id, city: _, state, timezone } =
        change.clone();
    if let Some(platform) = platform.filter(|platform| *platform != store.platform) {
        store = Store { platform, slug: None, menu_url: None, platform_dispensary_id: None, ..store };
    }
    store.crawl_enabled = crawl_enabled.unwrap_or(store.crawl_enabled);
    store.name = name.unwrap_or(store.name);
    store.slug = slug.unwrap_or(store.slug);
    store.menu_url = menu_url.unwrap_or(store.menu_url);
    store.platform_dispensary_id = platform_dispensary_id.unwrap_or(store.platform_dispensary_id);
    store.state = state.unwrap_or(store.state);
    store.timezone = timezone.unwrap_or(store.timezone);
    store
}

/// Refuses a new address that is another store's, that the platform does not know, or that changes nothing.
async fn require_address(tx: &Tx, before: &Store, after: &Store, urls: &dyn MenuUrls) -> Result<(), StoreChangeError> {
    let slug = after.slug.as_deref().filter(|_| after.slug != before.slug);
    let menu_url = after.menu_url.as_deref().filter(|_| after.menu_url != before.menu_url);
    if slug.is_none() && menu_url.is_none() {
        return Ok(());
    }
    let fault = menu_url.and_then(|url| urls.fault(after.platform, url, after.api_host.as_deref()));
    if let Some(fault) = fault {
        let other = menu_url.and_then(|url| urls.platform_of(url, after.api_host.as_deref()));
        let remedy = other.map(|other| {
            format!("; it is one of {other}: to move the store there, give its platform, too (--platform {other})")
        });
        return Err(StoreChangeError::MenuUrl(fault + &remedy.unwrap_or_default()));
    }
    let key = |menu_url: &str| urls.key(after.platform, menu_url);
    let owner = stores::owner_of_address(tx, after, slug, menu_url.and_then(key).as_deref()).await?;
    if let Some(AddressOwner { other, other_name: name, other_slug: slug }) = owner {
        let flag = if stores::holdings(tx, other).await?.is_empty() { "" } else { " --with-products" };
        return Err(StoreChangeError::SlugTaken { other, name, slug, flag });
    }
    let is_looked_up = after.platform_dispensary_id.is_none() && menu_url.is_none();
    match (slug, after.menu_url.as_deref().and_then(key), &after.menu_url) {
        (Some(slug), Some(key), Some(menu_url)) if is_looked_up && !key.eq_ignore_ascii_case(slug) => {
            Err(StoreChangeError::Overruled { id: after.id, menu_url: menu_url.clone() })
        }
        _ => Ok(()),
    }
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
            // it has ended since
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
    match tasks::requests::enqueue(tx, request).await {
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
