//! Weedmaps' listings: single ones, and those around a point. Storefronts and couriers share slugs.

use http::StatusCode;
use serde_json::{Value, json};

use super::{not_found, page_of, refusal};
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::places;
use crate::question::Question;
use crate::reply::Document;
use crate::world::World;

/// The store as an operator would import it.
pub(crate) fn seed(world: &World, store: &StoreSeed, base_url: &str) -> Option<StoreSeed> {
    Some(StoreSeed {
        platform_dispensary_id: wmid(store).to_string(),
        slug: slug(world, store),
        menu_url: format!("{base_url}/{}", path(world, store)),
        api_path: None,
        ..store.clone()
    })
}

pub(crate) fn wmid(store: &StoreSeed) -> u64 {
    // decoys have keys far from the stores'
    let decoy = if is_decoy(store) { 90_000 } else { 0 };
    51_000 + decoy + 7 * (store.index & 0xffff)
}

fn is_decoy(store: &StoreSeed) -> bool {
    store.index >> 32 != 0
}

/// Every second store is the courier of the one before it.
fn is_courier(store: &StoreSeed) -> bool {
    !is_decoy(store) && store.index % 2 == 1
}

fn slug(world: &World, store: &StoreSeed) -> String {
    let of = if is_courier(store) { store.index - 1 } else { store.index };
    let named = world.catalogue.all().find(|other| other.index == of).unwrap_or(store);
    named.cname.clone()
}

fn path(world: &World, store: &StoreSeed) -> String {
    format!("{}/{}", if is_courier(store) { "deliveries" } else { "dispensaries" }, slug(world, store))
}

/// `name`: kind and slug.
pub(super) fn named<'w>(world: &'w World, name: &str) -> Option<&'w StoreSeed> {
    world.catalogue.all().find(|store| !store.captured && path(world, store) == name)
}

pub(super) fn single(world: &World, name: &str) -> Document {
    named(world, name)
        .map_or_else(not_found, |store| (StatusCode::OK, json!({ "data": { "listing": listing(world, store) } })))
}

pub(super) fn around(world: &World, question: &Question) -> Document {
    let Some((page, size)) = page_of(question) else {
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "page and page_size must be positive numbers");
    };
    let Some((point, miles)) = circle(question) else {
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "a point and a radius in miles are required");
    };
    // small pages, so that a few stores need several
    let size = size.min(MAX_LISTINGS);
    let near: Vec<&StoreSeed> = world.catalogue.near(point, miles).filter(|store| !store.captured).collect();
    let shown = near.iter().skip((page - 1) * size).take(size).map(|store| listing(world, store));
    let listings: Vec<Value> = shown.collect();
    (StatusCode::OK, json!({ "meta": { "total_listings": near.len() }, "data": { "listings": listings } }))
}

/// Maximum number of listings on a page.
const MAX_LISTINGS: usize = 2;

fn circle(question: &Question) -> Option<((f64, f64), f64)> {
    let (latitude, longitude) = question.text("filter[bounding_latlng]")?.split_once(',')?;
    let miles = question.text("filter[bounding_radius]")?.strip_suffix("mi")?;
    Some(((latitude.parse().ok()?, longitude.parse().ok()?), miles.parse().ok()?))
}

fn listing(world: &World, store: &StoreSeed) -> Value {
    let is_closed = is_decoy(store) && store.index.is_multiple_of(2);
    json!({
        "id": 9, "wmid": wmid(store), "name": store.name, "slug": slug(world, store),
        "type": match (is_decoy(store), is_courier(store)) {
            (true, _) if !is_closed => "doctor",
            (_, true) => "delivery",
            _ => "dispensary",
        },
        "license_type": "hybrid",
        "licenses": [{ "type": "Adult-Use", "number": "00000100ESAA00000000" }],
        "address": store.address, "city": store.city, "state": places::state_name(&store.state), "zip_code": store.zip,
        "latitude": store.latitude, "longitude": store.longitude, "timezone": store.timezone, "phone_number": store.phone,
        "web_url": (!store.index.is_multiple_of(3)).then(|| format!("https://weedmaps.com/{}", path(world, store))),
        "menu_items_count": if is_closed { 0 } else { Menu::of(world.seed, store, world.crawl()).total() },
        "is_recreational": true,
    })
}
