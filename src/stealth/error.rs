//! `FetchError`: why a request brought no usable answer, and what the caller does next.
//!
//! In: faults that a connection, an answer, an adapter or its driver found. Out: a message, a metric's label,
//! and how to continue: the session by a [`RequestDisposition`], the task by a [`Disposition`]. It must not know
//! the retries of tasks.

use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

use domain::amounts::counted;
use domain::host::{HostRefusal, Trouble};
use domain::proxy::ProxyId;
use domain::task::disposition::{Disposition, HasDisposition};
use foundation::memory::MAX_LARGE;
use foundation::process_limits::REMEDY;

/// How long a task waits for descriptors or ports of this process.
const PROCESS_LIMIT_PAUSE: Duration = Duration::from_secs(10);
/// A task does not wait longer for a breaker: an operator who opened it for days may close it at any time.
const MAX_BREAKER_PAUSE: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Error, PartialEq)]
pub enum FetchError {
    #[error("{host} refused the request: {status}")]
    Blocked { host: String, status: u16 },
    #[error("{host} answered with HTML where JSON was expected")]
    Challenged { host: String },
    /// The same, where the host treats all requests so; its breaker is closed.
    #[error("{error}; it {} since {} UTC", trouble.what, trouble.since.format("%H:%M"))]
    HostTrouble { error: Box<FetchError>, trouble: Box<Trouble> },
    /// The host answered with 5xx.
    #[error("{host} failed: status {status}")]
    ServerError { host: String, status: u16 },
    #[error("proxy {proxy} failed: {reason}")]
    ProxyDown { proxy: ProxyId, reason: String },
    /// No proxy came free within the wait.
    #[error("no proxy came free for {host} within proxies.wait")]
    NoProxy { host: String },
    /// A proxy accepted the request, and then no origin was reached through it, or its TLS failed.
    #[error("{host} cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    /// The tries broke in transit, and no host answered through any proxy in that time. `only_host` is set where
    /// no other host was asked: then it is unknown whether that host fails or all proxies do.
    #[error("no proxy gets an answer from {}; the last try: {reason}", silent_hosts(only_host.as_deref()))]
    ProxyOutage { only_host: Option<String>, reason: String },
    #[error("{host} throttles us (status {status})")]
    Throttled { host: String, status: u16, retry_after: Option<Duration> },
    /// Its breaker is open: nothing is sent to it but one probe now and then.
    #[error("{host} {} since {} UTC; {}", refusing.why, refusing.since.format("%H:%M"), refusing.next_probe())]
    HostRefuses { host: String, refusing: Box<HostRefusal> },
    /// Too many requests of this process wait for the same host.
    #[error("rate limiter for {host}: no permit within {waited:?}")]
    RateLimitTimeout { host: String, waited: Duration },
    /// The answer is large, and this process holds as many large ones as it may.
    #[error("the answer of {host} is large, and this process holds {MAX_LARGE} large menus already")]
    NoMemory { host: String, wait: Duration },
    /// The fault is neither the proxy's nor the host's.
    #[error("a proxy {reason}: this process has used up what the system allows it; {REMEDY}")]
    ProcessLimit { reason: String },
    #[error("{host} did not answer within {after:?} ({phase})")]
    Timeout { host: String, phase: &'static str, after: Duration },
    #[error("{host} failed: {reason}")]
    Http { host: String, reason: String },
    /// The platform answered the operation with errors of its own.
    #[error("{operation} was answered with errors: {message}")]
    Rejected { operation: String, message: String },
    /// The platform does not take the key that the request carries.
    #[error("{host} refuses the configured key: ask the platform for a valid one, then set it")]
    KeyRefused { host: String },
    /// The platform takes no key that is known, and no page may be read for another one now.
    #[error("no key for {host} works: {why}")]
    NoKey { host: String, why: String },
    /// Its key is being looked for.
    #[error("the key of {host} is not known yet: {}", unknown.reason)]
    KeyUnknown { host: String, unknown: Box<NotYetKnown> },
    /// The platform no longer knows the operation in the form in which it was asked.
    #[error("no known query hash of {operation} works at {host}")]
    UnknownQuery { operation: String, host: String },
    /// The platform knows no hash of the operation, and answered its full text with errors.
    #[error("neither a known query hash of {operation} nor its full text is accepted: {message}")]
    FullTextRejected { operation: String, message: String },
    /// No product on any page though upstream announced some.
    #[error("the menu came back empty")]
    Empty,
    #[error("{what}")]
    NotFound { what: String },
    #[error("the answer of {host} cannot be read: {reason}")]
    Decode { host: String, reason: String },
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge { host: String, limit: usize },
    #[error("the menu is larger than {limit} bytes over all its pages")]
    MenuTooLarge { limit: usize },
    /// The store's row lacks a part of the request.
    #[error("store '{store}' {reason}")]
    NotAddressable { store: String, reason: &'static str },
    /// The target is not on the allow-list, or not an address that can be asked.
    #[error("{what} must not be contacted: {reason}")]
    NotAllowed { what: String, reason: String },
    /// Its robots.txt forbids it, and `politeness.robots` says that it is obeyed.
    #[error("{host} asks robots not to fetch {path_and_rule}, and politeness.robots obeys it")]
    RobotsForbid { host: String, path_and_rule: String },
    #[error("{host} is sent nothing until its robots.txt is known: {}", unknown.reason)]
    RobotsUnknown { host: String, unknown: Box<NotYetKnown> },
    #[error("the crawl holds {}, but the platform did not announce how many there are", counted(*seen, "product"))]
    Unannounced { seen: usize },
    /// The announced total does not match the number of products.
    #[error("the crawl holds {}, but fewer were announced: {total}", counted(*seen, "product"))]
    MoreThanAnnounced { seen: usize, total: usize },
    #[error("the crawl holds {seen} of {}, a share below {min_coverage}", counted(*total, "product"))]
    Incomplete { seen: usize, total: usize, min_coverage: f64 },
    #[error("the menu has more than {}; these hold {seen} products. Raise http.max_pages, or its platform's max_pages", counted(*max_pages, "page"))]
    MorePages { seen: usize, max_pages: usize },
}

/// Why the rules or the key of a host are not known, and for how long its tasks wait.
#[derive(Clone, Debug, PartialEq)]
pub struct NotYetKnown {
    pub reason: String,
    pub wait: Duration,
}

/// How a session continues after a [`FetchError`]; its task continues by a [`Disposition`]. Callers act on
/// these; only `platforms::crawler` matches on variants, for hashes, menus that look empty and unknown stores.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestDisposition {
    /// The host refuses this client: blame the proxy, continue with another proxy and identity.
    RotateBlocked,
    /// The proxy failed: blame it, continue with another.
    RotateProxy,
    /// No proxy is to blame: try the same again after a pause.
    TryAgain,
    /// The task waits and spends no retry (no proxy is free, the host throttles us).
    Snooze { after: Option<Duration> },
    /// This process has reached a limit: the task gives its proxy and its slot back, waits in the queue, and
    /// spends no retry.
    Requeue { after: Duration },
    /// This attempt has failed; a later one may succeed.
    FailAttempt,
    /// No attempt will succeed.
    Permanent,
}

impl FetchError {
    /// An answer whose status alone makes it useless.
    pub(super) fn bad_status(host: &str, status: StatusCode) -> Self {
        FetchError::Http { host: host.to_owned(), reason: format!("status {}", status.as_u16()) }
    }

