//! The rules of the pool, shown with a few proxies and a clock that the test moves.

mod benches;
mod best_effort;
mod budgets;
mod choice;
mod early_trials;
mod health;
mod hosts;
mod outages;
mod properties;
mod table;

use chrono::{DateTime, Utc};

use super::*;
use crate::proxy::health::tests::limits;
use crate::proxy::{Counters, ProxyProtocol, StoredState};

const HOST: &str = "menu.test";

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn mark(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + n, 0).unwrap()
}

fn row(id: ProxyId) -> ProxyRow {
    ProxyRow {
        proxy: Proxy {
            id,
            protocol: ProxyProtocol::Http,
            host: format!("p{id}"),
            port: 3128,
            username: None,
            password: None,
        },
        state_code: None,
        timezone: None,
        stored: StoredState::Active,
        host_benches: Vec::new(),
        counters: Counters::default(),
        idle: None,
    }
}

fn stored(id: ProxyId, stored: StoredState) -> ProxyRow {
    ProxyRow { stored, ..row(id) }
}

/// A pool and its clock.
struct Scene {
    pool: Pool,
    now: Instant,
}

impl Scene {
    fn with(rows: Vec<ProxyRow>) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(limits());
        pool.load(rows, now);
        Scene { pool, now }
    }

    fn of(proxies: i64) -> Self {
        Scene::with((1..=proxies).map(row).collect())
    }

    fn passes(&mut self, by: Duration) -> Vec<Notice> {
        self.now += by;
        self.pool.tick(self.now)
    }

    fn lease(&mut self) -> Option<ProxyId> {
        self.lease_at(HOST)
    }

    fn lease_at(&mut self, host: &str) -> Option<ProxyId> {
        self.ask(&ProxyAsk { host: host.to_owned(), ..ProxyAsk::default() })
    }

    fn ask(&mut self, ask: &ProxyAsk) -> Option<ProxyId> {
        self.pool.lease(ask, self.now).map(|proxy| proxy.id)
    }

    fn report(&mut self, id: ProxyId, outcome: &ProxyOutcome) -> Option<Notice> {
        self.ended(id, outcome, false)
    }

    /// The end of a request for an image.
    fn report_image(&mut self, id: ProxyId, outcome: &ProxyOutcome) -> Option<Notice> {
        self.ended(id, outcome, true)
    }

    fn ended(&mut self, id: ProxyId, outcome: &ProxyOutcome, is_best_effort: bool) -> Option<Notice> {
        let took = if let ProxyOutcome::Success { took, .. } = outcome { *took } else { Duration::ZERO };
        let report = ProxyReport { outcome: outcome.clone(), sent: self.now - took, is_best_effort };
        self.pool.report(id, &report, self.now)
    }

    fn times(&mut self, n: usize, id: ProxyId, outcome: ProxyOutcome) -> Vec<Notice> {
        (0..n).filter_map(|_| self.report(id, &outcome)).collect()
    }

    fn condition(&self, id: ProxyId) -> Condition {
        self.pool.members().find(|member| member.proxy.id == id).unwrap().health.condition()
    }

    fn is_benched(&self, id: ProxyId) -> bool {
        matches!(self.condition(id), Condition::Benched { .. })
    }
}

fn success() -> ProxyOutcome {
    ProxyOutcome::Success { host: HOST.to_owned(), took: Duration::from_millis(200) }
}

fn failure() -> ProxyOutcome {
    ProxyOutcome::Failed { host: HOST.to_owned(), reason: "reset".to_owned(), at_once: false }
}

fn refusal() -> ProxyOutcome {
    ProxyOutcome::Failed { host: HOST.to_owned(), reason: "407".to_owned(), at_once: true }
}

fn block() -> ProxyOutcome {
    ProxyOutcome::Blocked { host: HOST.to_owned() }
}

fn silence() -> ProxyOutcome {
    ProxyOutcome::Suspicion { host: HOST.to_owned(), reason: "timeout".to_owned() }
}

fn cooldowns(notices: &[Notice]) -> Vec<u64> {
    let of = |notice: &Notice| match notice {
        Notice::Benched { cooldown, .. } | Notice::BenchedAtHost { cooldown, .. } => Some(cooldown.as_secs()),
        _ => None,
    };
    notices.iter().filter_map(of).collect()
}
