//! The dashboard: the files of `ui/`, embedded by the build. Knows nothing of what its pages show: they ask the API.
//!
//! In: `/`, `/login`, `/admin/…`, and `/ui/{version}/…`, whose answers may be kept for ever. Out: the one document of all pages, with the
//! path below which this server is reached, and its files. A build without npm has none: then `/admin` says why.

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

use super::ApiState;

#[cfg(not(has_dashboard))]
use absent as pages;
#[cfg(has_dashboard)]
use embedded as pages;

pub use pages::IS_BUILT;

#[cfg(not(has_dashboard))]
mod absent;
#[cfg(has_dashboard)]
mod embedded;

pub fn routes() -> Router<ApiState> {
    Router::new().route("/", get(async || Redirect::to("/admin"))).merge(pages::routes())
}