    /// The error with its texts of others, such as a platform's message, as `shown` returns them.
    pub(super) fn with_texts(mut self, shown: impl Fn(&str) -> String) -> Self {
        match &mut self {
            FetchError::Rejected { message: text, .. }
            | FetchError::FullTextRejected { message: text, .. }
            | FetchError::Http { reason: text, .. }
            | FetchError::Decode { reason: text, .. }
            | FetchError::NotFound { what: text } => *text = shown(text),
            _ => {}
        }
        self
    }

    /// Status of the answer, where the answer is the error.
    pub fn status(&self) -> Option<u16> {
        match self {
            FetchError::Blocked { status, .. }
            | FetchError::ServerError { status, .. }
            | FetchError::Throttled { status, .. } => Some(*status),
            FetchError::HostTrouble { error, .. } => error.status(),
            _ => None,
        }
    }

    /// How the session continues. The only place that decides it.
    pub fn request_disposition(&self) -> RequestDisposition {
        match self {
            FetchError::Blocked { .. } | FetchError::Challenged { .. } => RequestDisposition::RotateBlocked,
            FetchError::HostTrouble { error, .. } => error.request_disposition(),
            FetchError::ProxyDown { .. } => RequestDisposition::RotateProxy,
            FetchError::NoProxy { .. } | FetchError::ProxyOutage { .. } | FetchError::RateLimitTimeout { .. } => {
                RequestDisposition::Snooze { after: None }
            }
            FetchError::NoMemory { wait, .. } => RequestDisposition::Requeue { after: *wait },
            FetchError::ProcessLimit { .. } => RequestDisposition::Requeue { after: PROCESS_LIMIT_PAUSE },
            FetchError::Throttled { retry_after, .. } => RequestDisposition::Snooze { after: *retry_after },
            FetchError::HostRefuses { refusing, .. } => {
                RequestDisposition::Snooze { after: Some(refusing.left.min(MAX_BREAKER_PAUSE)) }
            }
            FetchError::RobotsUnknown { unknown, .. } => RequestDisposition::Snooze { after: Some(unknown.wait) },
            FetchError::KeyUnknown { unknown, .. } => RequestDisposition::Snooze { after: Some(unknown.wait) },
            FetchError::Unreachable { .. }
            | FetchError::Timeout { .. }
            | FetchError::ServerError { .. }
            | FetchError::Http { .. }
            | FetchError::Empty => RequestDisposition::TryAgain,
            FetchError::Rejected { .. }
            | FetchError::UnknownQuery { .. }
            | FetchError::FullTextRejected { .. }
            | FetchError::Decode { .. }
            | FetchError::TooLarge { .. }
            | FetchError::MenuTooLarge { .. }
            | FetchError::MorePages { .. }
            | FetchError::Unannounced { .. }
            | FetchError::MoreThanAnnounced { .. }
            | FetchError::Incomplete { .. } => RequestDisposition::FailAttempt,
            FetchError::NotFound { .. }
            | FetchError::NotAddressable { .. }
            | FetchError::NotAllowed { .. }
            | FetchError::KeyRefused { .. }
            | FetchError::NoKey { .. }
            | FetchError::RobotsForbid { .. } => RequestDisposition::Permanent,
        }
    }

