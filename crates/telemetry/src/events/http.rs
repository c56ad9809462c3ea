//! The HTTP API.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use tracing::{error, info, warn};

use crate::metrics;

/// `route` is the resource that the path begins with; `took` is the time until the head of the answer.
pub fn request_answered(route: &str, status: u16, took: Duration) {
    metrics::HTTP_REQUESTS.with_label_values(&[route, &status.to_string()]).inc();
    metrics::HTTP_ROUTE_SECONDS.with_label_values(&[route]).inc_by(took.as_secs_f64());
    metrics::HTTP_SECONDS.observe(took.as_secs_f64());
}

/// A request failed for a reason that is not its client's.
pub fn request_failed(method: &str, path: &str, status: u16, request_id: &str, cause: &str) {
    match status {
        503 => warn!(method, path, status, request_id, "{method} {path} could not be answered: {cause}"),
        _ => error!(method, path, status, request_id, "{method} {path} failed: {cause}"),
    }
}

/// An export ended before its file was whole, for a reason that is not its client's.
pub fn export_failed(cause: &dyn fmt::Display) {
    warn!("An export broke off: {cause}");
}

/// An address has its maximum number of connections. Without a log line: it may try again at any rate.
pub fn connection_refused() {
    metrics::HTTP_CONNECTIONS_REFUSED.inc();
}

pub fn accept_failed(error: &dyn fmt::Display) {
    warn!("No connection can be accepted: {error}");
}

/// The live events have a gap.
pub fn feed_interrupted(error: &dyn fmt::Display) {
    warn!("The database could not be read for live events: {error}");
}

/// Metrics of the whole service are missing from this scrape.
pub fn scrape_incomplete(error: &dyn fmt::Display) {
    warn!("The database could not be read for metrics: {error}");
}

/// The file of `geo.database` was read, for the first time or because it had changed.
pub fn geo_file_read(path: &Path) {
    metrics::GEO_READS.with_label_values(&["ok"]).inc();
    info!("Places of addresses are looked up in {}", path.display());
}

/// `has_former`: the file as it was before stays in use.
pub fn geo_file_unreadable(path: &Path, fault: &str, has_former: bool) {
    metrics::GEO_READS.with_label_values(&["failed"]).inc();
    let meanwhile = if has_former { "the previous one stays in use" } else { "places are not known" };
    warn!("The geo database {} cannot be read, {meanwhile}: {fault}", path.display());
}

/// They are kept, and written with the next ones.
pub fn visitors_not_written(error: &dyn fmt::Display) {
    warn!("The requests of consumers could not be counted yet: {error}");
}
