//! The HTTP API.

use std::fmt;

use tracing::{error, warn};

/// A request that failed through no fault of the client's.
pub fn request_failed(method: &str, path: &str, status: u16, why: &str) {
    match status {
        503 => warn!(method, path, status, "{method} {path} could not be answered: {why}"),
        _ => error!(method, path, status, "{method} {path} failed: {why}"),
    }
}

pub fn accept_failed(why: &dyn fmt::Display) {
    warn!("No connection can be accepted: {why}");
}

/// Metrics of the whole service are missing from this scrape.
pub fn scrape_incomplete(why: &dyn fmt::Display) {
    warn!("The database could not be asked for metrics: {why}");
}
