//! The HTTP API: JSON over HTTP/1.1, for programs, dashboards and probes.
//!
//! In: a bound listener, what to serve it from, and a token that ends it. Out: a future that comes back when the last
//! connection is done. It must not know handlers, platforms or actors: what it tells of them comes in as [`Health`].

pub mod health;
pub mod server;

mod cursor;
mod error;
mod guard;
mod json;
mod metrics;
mod params;
mod router;
mod tasks;
mod workers;

use std::future::Future;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use error::ApiError;
pub use health::{Actors, Health};

use crate::config;
use crate::db::Db;

/// What the whole API is served from.
#[derive(Clone)]
pub struct ApiParts {
    pub db: Db,
    pub config: config::Api,
    pub health: Health,
}

/// Serves everything until `stop`; comes back when requests under way are answered, or have had their time.
pub fn serve(listener: TcpListener, parts: ApiParts, stop: CancellationToken) -> impl Future<Output = ()> + Send {
    let limits = guard::Limits::of(&parts.config);
    server::serve(listener, router::all(Arc::new(parts), limits), stop)
}

/// Serves `/livez` and this process's own `/metrics`, for a worker.
pub fn serve_probes(
    listener: TcpListener,
    config: &config::Api,
    stop: CancellationToken,
) -> impl Future<Output = ()> + Send + use<> {
    server::serve(listener, router::probes(guard::Limits::of(config)), stop)
}
