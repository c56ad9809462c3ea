//! `HostTable`: the shared states of hosts.
//!
//! In: this process's observations of one host. Out: its shared state. It must not know how it is stored.

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;

use domain::host::{HostReport, HostState, ReportResult};

/// The owner of the shared states.
pub trait HostTable: Send + Sync {
    /// Adds `report` to the host's state, after other processes' reports. The error is for people: nothing is
    /// known then.
    fn exchange(&self, host: &str, report: HostReport) -> BoxFuture<'static, Result<ExchangeResult, String>>;
}

pub struct ExchangeResult {
    pub state: HostState,
    /// The time of `state`, by the clock that all processes share.
    pub now: DateTime<Utc>,
    pub applied: ReportResult,
}
