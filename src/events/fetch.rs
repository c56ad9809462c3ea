//! Requests to platforms, the proxies that carry them, and the data that comes of them.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tracing::{debug, error, info, warn};

use crate::domain::dispensary::Platform;
use crate::domain::proxy::{Notice, PoolState, Proxy};
use crate::metrics;

/// `outcome` is one word of a closed set (`ok`, `blocked`, `timeout`, …); `bytes` of the body as received.
pub fn request_finished(host: &str, outcome: &'static str, bytes: u64, took: Duration) {
    metrics::REQUESTS.with_label_values(&[outcome]).inc();
    metrics::FETCH_BYTES.inc_by(bytes);
    metrics::FETCH_SECONDS.observe(took.as_secs_f64());
    debug!(host, outcome, bytes, took = took.as_secs_f64(), "Request to {host}: {outcome}");
}

/// Proxy and identity were changed; `reason` is `blocked` or `proxy`.
pub fn rotated(host: &str, reason: &'static str, why: &dyn fmt::Display) {
    metrics::ROTATIONS.with_label_values(&[reason]).inc();
    info!(host, reason, "Rotating proxy and identity: {why}");
}

/// The platform refuses every hash that is known of `operation`: stores are crawled by its full text, or not at all.
pub fn hashes_exhausted(platform: Platform, operation: &str) {
    error!(%platform, operation, "No known hash of {operation} works at {platform} any more: add the current one to its data file");
}

/// Something befell a proxy.
pub fn proxy_notice(notice: &Notice) {
    match notice {
        Notice::Benched { proxy, cooldown, why } => proxy_benched(proxy, *cooldown, why),
        Notice::BenchedAtHost { proxy, host, cooldown } => {
            proxy_benched(proxy, *cooldown, &format!("too many blocks in a row by {host} (for that host only)"));
        }
        Notice::LastOne { proxy, why } => last_proxy_failing(proxy.id, why),
        Notice::OnTrial { proxy } => info!(proxy = proxy.id, "Proxy {proxy} gets another try"),
        Notice::Revived { proxy } => info!(proxy = proxy.id, "Proxy {proxy} works again"),
    }
}

fn proxy_benched(proxy: &Proxy, cooldown: Duration, why: &str) {
    metrics::PROXY_BENCHES.inc();
    warn!(proxy = proxy.id, "Proxy {proxy} benched for {cooldown:.0?}: {why}");
}

/// The last active one is not benched; somebody should look.
fn last_proxy_failing(proxy: i64, why: &str) {
    error!(proxy, "The last active proxy {proxy} is failing and stays in use: {why}");
}

/// Whoever starts without any may not know that there must be some.
pub fn no_proxies() {
    warn!("There is no proxy, so nothing is fetched: add some with `drover proxies import FILE`");
}

/// The pool of this process holds other numbers than before.
pub fn proxy_pool_changed(now: PoolState) {
    let PoolState { active, benched, off } = now;
    for (state, count) in [("active", active), ("benched", benched), ("off", off)] {
        metrics::PROXIES.with_label_values(&[state]).set(count as i64);
    }
    match active {
        0 => error!(benched, off, "No proxy is active: nothing is fetched until one is"),
        active => info!(active, benched, off, "Proxies: {active} active, {benched} benched, {off} off"),
    }
}

/// The table could not be read or written. `again`: nor could it the last time, of which somebody has been told.
pub fn proxy_table_failed(why: &str, again: bool) {
    match again {
        true => debug!("The proxy table still cannot be reached: {why}"),
        false => warn!("The proxy table cannot be reached, counts are kept and proxies used as last known: {why}"),
    }
}

/// What the result of a completed run says of data: a payload's bytes and coverage, products by what became of them.
pub fn data_written(result: &Value) {
    if let (Some(bytes), Some(coverage)) = (result["bytes"].as_u64(), result["coverage"].as_f64()) {
        metrics::PAYLOADS.inc();
        metrics::PAYLOAD_BYTES.inc_by(bytes);
        metrics::COVERAGE.observe(coverage);
    }
    for change in ["new", "changed", "unchanged", "missed", "out_of_stock", "back_in_stock"] {
        if let Some(count) = result[change].as_u64() {
            metrics::PRODUCTS.with_label_values(&[change]).inc_by(count);
        }
    }
}
