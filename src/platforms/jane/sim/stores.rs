//! Jane's stores: hits of the index of stores around a point, and single ones at the host of the pages.

use http::StatusCode;
use serde_json::{Value, json};

use super::goods::{hides_prices, store_id};
use super::search::Page;
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::places;
use crate::question::Question;
use crate::reply::Document;
use crate::world::World;

const METRES_PER_MILE: f64 = 1609.344;

/// The store as an operator would import it: its number, its slug, and the address of its menu.
pub(crate) fn seed(_world: &World, store: &StoreSeed, base_url: &str) -> Option<StoreSeed> {
    let id = store_id(store);
    Some(StoreSeed {
        platform_dispensary_id: id.to_string(),
        slug: store.cname.clone(),
        menu_url: format!("{base_url}/stores/{id}/{}/menu", store.cname),
        api_path: None,
        ..store.clone()
    })
}

/// The store of that number, or the stores of the slug in the query.
pub(crate) fn single(world: &World, id: &str, query: &Question) -> Document {
    let all = || world.catalogue.all().filter(|store| !store.captured);
    if let Some(slug) = query.text("slug") {
        let found: Vec<Value> = all().filter(|store| store.cname == slug).map(|store| record(world, store)).collect();
        return (StatusCode::OK, json!({ "stores": found }));
    }
    match all().find(|store| store_id(store).to_string() == id) {
        Some(store) => (StatusCode::OK, json!({ "store": record(world, store) })),
        None => (StatusCode::NOT_FOUND, json!({ "errors": [{ "status": 404, "detail": "not found" }] })),
    }
}

/// The stores around a point; an error is the message of a refusal.
pub(crate) fn around(world: &World, question: &Value) -> Result<Value, String> {
    let point = question["aroundLatLng"].as_str().and_then(|text| text.split_once(','));
    let point = point.and_then(|(lat, lng)| Some((lat.trim().parse().ok()?, lng.trim().parse().ok()?)));
    let point = point.ok_or("aroundLatLng: invalid value")?;
    let metres = question["aroundRadius"].as_f64().ok_or("aroundRadius: invalid value")?;
    let near = world.catalogue.near(point, metres / METRES_PER_MILE).filter(|store| !store.captured);
    Ok(Page::of(question)?.answer(
        near.map(|store| found(world, store)).collect(),
        Vec::new(),
        world.platforms.jane.ceiling,
    ))
}

/// A hit, which has the id as text, and coordinates in a field of their own.
fn found(world: &World, store: &StoreSeed) -> Value {
    let mut found = record(world, store);
    found["objectID"] = json!(store_id(store).to_string());
    found["_geoloc"] = json!({ "lat": store.latitude, "lng": store.longitude });
    for absent in ["id", "lat", "long", "phone"] {
        found[absent] = Value::Null;
    }
    found
}

fn record(world: &World, store: &StoreSeed) -> Value {
    let is_decoy = !world.catalogue.stores.iter().any(|real| real.index == store.index);
    json!({
        "id": store_id(store),
        "name": store.name,
        "url_slug": store.cname,
        "address": if store.index % 3 == 1 { "" } else { &store.address },
        "full_address": format!("{}, {}, {} {}", store.address, store.city, store.state, store.zip),
        "city": store.city,
        "state": places::state_name(&store.state),
        "zip": store.zip,
        "country_code": "US",
        "lat": store.latitude,
        "long": store.longitude,
        "phone": store.phone,
        "time_zone_identifier": time_zone(&store.timezone),
        "recreational": true,
        "medical": false,
        "visible": !is_decoy || store.index.is_multiple_of(2),
        "product_count": if is_decoy { 0 } else { Menu::of(world.seed, store, world.crawl()).total() },
        "hide_prices": hides_prices(store),
        "boost_menu_url": null,
    })
}

/// The zone by its name in Ruby on Rails.
fn time_zone(zone: &str) -> &str {
    match zone {
        "America/Phoenix" => "Arizona",
        "America/Los_Angeles" => "Pacific Time (US & Canada)",
        "America/Denver" => "Mountain Time (US & Canada)",
        "America/Chicago" => "Central Time (US & Canada)",
        "America/New_York" | "America/Detroit" => "Eastern Time (US & Canada)",
        other => other,
    }
}
