//! `dispensaries`: the stores, the addresses of their menus, and the state of their crawls.

pub mod bulk;
pub mod by_platform;
pub mod discovery;
pub mod groups;
pub mod quality;
pub mod requests;
pub mod switches;
pub mod views;

use chrono::{DateTime, Utc};

use super::{Client, DbError, Tx};
use crate::statements::{FromRow, column, first_column, first_columns, named, parsed, read_all, rows, sql};
use domain::menu::stock::PayloadPosition;
use domain::payload::{Payload, PayloadId};
use domain::store::menu_urls::MenuKey;
use domain::store::{NewStore, Platform, Store, StoreId};
use domain::task::TaskId;
use domain::task::role::Role;

/// State of a store's crawls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrawlState {
    /// The newest payload whose products are stored.
    pub newest: Option<PayloadPosition>,
    /// Fetch time of the newest complete crawl.
    pub last_complete_at: Option<DateTime<Utc>>,
    /// Whether the store is crawled at all.
    pub is_enabled: bool,
    /// Whether the content hashes of its products belong to the newest payload. A process of the release
    /// before keeps none.
    pub has_hashes: bool,
    /// Its next whole menu is only compared with by later ones: the store is new, was closed, or has another menu.
    pub needs_baseline: bool,
    /// Whether a logo of any brand may have failed since its newest crawl: its products then offer their addresses again.
    pub has_failed_logos: bool,
}

/// A store whose crawls were switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    pub id: StoreId,
    pub was_enabled: bool,
    /// Whether its row changed: switched off by hand, a store that discovery had closed stays closed.
    pub is_changed: bool,
    /// Whether it was switched on and has no id at its platform: its look-up was cancelled while it was off.
    pub needs_look_up: bool,
}

pub async fn get(client: &Client, id: StoreId) -> Result<Option<Store>, DbError> {
    client.query_opt(sql!("stores/get.sql"), &[&id]).await?.as_ref().map(Store::from_row).transpose()
}

/// The first store of a platform that is crawled.
pub async fn first_of_platform(client: &Client, platform: Platform) -> Result<Option<Store>, DbError> {
    let row = client.query_opt(sql!("stores/first_of_platform.sql"), &[&platform.name()]).await?;
    row.as_ref().map(Store::from_row).transpose()
}

/// The store, whose row is locked until the transaction ends.
pub async fn get_locked(tx: &Tx, id: StoreId) -> Result<Store, DbError> {
    let row = tx.query_opt(sql!("stores/get_locked.sql"), &[&id]).await?;
    Store::from_row(&row.ok_or_else(|| DbError::Missing(format!("store {id}")))?)
}

/// Writes the store's name, platform, addresses, platform id and place; its city only where one is given. Returns whether
/// anything changed. `Conflict` when another store has the id.
pub async fn change(tx: &Tx, store: &Store, city: Option<&Option<String>>, key: &MenuKey<'_>) -> Result<bool, DbError> {
    let Store { id, name, slug, menu_url, platform_dispensary_id, state, timezone, .. } = store;
    let menu_key = key_of(key, store.platform, menu_url);
    let (moves, city) = (city.is_some(), city.cloned().flatten());
    let changed = named!(tx.execute(
        "stores/change.sql",
        id,
        name,
        platform = store.platform.name(),
        slug,
        menu_url,
        menu_key,
        platform_dispensary_id,
        state,
        timezone,
        moves,
        city
    ))
    .await?;
    Ok(changed > 0)
}

/// Marks the products of these stores as sold out, without a change of the feed: nothing says that they were sold.
pub async fn sell_out(tx: &Tx, ids: &[StoreId]) -> Result<(), DbError> {
    tx.execute(sql!("stores/sell_out.sql"), &[&ids]).await?;
    Ok(())
}

/// A store that has an address already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressOwner {
    pub other: StoreId,
    pub other_name: String,
    /// Its slug, or the key of its menu URL.
    pub other_slug: String,
}

/// Another store of the platform with the new slug of `store`, or with the key of its new menu URL.
pub async fn owner_of_address(
    tx: &Tx,
    store: &Store,
    slug: Option<&str>,
    menu_key: Option<&str>,
) -> Result<Option<AddressOwner>, DbError> {
    let row = named!(tx.query_opt(
        "stores/address.sql",
        platform = store.platform.name(),
        store = store.id,
        new_slug = slug,
        new_menu_key = menu_key
    ))
    .await?;
    row.as_ref().map(AddressOwner::from_row).transpose()
}

