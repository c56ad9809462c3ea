//! Toy's part of the simulator: menus page by page.
//!
//! Part of the crate `sim`. In: an HTTP request. Out: its answer.

use std::io;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::oracle::listing::{Listing, Seen};
use crate::oracle::{OraclePotency, OracleProduct, OracleStore, OracleVariant};
use crate::platform::{NoSettings, PlatformState};
use crate::presence::is_present;
use crate::product::Product;
use crate::question::Question;
use crate::refusal;
use crate::reply::{self, Document};
use crate::settings;
use crate::world::World;

pub type Settings = NoSettings;

const MENUS: &str = "/toy/menus/";
const NO_LABEL: &str = "N/A";

pub(crate) struct State;

impl PlatformState for State {
    fn new(_settings: &settings::Settings) -> State {
        State
    }
}

pub(crate) fn seed(_world: &World, store: &StoreSeed, base_url: &str) -> Option<StoreSeed> {
    let id = number(store).to_string();
    Some(StoreSeed {
        menu_url: format!("{base_url}{MENUS}{id}"),
        platform_dispensary_id: id,
        api_path: None,
        ..store.clone()
    })
}

pub(crate) fn oracle(world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
    Some(OracleStore {
        platform_dispensary_id: number(store).to_string(),
        products: (0..store.size).filter_map(|index| expected(world, store, index, crawl)).collect(),
    })
}

pub(crate) fn is_path(path: &str) -> bool {
    path.starts_with(MENUS)
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
    world.counters.note(|counts| counts.platforms.toy.menus += 1);
    let id = request.uri().path().strip_prefix(MENUS).unwrap_or_default();
    let store = world.catalogue.stores.iter().find(|store| !store.captured && number(store).to_string() == id);
    let answer = match store {
        Some(store) => page(world, store, &Question::of(request.uri())),
        None => (StatusCode::NOT_FOUND, json!({ "message": "no such store" })),
    };
    reply::document(world, request.headers(), answer).await
}

fn page(world: &World, store: &StoreSeed, question: &Question) -> Document {
    let page = question.number("page").filter(|page: &usize| *page > 0);
    let (Some(page), Some(per_page)) = (page, question.number::<usize>("per_page")) else {
        return (StatusCode::BAD_REQUEST, json!({ "message": "page and per_page are required" }));
    };
    let menu = Menu::of(world.seed, store, world.crawl());
    let products = menu.products().skip((page - 1).saturating_mul(per_page)).take(per_page);
    let items: Vec<Value> = products.map(|index| item(&world.product(store, index, world.crawl()))).collect();
    (StatusCode::OK, json!({ "items": items, "total": menu.total() }))
}

fn item(truth: &Product<'_>) -> Value {
    json!({
        "id": truth.id,
        "name": truth.name,
        "category": truth.category.name,
        "brand": truth.brand_name(),
        "price": truth.offers.first().map(|offer| offer.rec.regular),
    })
}

fn expected(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let listed = |crawl| is_present(world.seed, store.index, index, crawl).then(|| world.product(store, index, crawl));
    let (seen, truth) = Seen::last(crawl, listed)?;
    let price_rec = truth.offers.first().map(|offer| offer.rec.regular.cents());
    let variant = OracleVariant {
        label: NO_LABEL,
        nth: 0,
        size_mg: None,
        size_ml: None,
        price_rec,
        price_med: None,
        special_price_rec: None,
        special_price_med: None,
        quantity: None,
        quantity_censored: false,
        is_in_stock: true,
    };
    let mut row = Listing {
        id: truth.id.clone(),
        truth: &truth,
        category: Some(truth.category.name),
        subcategory: None,
        strain_type: None,
        logo: None,
        thc: OraclePotency::default(),
        cbd: OraclePotency::default(),
        quantity: None,
        stock_status: "unknown",
        variants: vec![variant],
    }
    .row(world, seen);
    // it shows no pictures
    (row.image_url, row.picture) = (None, None);
    Some(row)
}

fn number(store: &StoreSeed) -> u64 {
    7000 + (store.index & 0xffff)
}
