//! Weedmaps of the same world: listings and their menus, page by page, without a key.
//!
//! In: an HTTP request. Out: its answer, or none, ever. It refuses clients that say they are browsers.

mod goods;
mod item;
mod listings;
mod menu;
pub(crate) mod oracle;
pub(crate) mod state;

use std::io;

use bytes::Bytes;
use http::header::USER_AGENT;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use url::form_urlencoded;

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::encoding::Coding;
use crate::reply;
use crate::world::World;
use state::WeedmapsFault;

pub(crate) use listings::seed;

const LISTINGS: &str = "/discovery/v2/listings";
const LISTING: &str = "/discovery/v1/listings/";
const MENU: &str = "/menu_items";

/// A status with its document.
type Answer = (StatusCode, Value);

pub(crate) fn is_path(path: &str) -> bool {
    path == LISTINGS || path.starts_with(LISTING)
}

/// An error closes the connection without an answer.
pub(crate) async fn respond(world: &World, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (headers, path) = (request.headers(), request.uri().path());
    if world.weedmaps.refuses_browsers && is_browser(headers) {
        world.counters.note(|counts| counts.blocked += 1);
        return answer(world, headers, refusal(StatusCode::NOT_ACCEPTABLE, "Not Acceptable")).await;
    }
    if request.method() != Method::GET {
        world.counters.note(|counts| counts.other += 1);
        return answer(world, headers, refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET")).await;
    }
    let query = request.uri().query().unwrap_or_default();
    let query: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let question = Question(query);
    if path == LISTINGS {
        world.counters.note(|counts| counts.weedmaps_listings += 1);
        return answer(world, headers, listings::around(world, &question)).await;
    }
    let name = path.strip_prefix(LISTING).unwrap_or_default();
    let Some(name) = name.strip_suffix(MENU) else {
        world.counters.note(|counts| counts.weedmaps_listings += 1);
        return answer(world, headers, listings::single(world, name)).await;
    };
    world.counters.note(|counts| counts.weedmaps_menus += 1);
    let fault = world.weedmaps.take();
    world.counters.note(|counts| counts.faults += u64::from(fault.is_some()));
    if fault == Some(WeedmapsFault::Silent) {
        std::future::pending::<()>().await;
    }
    let found = listings::named(world, name).map(|store| menu_page(world, store, &question, fault));
    answer(world, headers, found.unwrap_or_else(not_found)).await
}

fn menu_page(world: &World, store: &StoreSeed, question: &Question, fault: Option<WeedmapsFault>) -> Answer {
    match fault {
        Some(WeedmapsFault::Unprocessable) => refusal(StatusCode::UNPROCESSABLE_ENTITY, "page_size is too large"),
        Some(WeedmapsFault::NoLiveMenu) => (StatusCode::OK, menu::document(Vec::new(), 0)),
        _ => menu::page(world, store, question, fault == Some(WeedmapsFault::SoftBlock)),
    }
}

/// The parameters of a request.
struct Question(Vec<(String, String)>);

impl Question {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Number of the page, from 1, and its size, which is never above 100.
    fn page(&self) -> Option<(usize, usize)> {
        let page = self.text("page")?.parse().ok().filter(|page| *page > 0)?;
        let size: usize = self.text("page_size")?.parse().ok().filter(|size| *size > 0)?;
        Some((page, size.min(MAX_PER_PAGE)))
    }
}

const MAX_PER_PAGE: usize = 100;

fn is_browser(headers: &HeaderMap) -> bool {
    headers.get(USER_AGENT).is_none_or(|name| name.as_bytes().starts_with(b"Mozilla/"))
}

fn refusal(status: StatusCode, detail: &str) -> Answer {
    (status, json!({ "errors": [{ "status": status.as_u16(), "detail": detail }] }))
}

fn not_found() -> Answer {
    refusal(StatusCode::NOT_FOUND, "not found")
}

async fn answer(world: &World, headers: &HeaderMap, (status, document): Answer) -> io::Result<Response<Body>> {
    let body = serde_json::to_vec(&document)?;
    let coding = Coding::choose(headers, world.coding);
    let body = match coding {
        Some(coding) => coding.encode(&body).await?,
        None => body,
    };
    world.counters.note(|counts| counts.answered += u64::from(status == StatusCode::OK));
    let mut response = reply::json(coding, Bytes::from(body), None)?;
    *response.status_mut() = status;
    Ok(response)
}