/// Data of a store that its deletion would delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holdings {
    pub products: i64,
    pub payloads: i64,
    /// Discovery found it, and adds it again when it finds it again.
    pub is_discovered: bool,
}

impl Holdings {
    /// Whether nothing was crawled of the store.
    pub fn is_empty(&self) -> bool {
        self.products == 0 && self.payloads == 0
    }
}

pub async fn holdings(tx: &Tx, id: StoreId) -> Result<Holdings, DbError> {
    Holdings::from_row(&tx.query_one(sql!("stores/holdings.sql"), &[&id]).await?)
}

/// Deletes a store with its products and payloads. The caller cancels its open tasks.
pub async fn delete(tx: &Tx, id: StoreId) -> Result<(), DbError> {
    tx.execute(sql!("stores/delete.sql"), &[&id]).await?;
    Ok(())
}

/// The open tasks of a store with one of these roles.
pub async fn open_tasks(tx: &Tx, id: StoreId, roles: &[Role]) -> Result<Vec<TaskId>, DbError> {
    let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    first_columns(&tx.query(sql!("stores/open_tasks.sql"), &[&id, &roles]).await?)
}

/// Locks the store's row until the transaction ends, and pins its plans. Every transaction that writes a
/// store's products begins with this.
pub async fn lock(tx: &Tx, id: StoreId) -> Result<CrawlState, DbError> {
    let row = tx
        .query_opt(sql!("stores/lock.sql"), &[&id])
        .await?
        .ok_or_else(|| DbError::Other(format!("store {id} was deleted")))?;
    let payload: Option<PayloadId> = row.try_get("last_payload_id")?;
    let fetched_at: Option<DateTime<Utc>> = row.try_get("last_payload_at")?;
    Ok(CrawlState {
        newest: payload.zip(fetched_at).map(|(id, fetched_at)| PayloadPosition { fetched_at, id }),
        last_complete_at: row.try_get("last_complete_at")?,
        is_enabled: row.try_get("crawl_enabled")?,
        has_hashes: row.try_get("has_hashes")?,
        needs_baseline: row.try_get("needs_baseline")?,
        has_failed_logos: row.try_get("has_failed_logos")?,
    })
}

/// Records that the store's menu of that many products was fetched and is believed; deletes its suspicious
/// menus. An accepted empty menu ends with the first product.
pub async fn record_fetch(tx: &Tx, id: StoreId, products: i32) -> Result<(), DbError> {
    tx.execute(sql!("stores/record_fetch.sql"), &[&id, &products]).await?;
    Ok(())
}

/// Lets the next crawl keep the store's empty menu. False when its latest crawls found products. `Missing`
/// when there is no such store.
pub async fn accept_empty(tx: &Tx, id: StoreId) -> Result<bool, DbError> {
    let row = tx.query_opt(sql!("stores/accept_empty.sql"), &[&id]).await?;
    first_column(&row.ok_or_else(|| DbError::Missing(format!("store {id}")))?)
}

/// Records `payload` as the newest whose products are stored.
pub async fn record_crawl(tx: &Tx, payload: &Payload, complete: bool) -> Result<(), DbError> {
    let Payload { id, dispensary_id: store, fetched_at, .. } = payload;
    named!(tx.execute("stores/record_crawl.sql", store, id, fetched_at, complete)).await?;
    Ok(())
}

/// Sets the platform's id that a store's menu address led to. `Conflict` when another store has the id, or
/// this store has another id.
pub async fn resolve(tx: &Tx, id: StoreId, platform_dispensary_id: &str, slug: Option<&str>) -> Result<(), DbError> {
    let sql = sql!("stores/resolve.sql");
    match tx.execute(sql, &[&id, &platform_dispensary_id, &slug]).await? {
        0 => Err(DbError::Conflict {
            constraint: "the id of a store at its platform".to_owned(),
            detail: format!("store {id} was deleted, or has an id other than {platform_dispensary_id}"),
        }),
        _ => Ok(()),
    }
}

