//! Dutchie Plus' part of the simulator: the partners' API. One call, behind a key, answers a store's whole menu of products on sale.
//!
//! Part of the crate `sim`. In: an HTTP request. Out: its answer.

use std::io;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::encoding::Coding;
use crate::menu::Menu;
use crate::oracle::OracleStore;
use crate::platform::{NoSettings, PlatformState};
use crate::potency::{Content, unit};
use crate::product::{Offer, Price, Product, Special, Stock};
use crate::refusal;
use crate::reply;
use crate::settings;
use crate::world::World;

const PATH: &str = "/plus/2021-07/graphql";
/// The key that it takes.
pub const KEY: &str = "a-partners-key";
const MAX_REQUEST_BODY: usize = 64 << 10;

pub type Settings = NoSettings;

pub(crate) struct State;

impl PlatformState for State {
    fn new(_settings: &settings::Settings) -> State {
        State
    }

    fn key(&self) -> Option<String> {
        Some(KEY.to_owned())
    }
}

/// None: its stores are Dutchie's.
pub(crate) fn seed(_world: &World, _store: &StoreSeed, _base_url: &str) -> Option<StoreSeed> {
    None
}

pub(crate) fn oracle(_world: &World, _store: &StoreSeed, _crawl: u32) -> Option<OracleStore> {
    None
}

pub(crate) fn is_path(path: &str) -> bool {
    path == PATH
}

/// An error closes the connection without an answer.
pub(crate) async fn respond(
    world: &World,
    request: Request<Incoming>,
    proxy: Option<usize>,
) -> io::Result<Response<Body>> {
    if let Some(refusal) = refusal::of_page(world, proxy).await {
        return refusal;
    }
    let headers = request.headers().clone();
    if !has_key(&headers) {
        world.counters.note(|counts| counts.key_refused += 1);
        return Ok(reply::error(StatusCode::UNAUTHORIZED, "A valid key is required", "UNAUTHENTICATED")?);
    }
    let Some(asked) = read(world, request).await else {
        world.counters.note(|counts| counts.other += 1);
        return Ok(reply::error(StatusCode::BAD_REQUEST, "no menu query in a POST", "BAD_REQUEST")?);
    };
    world.counters.note(|counts| counts.platforms.dutchie_plus.menus += 1);
    let Some(store) = asked["variables"]["retailerId"].as_str().and_then(|id| world.catalogue.of_id(id)) else {
        return Ok(reply::error(StatusCode::OK, "Retailer not found", "NOT_FOUND")?);
    };
    let body = serde_json::to_vec(&json!({ "data": { "menu": { "products": products(world, store) } } }))?;
    let coding = Coding::choose(&headers, world.coding);
    let body = match coding {
        Some(coding) => coding.encode(&body).await?,
        None => body,
    };
    world.counters.note(|counts| counts.answered += 1);
    reply::json(coding, Bytes::from(body))
}

fn has_key(headers: &HeaderMap) -> bool {
    headers.get(AUTHORIZATION).is_some_and(|given| given.as_bytes() == format!("Bearer {KEY}").as_bytes())
}

/// The body of a request for a menu.
async fn read(world: &World, request: Request<Incoming>) -> Option<Value> {
    if request.method() != Method::POST {
        return None;
    }
    let body = Limited::new(request.into_body(), MAX_REQUEST_BODY).collect();
    let body = tokio::time::timeout(world.client_timeout, body).await.ok()?.ok()?;
    let asked: Value = serde_json::from_slice(&body.to_bytes()).ok()?;
    asked["query"].as_str()?.contains("menu(retailerId").then_some(asked)
}

fn products(world: &World, store: &StoreSeed) -> Vec<Value> {
    let crawl = world.crawl();
    let menu = Menu::of(world.seed, store, crawl);
    let rows = menu.page(0, menu.total().max(1));
    let truths = rows.iter().map(|row| world.product(store, row.product, crawl));
    truths.filter(|product| product.active).map(|truth| product(&truth)).collect()
}

fn product(truth: &Product<'_>) -> Value {
    json!({
        "id": truth.id,
        "name": truth.name,
        "enterpriseProductId": null,
        "brand": { "name": truth.brand.name, "imageUrl": null },
        "category": category(truth.category.name),
        "subcategory": truth.subcategory.filter(|name| !name.is_empty()).map_or("DEFAULT".to_owned(), upper),
        "strainType": truth.strain_type.filter(|strain| *strain != "N/A").map_or("NOT_APPLICABLE".to_owned(), upper),
        "image": truth.picture.url(),
        "potencyThc": potency(truth.thc, truth),
        "potencyCbd": potency(truth.cbd, truth),
        "variants": truth.offers.iter().map(|offer| variant(truth, offer)).collect::<Vec<_>>(),
    })
}

fn variant(truth: &Product<'_>, offer: &Offer) -> Value {
    let med = |price: Value| if truth.lists_med_prices { price } else { Value::Null };
    json!({
        "id": format!("{}~{}", truth.id, offer.label),
        "option": offer.label,
        "priceRec": offer.rec.regular,
        "priceMed": med(json!(offer.med.regular)),
        "specialPriceRec": special(offer.rec),
        "specialPriceMed": med(special(offer.med)),
        "quantity": (truth.stock != Stock::Unknown).then_some(offer.units),
    })
}

fn special(price: Price) -> Value {
    match price.special {
        Special::None => Value::Null,
        Special::NotLower(mills) | Special::Lower(mills) => json!(mills),
    }
}

fn potency(content: Content, truth: &Product<'_>) -> Value {
    let range = match content {
        Content::Absent => return Value::Null,
        Content::Unvalued | Content::Empty => json!([]),
        Content::One(strength) | Content::Number(strength) | Content::Text(strength) => json!([strength]),
        Content::Range(low, high) => json!([low, high]),
    };
    json!({ "range": range, "unit": unit(truth.category.potency) })
}

/// Its enums are in the plural.
fn category(name: &str) -> String {
    match name {
        "Concentrate" | "Edible" | "Tincture" => upper(name) + "S",
        _ => upper(name),
    }
}

fn upper(word: &str) -> String {
    word.to_uppercase().replace(['-', ' '], "_")
}
