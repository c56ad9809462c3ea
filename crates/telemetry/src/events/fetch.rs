//! Requests to platforms, the proxies that they go through, and query hashes.

use std::fmt;
use std::time::Duration;

use tracing::{debug, error, info, warn};

use crate::metrics;
use domain::host::HostNotice;
use domain::http::robots::RobotsAnswer;
use domain::proxy::{Notice, PoolState, Proxy};
use domain::store::Platform;

/// `outcome` is one of a closed set (`ok`, `blocked`, `timeout`, …); `bytes` of the body as received.
pub fn request_finished(host: &str, outcome: &'static str, bytes: u64, took: Duration) {
    metrics::REQUESTS.with_label_values(&[outcome]).inc();
    metrics::FETCH_BYTES.inc_by(bytes);
    metrics::FETCH_SECONDS.observe(took.as_secs_f64());
    debug!(host, outcome, bytes, took = took.as_secs_f64(), "Request to {host}: {outcome}");
}

/// Warns that a fetch is in no rollup: this process keeps as many totals as it may, because it cannot write them.
pub fn fetch_not_counted() {
    metrics::FETCHES_NOT_COUNTED.inc();
}

/// Counts of requests to hosts, by minute. `again`: the write before failed too, and was logged.
pub fn fetch_counts_not_written(error: &dyn fmt::Display, again: bool) {
    match again {
        true => debug!("Counts of requests still cannot be written: {error}"),
        false => warn!("Counts of requests cannot be written, and are kept in memory: {error}"),
    }
}

/// Proxy and identity were changed, because the host blocked the request or because nothing came through. The
/// failures of a proxy are counted at the proxy: a line for each would hide the blocks.
pub fn rotated(host: &str, is_block: bool, error: &dyn fmt::Display) {
    let reason = if is_block { "blocked" } else { "proxy" };
    metrics::ROTATIONS.with_label_values(&[reason]).inc();
    match is_block {
        true => info!(host, reason, "Rotating proxy and identity: {error}"),
        false => debug!(host, reason, "Rotating proxy and identity: {error}"),
    }
}

/// An alarm: every try of a request failed in transit, and no host answered through any proxy in that time.
pub fn no_proxy_brings_answers(hosts: &str, error: &dyn fmt::Display) {
    error!("No proxy gets an answer from {hosts}; tasks are snoozed; the last try: {error}");
}

/// `endpoint` refuses every hash that is known of `operation`: its stores are crawled by its full text, or
/// not at all.
pub fn hashes_exhausted(platform: Platform, operation: &str, endpoint: &str) {
    error!(%platform, operation, endpoint, "{endpoint} of {platform} refuses every known hash of {operation}: add the current one with `drover platforms hashes add {operation} HASH`");
}

/// A page of a menu was read for the key of a platform, or gave none for the reason `failure`.
pub fn key_read(platform: Platform, store: Option<i64>, failure: Option<&str>) {
    match failure {
        None => info!(%platform, store, "The key of {platform} was read from a page of a menu"),
        Some(failure) => warn!(%platform, store, "No key of {platform} could be read from a page of a menu: {failure}"),
    }
}

pub fn host_notice(host: &str, notice: &HostNotice) {
    match notice {
        HostNotice::Opened { why, probe_in } => {
            metrics::BREAKER_OPENS.inc();
            error!(host, "{host} {why}: nothing is sent to it for {probe_in:.0?}, and then one probe");
        }
        HostNotice::ProbeFailed { why, probe_in } => {
            warn!(host, "{host} did not accept the probe ({why}): nothing is sent to it for {probe_in:.0?}");
        }
        HostNotice::Closed => info!(host, "{host} accepts requests again"),
    }
}

/// The state of a host could not be shared. `again`: the exchange before failed too, and was logged.
pub fn host_table_failed(host: &str, error: &str, again: bool) {
    match again {
        true => debug!(host, "The state of {host} still cannot be shared: {error}"),
        false => {
            warn!(host, "The state of {host} cannot be shared with other processes, and is kept in memory: {error}")
        }
    }
}

/// A rule of the host's robots.txt that requests break, where that is only reported. Once a day for each.
pub fn robots_forbid(host: &str, path: &str, rule: &str) {
    warn!(
        host,
        path,
        "{host} asks robots not to fetch {path} (robots.txt: '{rule}'); it is fetched anyway, because politeness.robots is report"
    );
}

