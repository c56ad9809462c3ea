//! Jane's part of the simulator: menus and stores in the indexes of a search behind a key, single stores at the host of its pages,
//! and the pages of menus, which show the key.
//!
//! Part of the crate `sim`. A product that is sold out, or that the shop has switched off, is not in the index. In: an HTTP
//! request. Out: its answer.

mod controls;
mod goods;
mod hit;
mod menu_page;
mod oracle;
mod search;
mod state;
mod stores;

use std::io;

use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use serde_json::{Value, json};

use crate::body::Body;
use crate::encoding::Coding;
use crate::question::Question;
use crate::refusal;
use crate::reply::{self, Document};
use crate::world::World;

use state::PageKey;

pub(crate) use oracle::oracle;
pub use state::Settings;
pub(crate) use state::State;
pub(crate) use stores::seed;

const MENUS: &str = "/1/indexes/menu-products-production/query";
const STORES: &str = "/1/indexes/stores-production/query";
const STORE: &str = "/api/v1/stores";
const PAGES: &str = "/stores/";
const APPLICATION_ID: &str = "VFM4X0N23A";
/// The key that it takes at first.
pub const FIRST_KEY: &str = "0a1b2c3d4e5f60718293a4b5c6d7e8f9";
const MAX_REQUEST_BODY: usize = 256 << 10;

pub(crate) fn is_path(path: &str) -> bool {
    path == MENUS || path == STORES || path.starts_with(STORE) || path.starts_with(PAGES)
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
    let (headers, path) = (request.headers().clone(), request.uri().path().to_owned());
    let query = Question::of(request.uri());
    if let Some(rest) = path.strip_prefix(PAGES) {
        world.counters.note(|counts| counts.platforms.jane.pages += 1);
        return menu_page::respond(world, rest);
    }
    if let Some(rest) = path.strip_prefix(STORE) {
        world.counters.note(|counts| counts.platforms.jane.stores += 1);
        return reply::document(world, &headers, stores::single(world, rest.trim_start_matches('/'), &query)).await;
    }
    if !has_key(world, &headers, &query) {
        world.counters.note(|counts| counts.key_refused += 1);
        return reply::document(world, &headers, refusal(StatusCode::FORBIDDEN, "Invalid Application-ID or API key"))
            .await;
    }
    let Some(question) = read(world, request).await else {
        world.counters.note(|counts| counts.other += 1);
        return reply::document(world, &headers, refusal(StatusCode::BAD_REQUEST, "no question in a POST")).await;
    };
    if path == MENUS {
        return menu(world, &headers, &question).await;
    }
    world.counters.note(|counts| counts.platforms.jane.stores += 1);
    reply::document(world, &headers, found(stores::around(world, &question))).await
}

async fn menu(world: &World, headers: &HeaderMap, question: &Value) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.platforms.jane.menus += 1);
    world.platforms.jane.key.count_answer();
    let coding = Coding::choose(headers, world.coding);
    let key = PageKey { question: question.to_string(), coding, crawl: world.crawl(), repriced: world.repriced() };
    if let Some(bytes) = world.platforms.jane.pages.as_ref().and_then(|pages| pages.get(&key)) {
        return reply::answered(world, coding, StatusCode::OK, bytes);
    }
    let (status, document) = found(search::menu(world, question));
    let bytes = reply::encoded(coding, &document).await?;
    if let Some(pages) = world.platforms.jane.pages.as_ref().filter(|_| status == StatusCode::OK) {
        pages.keep(key, bytes.clone());
    }
    reply::answered(world, coding, status, bytes)
}

fn found(found: Result<Value, String>) -> Document {
    found.map_or_else(|why| refusal(StatusCode::BAD_REQUEST, &why), |found| (StatusCode::OK, found))
}

/// Whether the key and the application are right, in the headers or in the query.
fn has_key(world: &World, headers: &HeaderMap, query: &Question) -> bool {
    let given = |name: &str| query.text(name).or_else(|| headers.get(name)?.to_str().ok()).map(str::to_owned);
    let is_application = given("x-algolia-application-id").as_deref() == Some(APPLICATION_ID);
    is_application && given("x-algolia-api-key").is_some_and(|key| world.platforms.jane.key.is(&key))
}

async fn read(world: &World, request: Request<Incoming>) -> Option<Value> {
    if request.method() != Method::POST {
        return None;
    }
    let body = Limited::new(request.into_body(), MAX_REQUEST_BODY).collect();
    let body = tokio::time::timeout(world.client_timeout, body).await.ok()?.ok()?;
    serde_json::from_slice(&body.to_bytes()).ok()
}

fn refusal(status: StatusCode, message: &str) -> Document {
    (status, json!({ "message": message, "status": status.as_u16() }))
}
