//! Leafly's part of the simulator: menus by the number of items to skip and to take, and stores around a point, without a key.
//!
//! Part of the crate `sim`. Products that are sold out stay on a menu, with their stock. In: an HTTP request. Out: its answer.

mod goods;
mod item;
mod menu;
mod oracle;
mod state;
mod stores;

use std::io;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;

use crate::body::Body;
use crate::platform::NoSettings;
use crate::question::Question;
use crate::refusal;
use crate::reply::{self, Document};
use crate::world::World;

pub(crate) use oracle::oracle;
pub use state::Fault;
pub(crate) use state::State;
pub(crate) use stores::seed;

pub type Settings = NoSettings;

const DISPENSARIES: &str = "/api/dispensaries/v1/";
const MENU: &str = "/menu_items";
const FINDER: &str = "/v3/dispensaries";
/// Time that it asks a client to wait, the shortest that a header can say.
const WAIT: Duration = Duration::from_secs(1);

pub(crate) fn is_path(path: &str) -> bool {
    path == FINDER || path.starts_with(DISPENSARIES)
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
    if request.method() != Method::GET {
        world.counters.note(|counts| counts.other += 1);
        return reply::document(world, headers, refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET")).await;
    }
    let question = Question::of(request.uri());
    if path == FINDER {
        world.counters.note(|counts| counts.platforms.leafly.stores += 1);
        return reply::document(world, headers, stores::around(world, &question)).await;
    }
    let slug = path.strip_prefix(DISPENSARIES).and_then(|rest| rest.strip_suffix(MENU)).unwrap_or_default();
    world.counters.note(|counts| counts.platforms.leafly.menus += 1);
    let fault = world.platforms.leafly.faults.take(&world.counters);
    let found = match fault {
        Some(Fault::Throttled) => return reply::later(StatusCode::TOO_MANY_REQUESTS, Some(WAIT)),
        Some(Fault::NoPublicMenu) => (StatusCode::OK, menu::document(Vec::new(), 0)),
        None => stores::named(world, slug).map_or_else(not_found, |store| menu::part(world, store, &question)),
    };
    reply::document(world, headers, found).await
}

fn refusal(status: StatusCode, message: &str) -> Document {
    (status, json!({ "statusCode": status.as_u16(), "message": message }))
}

fn not_found() -> Document {
    refusal(StatusCode::NOT_FOUND, "Dispensary not found")
}
