//! `ProxyPoolView`: the state of the pool, as tests see it.
//!
//! In: a member of the pool. Out: its counters and condition. It must not know secrets.

use std::time::{Duration, Instant};

use domain::proxy::{Condition, PoolState, PooledProxy, ProxyId};

#[derive(Clone, Debug, PartialEq)]
pub struct ProxyPoolView {
    pub state: PoolState,
    /// Asks that wait for a proxy.
    pub waiting: usize,
    /// Whether the last sync with the table failed.
    pub table_fails: bool,
    pub proxies: Vec<ProxyView>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProxyView {
    pub id: ProxyId,
    pub host: String,
    pub port: u16,
    /// `active`, `on_trial`, `benched` or `off`.
    pub condition: String,
    /// Number of open leases in this process.
    pub open_leases: usize,
    pub success_count: i64,
    pub failure_count: i64,
    pub consecutive_403_count: i64,
    pub avg_response_time_ms: Option<f64>,
    pub cooldown_left_ms: Option<u64>,
    /// Time until it is used again, where its budget is spent.
    pub rest_left_ms: Option<u64>,
    pub last_error: Option<String>,
}

impl ProxyView {
    pub(super) fn of(member: &PooledProxy, rest_left: Option<Duration>, now: Instant) -> Self {
        let (condition, until) = match member.health.condition() {
            Condition::Active => ("active", None),
            Condition::OnTrial => ("on_trial", None),
            Condition::Benched { until, .. } => ("benched", Some(until)),
            Condition::Off => ("off", None),
        };
        let counters = &member.counters;
        ProxyView {
            id: member.proxy.id,
            host: member.proxy.host.clone(),
            port: member.proxy.port,
            condition: condition.to_owned(),
            open_leases: member.open_leases,
            success_count: counters.success_count,
            failure_count: counters.failure_count,
            consecutive_403_count: counters.consecutive_403_count,
            avg_response_time_ms: counters.avg_response_time_ms,
            cooldown_left_ms: until.map(|until| until.saturating_duration_since(now).as_millis() as u64),
            rest_left_ms: rest_left.map(|left| left.as_millis() as u64),
            last_error: counters.last_error.clone(),
        }
    }
}
