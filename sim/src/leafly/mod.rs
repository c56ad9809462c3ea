//! Leafly of the same world: menus by the number of items to skip and to take, and stores around a point, without a key.
//!
//! Products that are sold out stay on a menu, with their stock. In: an HTTP request. Out: its answer.

mod goods;
mod item;
mod menu;
pub(crate) mod oracle;
pub(crate) mod state;
mod stores;

use std::io;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::json;

use crate::body::Body;
use crate::question::Question;
use crate::reply::{self, Document};
use crate::world::World;
use state::LeaflyFault;

pub(crate) use stores::seed;

const DISPENSARIES: &str = "/api/dispensaries/v1/";
const MENU: &str = "/menu_items";
const FINDER: &str = "/v3/dispensaries";
/// Time that it asks a client to wait, the shortest that a header can say.
const WAIT: Duration = Duration::from_secs(1);

pub(crate) fn is_path(path: &str) -> bool {
    path == FINDER || path.starts_with(DISPENSARIES)
}

/// An error closes the connection without an answer.
pub(crate) async fn respond(world: &World, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (headers, path) = (request.headers(), request.uri().path());
    if request.method() != Method::GET {
        world.counters.note(|counts| counts.other += 1);
        return reply::document(world, headers, refusal(StatusCode::METHOD_NOT_ALLOWED, "only GET")).await;
    }
    let question = Question::of(request.uri());
    if path == FINDER {
        world.counters.note(|counts| counts.leafly_stores += 1);
        return reply::document(world, headers, stores::around(world, &question)).await;
    }
    let slug = path.strip_prefix(DISPENSARIES).and_then(|rest| rest.strip_suffix(MENU)).unwrap_or_default();
    world.counters.note(|counts| counts.leafly_menus += 1);
    let fault = world.leafly.faults.take(&world.counters);
    let found = match fault {
        Some(LeaflyFault::Throttled) => return reply::later(StatusCode::TOO_MANY_REQUESTS, Some(WAIT)),
        Some(LeaflyFault::NoPublicMenu) => (StatusCode::OK, menu::document(Vec::new(), 0)),
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