    /// The host whose open breaker is the cause.
    fn refusing_host(&self) -> Option<String> {
        match self {
            FetchError::HostRefuses { host, .. } => Some(host.clone()),
            _ => None,
        }
    }

    /// The value of the label `outcome` in metrics. Dashboards use these names: they stay where a variant is
    /// renamed.
    pub fn label(&self) -> &'static str {
        match self {
            FetchError::Blocked { .. } => "blocked",
            FetchError::Challenged { .. } => "challenged",
            FetchError::HostTrouble { error, .. } => error.label(),
            FetchError::ProxyDown { .. } => "proxy_down",
            FetchError::NoProxy { .. } => "no_proxy",
            FetchError::Unreachable { .. } => "unreachable",
            FetchError::ProxyOutage { .. } => "proxy_outage",
            FetchError::RateLimitTimeout { .. } => "permit_timeout",
            FetchError::NoMemory { .. } => "no_memory",
            FetchError::ProcessLimit { .. } => "process_limit",
            FetchError::Throttled { .. } => "throttled",
            FetchError::HostRefuses { .. } => "host_refuses",
            FetchError::Timeout { .. } => "timeout",
            FetchError::ServerError { .. } | FetchError::Http { .. } => "http",
            FetchError::Rejected { .. } => "graphql",
            FetchError::KeyRefused { .. } | FetchError::NoKey { .. } | FetchError::KeyUnknown { .. } => "key_refused",
            FetchError::UnknownQuery { .. } | FetchError::FullTextRejected { .. } => "hash_stale",
            FetchError::Empty => "empty",
            FetchError::NotFound { .. } => "not_found",
            FetchError::Decode { .. } => "decode",
            FetchError::TooLarge { .. } | FetchError::MenuTooLarge { .. } => "too_large",
            FetchError::NotAddressable { .. } => "not_addressable",
            FetchError::NotAllowed { .. } => "refused",
            FetchError::RobotsForbid { .. } | FetchError::RobotsUnknown { .. } => "robots",
            FetchError::Unannounced { .. } | FetchError::MoreThanAnnounced { .. } => "unannounced",
            FetchError::Incomplete { .. } | FetchError::MorePages { .. } => "incomplete",
        }
    }
}

impl HasDisposition for FetchError {
    fn disposition(&self) -> Disposition {
        match self.request_disposition() {
            RequestDisposition::Snooze { after } => Disposition::Snooze { after, host: self.refusing_host() },
            RequestDisposition::Requeue { after } => Disposition::snooze(after),
            RequestDisposition::Permanent => Disposition::Permanent,
            // rotations are used up and the proxies failed each time: nothing reached the platform, so it
            // costs no retry
            RequestDisposition::RotateProxy => Disposition::snooze(None),
            RequestDisposition::RotateBlocked | RequestDisposition::TryAgain | RequestDisposition::FailAttempt => {
                Disposition::Retry
            }
        }
    }
}

/// The hosts from which no answer comes, as messages name them.
pub(super) fn silent_hosts(only_host: Option<&str>) -> String {
    only_host.map_or_else(|| "any host".to_owned(), |host| format!("{host}, and no other host was asked"))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::until_its_probe(120, 120)]
    #[case::for_days(7 * 86_400, 300)]
    fn a_task_waits_for_a_breaker_no_longer_than_some_minutes(#[case] left: u64, #[case] waits: u64) {
        let refusing = HostRefusal {
            why: "is switched off by an operator".to_owned(),
            since: DateTime::UNIX_EPOCH,
            left: Duration::from_secs(left),
            is_probed: false,
        };
        let error = FetchError::HostRefuses { host: "menu.test".to_owned(), refusing: Box::new(refusing) };
        let wait = Some(Duration::from_secs(waits));
        assert_eq!(error.request_disposition(), RequestDisposition::Snooze { after: wait });
        assert_eq!(error.disposition(), Disposition::Snooze { after: wait, host: Some("menu.test".to_owned()) });
    }
}