/// `Conflict` when the platform's id is known already.
pub async fn add(tx: &Tx, store: &NewStore, key: &MenuKey<'_>) -> Result<StoreId, DbError> {
    let row = named!(tx.query_one(
        "stores/add.sql",
        name = store.name,
        platform = store.platform.name(),
        platform_dispensary_id = store.platform_dispensary_id,
        slug = store.slug,
        menu_url = store.menu_url,
        menu_key = key_of(key, store.platform, &store.menu_url),
        api_host = store.api_host,
        api_path = store.api_path,
        city = store.city,
        state = store.state,
        timezone = store.timezone,
        groups = store.groups
    ))
    .await?;
    first_column(&row)
}

/// Result of adding a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedStore {
    pub id: StoreId,
    /// The store existed before, or came before in the same list, and only its groups may have changed. It
    /// has the same platform id; or, where one of the two has none, the same menu address or slug, now or
    /// formerly.
    pub is_known: bool,
    /// A known store that was put into new groups.
    pub is_grouped: bool,
    /// A known store that would be in too many groups: it was put into none of these.
    pub is_full: bool,
    /// The slug by which it is known, in lower case, when that is not its slug any more.
    pub former_slug: Option<String>,
    /// The slug that it has instead.
    pub slug: Option<String>,
}

/// Adds the stores that are not known yet, and puts known ones into the given groups. Results are in the
/// order of `stores`. `Conflict` when another transaction adds one of them now.
pub async fn add_unless_known(tx: &Tx, stores: &[NewStore], key: &MenuKey<'_>) -> Result<Vec<AddedStore>, DbError> {
    let rows = named!(tx.query(
        "stores/add_unless_known.sql",
        names = column(stores, |store| store.name.as_str()),
        platforms = column(stores, |store| store.platform.name()),
        platform_ids = column(stores, |store| store.platform_dispensary_id.as_deref()),
        slugs = column(stores, |store| store.slug.as_deref()),
        menu_urls = column(stores, |store| store.menu_url.as_deref()),
        api_hosts = column(stores, |store| store.api_host.as_deref()),
        api_paths = column(stores, |store| store.api_path.as_deref()),
        cities = column(stores, |store| store.city.as_deref()),
        states = column(stores, |store| store.state.as_deref()),
        timezones = column(stores, |store| store.timezone.as_deref()),
        groups = column(stores, |store| store.groups.join(";")),
        menu_keys = column(stores, |store| key_of(key, store.platform, &store.menu_url))
    ))
    .await?;
    read_all(&rows)
}

/// The store with this id at its platform.
pub async fn of_platform_id(client: &Client, platform: Platform, id: &str) -> Result<Option<StoreId>, DbError> {
    let row = client.query_opt(sql!("stores/of_platform_id.sql"), &[&platform.name(), &id]).await?;
    row.as_ref().map(first_column).transpose()
}

/// Switches the crawls of a store on or off by hand: discovery does not change it back. Returns whether it
/// changed; `Missing` when there is no such store. Its open tasks are cancelled when they are claimed.
pub async fn set_crawl_enabled(client: &Client, id: StoreId, enabled: bool) -> Result<bool, DbError> {
    let switched = set_crawls_enabled(client, &[id], enabled).await?;
    let store = switched.first().ok_or_else(|| DbError::Missing(format!("store {id}")))?;
    Ok(store.was_enabled != enabled)
}

/// Same as [`set_crawl_enabled`], for several stores; missing ones are left out.
pub async fn set_crawls_enabled(client: &Client, ids: &[StoreId], enabled: bool) -> Result<Vec<Switched>, DbError> {
    read_all(&client.query(sql!("stores/set_crawl_enabled.sql"), &[&ids, &enabled]).await?)
}

/// The first of these stores that does not exist.
pub async fn first_missing(client: &Client, ids: &[StoreId]) -> Result<Option<StoreId>, DbError> {
    let row = client.query_opt(sql!("stores/first_missing.sql"), &[&ids]).await?;
    row.as_ref().map(first_column).transpose()
}

fn key_of(key: &MenuKey<'_>, platform: Platform, menu_url: &Option<String>) -> Option<String> {
    menu_url.as_deref().and_then(|menu_url| key(platform, menu_url))
}

rows! {
    Holdings { products, payloads, is_discovered }

    AddressOwner { other, other_name, other_slug }

    AddedStore { id, is_known, is_grouped, is_full, former_slug, slug }

    Switched { id, was_enabled, is_changed, needs_look_up }

    Store {
        id, name,
        platform: parsed,
        platform_dispensary_id, slug, menu_url, api_host, api_path, state, timezone, crawl_enabled,
    }
}
