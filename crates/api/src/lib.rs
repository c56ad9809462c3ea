//! HTTP: JSON over HTTP/1.1, for programs, dashboards and probes.
//!
//! In: a bound listener and an [`ApiState`], whose token ends it. Out: a future that is ready when the last
//! connection has closed. It must not know handlers, platforms or actors: their state comes in as [`Health`].

pub mod openapi;
pub mod proxy_draft;
pub mod rendered_images;
pub mod retention;
pub mod server;
pub mod store_draft;

mod access;
mod analytics;
mod audit;
mod authenticate;
mod batch;
mod body;
mod capacity;
mod change;
mod changes;
mod client_stream;
mod completions;
mod config;
mod credentials;
mod description;
mod endpoint;
mod error;
mod etag;
mod exports;
mod feed;
mod files;
mod forecast;
mod generation;
mod geo;
mod groups;
mod guard;
mod head;
mod health;
mod hosts;
mod image_signature;
mod images;
mod job_addresses;
mod job_imports;
mod job_queue;
mod jobs;
mod legacy;
mod listing;
mod media;
mod media_items;
mod metrics;
mod notifications;
mod operations;
mod origin;
mod overview;
mod page;
mod path;
mod pauses;
mod payloads;
mod peer_limit;
mod prices;
mod process_health;
mod products;
mod proxies;
mod proxy_tests;
mod quality;
mod query;
mod rates;
mod refusals;
mod retailers;
mod router;
mod schedules;
mod session;
mod state;
mod stats;
mod store_bulk;
mod store_hosts;
mod store_imports;
mod stores;
mod stream;
mod strict;
mod task_changes;
mod tasks;
mod tokens;
mod unique;
mod visitor_counts;
mod visitors;
mod worker_commands;
mod worker_replicas;
mod worker_reports;
mod workers;

use std::future::Future;

use axum::Router;
use tokio::net::TcpListener;

use supervision::background::Background;

// the parts of a handler's signature
use access::{Access, Admin, Anyone, Caller, Changes, Consumer, Guard, Operator, Viewer};
use body::{BatchBody, Body};
use change::Change;
use description::{Describe, Description};
use etag::{IfMatch, IfNoneMatch, with_tag};
use listing::Listing;
use page::{Page, PageJson};
use path::Path;
use query::{AnyQuery, NoParameters, Query};

pub use config::Settings;
pub use error::ApiError;
pub use files::PayloadFiles;
pub use process_health::{Actors, Health};
pub use router::command_line;
pub use server::Bounds;
pub use state::{ApiServices, ApiState, CrawlLimits, ProxyTester};

const MAX_API_CONNECTIONS: usize = 512;
const MAX_PROBE_CONNECTIONS: usize = 64;
/// Few programs ask for probes, each from an address of its own.
const MAX_PROBE_CONNECTIONS_PER_ADDRESS: usize = 16;
/// Maximum connections to `/api/events`, beside [`MAX_API_CONNECTIONS`].
const MAX_LISTENERS: usize = 1_000;
/// Each has a body of up to 16 MiB in memory.
const MAX_BATCHES: usize = 4;
/// Maximum number of exports at the same time: each keeps some tens of MiB in memory, and a core busy.
const MAX_EXPORTS: usize = 2;
/// Maximum at the same time: each is a request to the platform.
const MAX_PROXY_TESTS: usize = 2;

/// Content of `/metrics` beside the probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scrape {
    /// The metrics that this process counts.
    Process,
    /// The process's and the service's metrics; the latter are computed from the database.
    Service,
}

/// Serves the API, the probes and `pages` until the state's token is cancelled; open requests then have a bounded time to end.
pub fn serve(
    listener: TcpListener,
    state: ApiState,
    pages: Router<ApiState>,
    background: Background,
) -> impl Future<Output = ()> + Send {
    let bounds = bounds(&state, MAX_API_CONNECTIONS, state.config.connections_per_address);
    let (stop, feed, counting) = (state.stop.clone(), state.clone(), state.clone());
    let serving = server::serve(listener, router::api(state, pages), bounds, stop);
    async move {
        let feed = background.start("feed of events", move || feed::run(feed.clone()));
        let visitors = background.start("count of visitors", move || visitors::run(counting.clone()));
        let _ = tokio::join!(serving, feed, visitors);
    }
}

/// Serves `/livez`, `/readyz` and `/metrics` to any host, on connections of their own: clients of the API
/// cannot use them up.
pub fn serve_probes(listener: TcpListener, state: ApiState, scrape: Scrape) -> impl Future<Output = ()> + Send {
    let bounds = bounds(&state, MAX_PROBE_CONNECTIONS, MAX_PROBE_CONNECTIONS_PER_ADDRESS);
    let stop = state.stop.clone();
    server::serve(listener, router::probes(state, scrape), bounds, stop)
}

fn bounds(state: &ApiState, connections: usize, connections_per_address: usize) -> Bounds {
    let write_idle = server::MAX_WRITE_IDLE.min(state.config.request_timeout);
    Bounds { connections, connections_per_address, write_idle }
}
