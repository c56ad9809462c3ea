//! `HostRobots`: the rules of hosts as this process last read them from the [`RobotsTable`], and the policy
//! for them.
//!
//! In: an authority. Out: its rules while they are fresh, and the place where they are kept. It fetches
//! nothing.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{FetchError, RobotsTable};
use domain::http::robots::{Robots, RobotsPolicy, Rule};
use settings::Live;
use telemetry::events;
use telemetry::metrics;

/// How old the rules may become before the table is read again.
const MAX_AGE: Duration = Duration::from_secs(60);
/// Maximum number of hosts whose rules are kept; beyond it all are read again.
const MAX_HOSTS: usize = 1024;
/// Rules of one host that are known to be reported; beyond it they are noted again, which changes nothing.
const MAX_REPORTED: usize = 256;
/// How often the table is asked whether a rule was reported today.
const REPORT_EVERY: Duration = Duration::from_secs(3600);
/// Maximum path length in logs, in characters.
const MAX_PATH: usize = 100;

pub(super) struct HostRobots {
    /// None = robots.txt is not asked for.
    pub table: Option<Arc<dyn RobotsTable>>,
    config: Live<settings::Politeness>,
    hosts: Mutex<HashMap<String, Arc<KnownRobots>>>,
}

/// The rules of one authority.
#[derive(Default)]
pub(super) struct KnownRobots {
    /// One session of this process reads or fetches them at a time.
    pub turn: tokio::sync::Mutex<()>,
    read: Mutex<Option<(Instant, Arc<Robots>)>>,
    reported: Mutex<ReportedRules>,
}

/// Rules that were reported since a time.
#[derive(Default)]
struct ReportedRules {
    since: Option<Instant>,
    rules: HashSet<String>,
}

/// A request that a rule forbids.
pub(super) struct RobotsViolation<'a> {
    pub host: &'a str,
    pub authority: &'a str,
    pub path: &'a str,
    pub rule: &'a Rule,
}

impl HostRobots {
    pub fn new(config: Live<settings::Politeness>, table: Option<Arc<dyn RobotsTable>>) -> Self {
        HostRobots { table, config, hosts: Mutex::default() }
    }

    pub fn policy(&self, host: &str) -> RobotsPolicy {
        match self.table {
            Some(_) => self.config.current().robots_policy(host),
            None => RobotsPolicy::Ignore,
        }
    }

    pub fn of(&self, authority: &str) -> Arc<KnownRobots> {
        let mut hosts = lock(&self.hosts);
        if hosts.len() >= MAX_HOSTS && !hosts.contains_key(authority) {
            hosts.clear();
        }
        Arc::clone(hosts.entry(authority.to_owned()).or_default())
    }

    /// Consequence of a forbidden request: the error of an obeyed rule, or a report.
    pub async fn forbidden(
        &self,
        policy: RobotsPolicy,
        violation: RobotsViolation<'_>,
        now: Instant,
    ) -> Result<(), FetchError> {
        let RobotsViolation { host, authority, path, rule } = violation;
        let path: String = path.split('?').next().unwrap_or_default().chars().take(MAX_PATH).collect();
        let label: &str = policy.into();
        metrics::ROBOTS_FORBIDDEN.with_label_values(&[label]).inc();
        if policy == RobotsPolicy::Obey {
            let path_and_rule = format!("{path} (robots.txt: '{}')", rule.shown());
            return Err(FetchError::RobotsForbid { host: host.to_owned(), path_and_rule });
        }
        let Some(table) = &self.table else { return Ok(()) };
        if self.of(authority).is_new(rule, now) {
            match table.report(authority, rule.shown(), &path).await {
                Ok(true) => events::robots_forbid(host, &path, rule.shown()),
                Ok(false) => {}
                Err(error) => events::robots_unknown(host, &error),
            }
        }
        Ok(())
    }
}

impl KnownRobots {
    pub fn fresh(&self, now: Instant) -> Option<Arc<Robots>> {
        let read = lock(&self.read);
        let (at, robots) = read.as_ref()?;
        (now.saturating_duration_since(*at) < MAX_AGE).then(|| Arc::clone(robots))
    }

    pub fn keep(&self, robots: Robots, now: Instant) -> Arc<Robots> {
        let robots = Arc::new(robots);
        *lock(&self.read) = Some((now, Arc::clone(&robots)));
        robots
    }

    fn is_new(&self, rule: &Rule, now: Instant) -> bool {
        let mut reported = lock(&self.reported);
        let is_old = reported.since.is_none_or(|since| now.saturating_duration_since(since) >= REPORT_EVERY);
        if is_old || reported.rules.len() >= MAX_REPORTED {
            *reported = ReportedRules { since: Some(now), rules: HashSet::new() };
        }
        reported.rules.insert(rule.shown().to_owned())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
