//! HTTP: JSON over HTTP/1.1, for programs, dashboards and probes.
//!
//! In: a bound listener and an [`ApiState`], whose token ends it. Out: a future that is ready when the last connection has closed.
//! It must not know handlers, platforms or actors: their state comes in as [`Health`].

pub mod health;
pub mod server;
pub mod tasks;
pub mod workers;

mod body;
mod cursor;
mod error;
mod guard;
mod metrics;
mod path;
mod query;
mod router;
mod state;

use std::future::Future;

use tokio::net::TcpListener;

pub use cursor::Cursor;
pub use error::ApiError;
pub use health::{Actors, Health};
pub use server::Bounds;
pub use state::ApiState;

const MAX_API_CONNECTIONS: usize = 512;
const MAX_PROBE_CONNECTIONS: usize = 64;

/// What `/metrics` answers beside the probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrape {
    /// The metrics that this process counts.
    Process,
    /// Those, and the service's metrics, computed from the database.
    Service,
}

/// Serves API and probes until the state's token is cancelled; open requests then have a bounded time to end.
pub fn serve(listener: TcpListener, state: ApiState) -> impl Future<Output = ()> + Send {
    let (bounds, stop) = (bounds(&state, MAX_API_CONNECTIONS), state.stop.clone());
    server::serve(listener, router::api(state), bounds, stop)
}

/// Serves `/livez`, `/readyz` and `/metrics` to any host, on connections of their own: clients of the API cannot use them up.
pub fn serve_probes(listener: TcpListener, state: ApiState, scrape: Scrape) -> impl Future<Output = ()> + Send {
    let (bounds, stop) = (bounds(&state, MAX_PROBE_CONNECTIONS), state.stop.clone());
    server::serve(listener, router::probes(state, scrape), bounds, stop)
}

fn bounds(state: &ApiState, connections: usize) -> Bounds {
    Bounds { connections, write_idle: server::MAX_WRITE_IDLE.min(state.config.request_timeout) }
}
