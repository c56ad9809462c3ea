//! The HTTP API.

use std::fmt;

use tracing::{error, warn};

use crate::metrics;

/// `route` is the path as the table of routes has it.
pub fn request_answered(route: &str, status: u16) {
    metrics::HTTP_REQUESTS.with_label_values(&[route, &status.to_string()]).inc();
}

/// A request failed for a reason that is not its client's.
pub fn request_failed(method: &str, path: &str, status: u16, request_id: &str, cause: &str) {
    match status {
        503 => warn!(method, path, status, request_id, "{method} {path} could not be answered: {cause}"),
        _ => error!(method, path, status, request_id, "{method} {path} failed: {cause}"),
    }
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
