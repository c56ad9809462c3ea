//! The page of a menu: a document with the page's settings, and the search's key among them.

use std::io;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};

use super::APPLICATION_ID;
use super::goods::store_id;
use crate::body::Body;
use crate::reply;
use crate::world::World;

/// Answers `5876/copper-fern/menu`, the path behind `/stores/`.
pub(crate) fn respond(world: &World, rest: &str) -> io::Result<Response<Body>> {
    let id = rest.split('/').next().unwrap_or_default();
    let store = world.catalogue.stores.iter().find(|store| !store.captured && store_id(store).to_string() == id);
    let Some(store) = store else { return Ok(reply::plain(StatusCode::NOT_FOUND, "text/html", "not found")) };
    let settings = match world.platforms.jane.key.shown() {
        Some(key) => format!(r#""algoliaAppId":"{APPLICATION_ID}","algoliaApiKey":"{key}","#),
        None => String::new(),
    };
    let page = format!(
        "<!doctype html><html><head><title>{}</title></head><body><script>window.settings = {{{settings}\"locale\":\"en\"}}</script></body></html>",
        store.cname
    );
    let response = Response::builder().header(CONTENT_TYPE, "text/html; charset=utf-8");
    response.body(reply::whole(Bytes::from(page))).map_err(io::Error::other)
}