pub fn robots_fetched(host: &str, answer: &RobotsAnswer) {
    match answer {
        RobotsAnswer::Rules(text) => info!(host, bytes = text.len(), "{host} has a robots.txt"),
        RobotsAnswer::NoRules => info!(host, "{host} has no robots.txt"),
        RobotsAnswer::Unreachable { reason } => warn!(host, "The robots.txt of {host} cannot be fetched: {reason}"),
    }
}

/// Warns that a host's robots.txt is not known, and the request is sent all the same.
pub fn robots_unknown(host: &str, error: &dyn fmt::Display) {
    debug!(host, "The robots.txt of {host} is not known: {error}");
}

pub fn proxy_notice(notice: &Notice) {
    match notice {
        Notice::Benched { proxy, cooldown, reason } => proxy_benched(proxy, *cooldown, reason),
        // every few seconds while some are dead
        Notice::StillFails { proxy, left, reason } => {
            debug!(proxy = proxy.id, "Proxy {proxy} still fails, and is benched for {left:.0?} more: {reason}");
        }
        Notice::BenchedAtHost { proxy, host, cooldown, reason } => {
            proxy_benched(proxy, *cooldown, &format!("{reason} (for {host} only)"));
        }
        Notice::LastActiveFailing { proxy, reason } => last_proxy_failing(proxy.id, reason),
        Notice::HostRefusesAll { host } => {
            metrics::PROXY_BENCHES.inc();
            error!(host, "{host} refuses every proxy: nothing is sent to it until the first bench there ends");
        }
        Notice::BudgetNearlySpent { proxy, bytes, budget } => {
            let who = budget_of(proxy.as_deref());
            warn!(bytes, budget, "{who} carried {bytes} of {budget} bytes that are allowed today");
        }
        Notice::BudgetSpent { proxy: Some(proxy), budget, left } => {
            warn!(
                proxy = proxy.id,
                budget,
                "Proxy {proxy} has carried the {budget} bytes that it may carry in a day, and rests for {}",
                whole_minutes(left)
            );
        }
        Notice::BudgetSpent { proxy: None, budget, left } => {
            error!(
                budget,
                "All proxies have carried the {budget} bytes that they may carry in a day: nothing is fetched for {}",
                whole_minutes(left)
            );
        }
        Notice::OnTrial { proxy } => debug!(proxy = proxy.id, "Proxy {proxy} is tried again"),
        Notice::Revived { proxy } => info!(proxy = proxy.id, "Proxy {proxy} works again"),
    }
}

/// Writes whole minutes, up to hours: a day lasts no longer.
fn whole_minutes(left: &Duration) -> humantime::FormattedDuration {
    humantime::format_duration(Duration::from_secs(left.as_secs().div_ceil(60) * 60))
}

fn budget_of(proxy: Option<&Proxy>) -> String {
    proxy.map_or_else(|| "All proxies together".to_owned(), |proxy| format!("Proxy {proxy}"))
}

fn proxy_benched(proxy: &Proxy, cooldown: Duration, reason: &str) {
    metrics::PROXY_BENCHES.inc();
    warn!(proxy = proxy.id, "Proxy {proxy} benched for {cooldown:.0?}: {reason}");
}

/// The last active one is not benched; an operator should look.
fn last_proxy_failing(proxy: i64, reason: &str) {
    error!(proxy, "The last active proxy {proxy} is failing and is used rarely: {reason}");
}

/// Warns at the start: a new operator may not know that proxies are required.
pub fn no_proxies() {
    warn!("There is no proxy, so nothing is fetched: add proxies with `drover proxies import FILE`");
}

/// Its password cannot be read, so it is not used; `error` says why.
pub fn proxy_unreadable(proxy: i64, address: &str, error: &dyn fmt::Display) {
    error!(
        proxy,
        "Proxy {proxy} {address} is not used, because its password cannot be read: {error}; add that key to secrets.previous_keys, or import the proxy again"
    );
}

/// The counts of the pool of this process have changed; `alarm`: an operator should look.
pub fn proxy_pool_changed(now: PoolState, alarm: bool) {
    let PoolState { usable, health: counts } = now;
    for (health, count) in counts.each() {
        metrics::PROXIES.with_label_values(&[health.name()]).set(count as i64);
    }
    match usable {
        0 if alarm => error!("No proxy is usable: nothing is fetched until one is; proxies: {counts}"),
        usable => info!(usable, "Proxies: {counts}"),
    }
}

/// The table could not be read or written. `again`: the sync before failed too, and was logged.
pub fn proxy_table_failed(error: &str, again: bool) {
    match again {
        true => debug!("The proxy table still cannot be reached: {error}"),
        false => warn!("The proxy table cannot be reached, counts are kept and proxies used as last known: {error}"),
    }
}
