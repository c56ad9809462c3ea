//! The dashboard: the files of `ui/`. Knows nothing of what its pages show: they ask the API.
//!
//! In: `/`, `/login`, `/admin/…`, and `/ui/{version}/…`, whose answers may be cached forever. Out: the one
//! document of all pages, with the path below which this server is reached, and its files. A release build
//! holds them; a debug build reads them from the checkout, so that a changed one is seen on reload. A build
//! without npm has none: then `/admin` says why.

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

use api::ApiState;
#[cfg(has_dashboard)]
use foundation::digest::sha256_hex;

#[cfg(has_dashboard)]
const VERSION_CHARS: usize = 12;

#[cfg(not(has_dashboard))]
use absent as pages;

pub use pages::IS_BUILT;

#[cfg(not(has_dashboard))]
mod absent;
#[cfg(all(has_dashboard, not(dashboard_on_disk)))]
#[path = "embedded_files.rs"]
mod files;
#[cfg(all(has_dashboard, dashboard_on_disk))]
#[path = "files_on_disk.rs"]
mod files;
#[cfg(has_dashboard)]
mod pages;

pub fn routes() -> Router<ApiState> {
    Router::new().route("/", get(async || Redirect::to("/admin"))).merge(pages::routes())
}

/// A digest of all files together, short enough for an address.
#[cfg(has_dashboard)]
fn version_of<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut digests = String::new();
    for (name, bytes) in files {
        digests += name;
        digests += &sha256_hex(bytes);
    }
    let mut version = sha256_hex(digests);
    version.truncate(VERSION_CHARS);
    version
}
