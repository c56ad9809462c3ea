//! Weedmaps' part of the simulator: listings and their menus, page by page, without a key.
//!
//! Part of the crate `sim`. In: an HTTP request. Out: its answer, or none, ever. It refuses clients that say they are browsers.

mod goods;
mod item;
mod listings;
mod menu;
mod oracle;
mod state;

use std::io;

use http::header::USER_AGENT;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::question::Question;
use crate::refusal;
use crate::reply::{self, Document};
use crate::world::World;

pub(crate) use listings::seed;
pub(crate) use oracle::oracle;
pub(crate) use state::State;
pub use state::{Fault, Settings};

const LISTINGS: &str = "/discovery/v2/listings";
const LISTING: &str = "/discovery/v1/listings/";
const MENU: &str = "/menu_items";

pub(crate) fn is_path(path: &str) -> bool {
    path == LISTINGS || path.starts_with(LISTING)
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
    let (headers, path) = (request.headers(), request.uri().path());
    if world.platforms.weedmaps.refuses_browsers && is_browser(headers) {
        world.counters.note(|counts| counts.blocked += 1);
        return reply::document(world, headers, refusal(StatusCode::NOT_ACCEPTABLE, "Not Acceptable")).await;
    }
    if request.method() != Method::GET {
        world.counters.note(|counts| counts.other += 1);
        return reply::document(world, headers, refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET")).await;
    }
    let question = Question::of(request.uri());
    if path == LISTINGS {
        world.counters.note(|counts| counts.platforms.weedmaps.stores += 1);
        return reply::document(world, headers, listings::around(world, &question)).await;
    }
    let name = path.strip_prefix(LISTING).unwrap_or_default();
    let Some(name) = name.strip_suffix(MENU) else {
        world.counters.note(|counts| counts.platforms.weedmaps.stores += 1);
        return reply::document(world, headers, listings::single(world, name)).await;
    };
    world.counters.note(|counts| counts.platforms.weedmaps.menus += 1);
    let fault = world.platforms.weedmaps.faults.take(&world.counters);
    if fault == Some(Fault::Silent) {
        std::future::pending::<()>().await;
    }
    let found = listings::named(world, name).map(|store| menu_page(world, store, &question, fault));
    reply::document(world, headers, found.unwrap_or_else(not_found)).await
}

fn menu_page(world: &World, store: &StoreSeed, question: &Question, fault: Option<Fault>) -> Document {
    match fault {
        Some(Fault::Unprocessable) => refusal(StatusCode::UNPROCESSABLE_ENTITY, "page_size is too large"),
        Some(Fault::NotFound) => not_found(),
        Some(Fault::NoLiveMenu) => (StatusCode::OK, menu::document(Vec::new(), 0)),
        _ => menu::page(world, store, question, fault == Some(Fault::SoftBlock)),
    }
}

/// Number of the page, from 1, and its size, which is never above 100.
fn page_of(question: &Question) -> Option<(usize, usize)> {
    let page = question.number("page").filter(|page| *page > 0)?;
    let size = question.number("page_size").filter(|size: &usize| *size > 0)?;
    Some((page, size.min(MAX_PER_PAGE)))
}

const MAX_PER_PAGE: usize = 100;

fn is_browser(headers: &HeaderMap) -> bool {
    headers.get(USER_AGENT).is_none_or(|name| name.as_bytes().starts_with(b"Mozilla/"))
}

fn refusal(status: StatusCode, detail: &str) -> Document {
    (status, json!({ "errors": [{ "status": status.as_u16(), "detail": detail }] }))
}

fn not_found() -> Document {
    refusal(StatusCode::NOT_FOUND, "not found")
}
