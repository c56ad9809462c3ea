//! `FetchError`: what the world answered instead of a menu, and who is to blame.

use std::time::Duration;

use thiserror::Error;

use super::proxy::ProxyId;

#[derive(Clone, Debug, Error, PartialEq)]
pub enum FetchError {
    #[error("{host} refused the request: {status}")]
    Blocked { host: String, status: u16 },
    #[error("{host} answers plain clients with a challenge page")]
    Challenged { host: String },
    #[error("proxy {proxy} failed: {why}")]
    ProxyDown { proxy: ProxyId, why: String },
    /// No proxy came free within the wait.
    #[error("no proxy is free for {host}")]
    NoProxy { host: String },
    #[error("{host} asks for patience: {status}")]
    Throttled { host: String, status: u16, retry_after: Option<Duration> },
    /// Too many of our own requests stand in line.
    #[error("the line for {host} is longer than {waited:?}")]
    NoTurn { host: String, waited: Duration },
    #[error("{host} did not answer within {after:?} ({phase})")]
    Timeout { host: String, phase: &'static str, after: Duration },
    #[error("{host} failed: {why}")]
    Http { host: String, why: String },
    #[error("{operation} was answered with errors: {message}")]
    GraphQl { operation: String, message: String },
    #[error("no known query hash of {operation} works at {host}")]
    HashStale { operation: String, host: String },
    /// Page 0 without products for a store that had some.
    #[error("the menu came back empty")]
    Empty,
    #[error("{what} does not exist upstream")]
    NotFound { what: String },
    #[error("the answer of {host} cannot be read: {why}")]
    Decode { host: String, why: String },
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge { host: String, limit: usize },
    /// The allow-list, or an address that is no address.
    #[error("{what} must not be contacted: {why}")]
    Refused { what: String, why: String },
    #[error("the crawl holds {seen} of {total} products, less than the {min_coverage} asked for")]
    Incomplete { seen: usize, total: usize, min_coverage: f64 },
}

/// What follows from a [`FetchError`]; callers act on this and never match on variants.
#[derive(Clone, Debug, PartialEq)]
pub enum Disposition {
    /// The host refuses this client: blame the proxy, go on with another proxy and identity.
    RotateBlocked,
    /// The hop failed: blame the proxy, go on with another.
    RotateProxy,
    /// Nobody's fault: try the same again after a pause.
    TryAgain { after: Option<Duration> },
    /// Wait without cost to the task (no proxy free, the host asked for patience).
    Snooze { after: Option<Duration> },
    /// This attempt has failed; a later one may succeed.
    FailAttempt,
    /// No attempt will succeed.
    Permanent,
}

impl FetchError {
    /// Who is to blame and what follows: the one place that knows.
    pub fn disposition(&self) -> Disposition {
        match self {
            FetchError::Blocked { .. } | FetchError::Challenged { .. } => Disposition::RotateBlocked,
            FetchError::ProxyDown { .. } => Disposition::RotateProxy,
            FetchError::NoProxy { .. } | FetchError::NoTurn { .. } => Disposition::Snooze { after: None },
            FetchError::Throttled { retry_after, .. } => Disposition::Snooze { after: *retry_after },
            FetchError::Timeout { .. } | FetchError::Http { .. } | FetchError::Empty => {
                Disposition::TryAgain { after: None }
            }
            FetchError::GraphQl { .. }
            | FetchError::HashStale { .. }
            | FetchError::Decode { .. }
            | FetchError::TooLarge { .. }
            | FetchError::Incomplete { .. } => Disposition::FailAttempt,
            FetchError::NotFound { .. } | FetchError::Refused { .. } => Disposition::Permanent,
        }
    }

    /// One word for counters: a closed set.
    pub fn word(&self) -> &'static str {
        match self {
            FetchError::Blocked { .. } => "blocked",
            FetchError::Challenged { .. } => "challenged",
            FetchError::ProxyDown { .. } => "proxy_down",
            FetchError::NoProxy { .. } => "no_proxy",
            FetchError::NoTurn { .. } => "no_turn",
            FetchError::Throttled { .. } => "throttled",
            FetchError::Timeout { .. } => "timeout",
            FetchError::Http { .. } => "http",
            FetchError::GraphQl { .. } => "graphql",
            FetchError::HashStale { .. } => "hash_stale",
            FetchError::Empty => "empty",
            FetchError::NotFound { .. } => "not_found",
            FetchError::Decode { .. } => "decode",
            FetchError::TooLarge { .. } => "too_large",
            FetchError::Refused { .. } => "refused",
            FetchError::Incomplete { .. } => "incomplete",
        }
    }
}
