//! Leafly's stores: those around a point, page by page, without a total. A store's slug is its id.

use http::StatusCode;
use serde_json::{Value, json};

use super::refusal;
use crate::catalogue::StoreSeed;
use crate::question::Question;
use crate::reply::Document;
use crate::world::World;

/// Maximum number of stores on a page: few, so that a few stores need several.
const MAX_STORES: usize = 2;

/// The store as an operator would import it.
pub(crate) fn seed(_world: &World, store: &StoreSeed, base_url: &str) -> Option<StoreSeed> {
    let slug = slug(store).to_owned();
    Some(StoreSeed {
        menu_url: format!("{base_url}/dispensary-info/{slug}/menu"),
        platform_dispensary_id: slug.clone(),
        slug,
        api_path: None,
        ..store.clone()
    })
}

pub(super) fn slug(store: &StoreSeed) -> &str {
    &store.cname
}

/// The store with a menu of that slug: decoys have none.
pub(super) fn named<'w>(world: &'w World, name: &str) -> Option<&'w StoreSeed> {
    world.catalogue.stores.iter().find(|store| !store.captured && slug(store) == name)
}

pub(super) fn around(world: &World, question: &Question) -> Document {
    let page = question.number("page").filter(|page: &usize| *page > 0);
    let (Some(page), Some((point, miles))) = (page, circle(question)) else {
        return refusal(StatusCode::BAD_REQUEST, "a page, a point and a radius in miles are required");
    };
    let near = world.catalogue.near(point, miles).filter(|store| !store.captured);
    let stores: Vec<Value> = near.skip((page - 1) * MAX_STORES).take(MAX_STORES).map(store).collect();
    (StatusCode::OK, json!({ "stores": stores, "facets": {} }))
}

fn circle(question: &Question) -> Option<((f64, f64), f64)> {
    let miles = question.text("radius")?.strip_suffix("mi")?.parse().ok()?;
    Some(((question.number("lat")?, question.number("lon")?), miles))
}

/// A decoy is in another country, or has no name.
fn store(store: &StoreSeed) -> Value {
    let is_decoy = store.index >> 32 != 0;
    let is_abroad = is_decoy && store.index.is_multiple_of(2);
    let has_suite = store.index % 3 == 1;
    json!({
        "name": if is_decoy && !is_abroad { "" } else { &store.name },
        "slug": slug(store),
        "address1": store.address,
        "address2": if has_suite { "Suite 5" } else { "" },
        "city": store.city,
        "state": if is_abroad { "ON" } else { &store.state },
        "zip": store.zip,
        "country": if is_abroad { "CA" } else { "US" },
        "phone": store.phone,
        "locations": [{ "lat": store.latitude, "lon": store.longitude }],
        "deliveryEnabled": false,
        "flags": [],
        "logoImage": null,
    })
}
