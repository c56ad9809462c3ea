//! The pool on a real table. Time is moved by hand; `flush` awaits the work in the background.

use std::sync::Arc;
use std::time::Duration;

use actix::Addr;
use chrono::DateTime;
use contract::proxies::ProxyListing;
use domain::proxy::{PoolState, ShownHealth};
use drover::actors::proxy_pool::{ProxyPool, ProxyPoolActor, ProxyPoolDeps, ProxyPoolView};
use drover::stealth::{FetchError, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyReport, ProxySource};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use supervision::messages::Tick;
use supervision::runner::RunnerHandle;

use super::import;
use testkit::{TestDatabase, database, start_actor, until};

pub(super) const HOST: &str = "menu.test";
pub(super) const SOON: Duration = Duration::from_secs(60);

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn settings() -> settings::Proxies {
    settings::Proxies { wait: secs(10), ..testkit::config(&[]).proxies }
}

/// One process: its pool, its actor and its clock.
pub(super) struct Process {
    pub(super) deps: ProxyPoolDeps,
    actor: Addr<ProxyPoolActor>,
    pub(super) pool: ProxyPool,
    runner: RunnerHandle,
}

impl Process {
    async fn start(database: &TestDatabase) -> Process {
        Process::start_with(database, settings()).await
    }

    async fn start_with(database: &TestDatabase, settings: settings::Proxies) -> Process {
        let clock = Clock::manual(DateTime::from_timestamp(1_800_000_000, 0).unwrap());
        let process = Process::of(ProxyPoolDeps::new(database.db.clone(), settings, SecretKeys::default(), clock));
        assert!(process.pool.flush(SOON).await);
        process
    }

    pub(super) fn of(deps: ProxyPoolDeps) -> Process {
        let made = deps.clone();
        let (actor, runner) = start_actor(move || ProxyPoolActor::new(made));
        Process { pool: ProxyPool::new(actor.clone(), &deps), actor, deps, runner }
    }

    async fn passes(&self, by: Duration) {
        self.deps.clock.advance(by);
        self.actor.send(Tick).await.unwrap();
    }

    pub(super) async fn lease(&self) -> Result<ProxyLease, FetchError> {
        self.pool.lease(ProxyAsk { host: HOST.to_owned(), ..ProxyAsk::default() }).await
    }

    pub(super) async fn seen(&self) -> ProxyPoolView {
        self.pool.observe().await.unwrap()
    }

    pub(super) fn state(&self) -> PoolState {
        *self.pool.state().borrow()
    }

    fn succeeds(&self, proxy: ProxyId) {
        self.report(proxy, ProxyOutcome::Success { host: HOST.to_owned(), took: Duration::from_millis(100) });
    }

    fn is_refused(&self, proxy: ProxyId) {
        let reason = "407 Proxy Authentication Required".to_owned();
        self.report(proxy, ProxyOutcome::Failed { host: HOST.to_owned(), reason, at_once: true });
    }

    fn report(&self, proxy: ProxyId, outcome: ProxyOutcome) {
        let report = ProxyReport { outcome, sent: self.deps.clock.instant(), is_best_effort: false };
        self.pool.report(proxy, report);
    }
}

#[actix::test]
async fn a_streak_of_failures_survives_a_restart_of_the_actor() {
    let database = database().await;
    import(&database, "a:1\nb:1").await;
    let process = Process::start(&database).await;
    let proxy = process.seen().await.proxies[0].id;
    let fails = || {
        let reason = "reset".to_owned();
        process.report(proxy, ProxyOutcome::Failed { host: HOST.to_owned(), reason, at_once: false });
    };
    (1..settings().failures_to_bench).for_each(|_| fails());
    assert_eq!(process.seen().await.state.health.benched, 0);
    process.runner.resume();
    assert!(process.pool.flush(SOON).await);
    let after = &process.seen().await.proxies[0];
    assert_eq!(after.failure_count, i64::from(settings().failures_to_bench) - 1, "counted once");
    fails();
    assert_eq!(process.seen().await.state.health.benched, 1);
}

async fn rows(database: &TestDatabase) -> Vec<ProxyListing> {
    super::listed(&database.db).await
}

#[actix::test]
async fn a_session_that_ends_makes_room_for_the_one_that_waits() {
    let database = database().await;
    import(&database, "a:1:u:x").await;
    let process = Process::start(&database).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(process.lease().await.unwrap());
    }
    assert_eq!(held[0].proxy.password.as_deref(), Some("x"));

    let fifth = process.lease();
    tokio::pin!(fifth);
    assert!(futures_util::poll!(&mut fifth).is_pending());
    assert_eq!(process.seen().await.waiting, 1);
    assert!(futures_util::poll!(&mut fifth).is_pending());

    held.pop();
    assert!(fifth.await.is_ok());
}

#[actix::test]
async fn many_bodies_at_once_never_hold_more_than_the_proxies_have() {
    let database = database().await;
    import(&database, "a:1\nb:1\nc:1").await;
    let process = Arc::new(Process::start(&database).await);
    let most = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let bodies: Vec<_> = (0..60)
        .map(|_| {
            let (process, most) = (process.clone(), most.clone());
            actix::spawn(async move {
                let lease = process.lease().await.unwrap();
                let seen = process.seen().await;
                let fullest = seen.proxies.iter().map(|proxy| proxy.open_leases).max().unwrap();
                most.fetch_max(fullest, std::sync::atomic::Ordering::Relaxed);
                process.succeeds(lease.proxy.id);
            })
        })
        .collect();
    for body in bodies {
        body.await.unwrap();
    }
    assert_eq!(most.load(std::sync::atomic::Ordering::Relaxed), 4);
    let seen = process.seen().await;
    assert_eq!(
        seen.proxies.iter().map(|proxy| (proxy.open_leases, proxy.success_count)).map(|(s, _)| s).sum::<usize>(),
        0
    );
    assert_eq!(seen.proxies.iter().map(|proxy| proxy.success_count).sum::<i64>(), 60);
}

#[actix::test]
async fn an_ask_that_no_proxy_serves_ends_with_its_wait() {
    let database = database().await;
    let wait = Duration::from_millis(200);
    let process = Process::start_with(&database, settings::Proxies { wait, ..settings() }).await;
    assert_eq!(process.lease().await.err(), Some(FetchError::NoProxy { host: HOST.to_owned() }));
    process.passes(Duration::ZERO).await;
    assert_eq!(process.seen().await.waiting, 0);
}

#[actix::test]
async fn two_processes_count_in_one_row() {
    let database = database().await;
    import(&database, "a:1").await;
    let (one, other) = (Process::start(&database).await, Process::start(&database).await);
    for _ in 0..30 {
        one.succeeds(1);
        other.succeeds(1);
    }
    other.report(1, ProxyOutcome::Blocked { host: HOST.to_owned() });
    assert!(one.pool.flush(SOON).await && other.pool.flush(SOON).await && one.pool.flush(SOON).await);

    let row = &rows(&database).await[0];
    assert_eq!((row.success_count, row.failure_count, row.consecutive_403_count), (60, 0, 1));
    assert_eq!(one.seen().await.proxies[0].success_count, 60);
}

#[actix::test]
async fn a_bench_in_one_process_is_followed_by_the_others() {
    let database = database().await;
    import(&database, "a:1\nb:1").await;
    let (one, other) = (Process::start(&database).await, Process::start(&database).await);
    one.is_refused(1);
    assert!(one.pool.flush(SOON).await);
    assert_eq!(rows(&database).await[0].health, ShownHealth::Benched);

    let mut state = other.pool.state();
    other.passes(settings().flush_every).await;
    let followed = state.wait_for(|state| state.health.benched == 1);
    tokio::time::timeout(SOON, followed).await.unwrap().unwrap();
    assert_eq!(other.lease().await.unwrap().proxy.id, 2);
}

#[actix::test]
async fn after_its_cooldown_the_next_request_is_the_probe() {
    let database = database().await;
    import(&database, "a:1").await;
    let process = Process::start(&database).await;
    process.is_refused(1);
    assert!(process.pool.flush(SOON).await);
    assert_eq!((process.state().usable, process.state().health.benched), (0, 1));

    process.passes(secs(31)).await;
    assert_eq!((process.state().usable, process.state().health.failing), (1, 1), "it has proved nothing yet");
    assert!(process.pool.flush(SOON).await);
    assert!(!rows(&database).await[0].is_active, "the table waits for the probe");

    let probe = process.lease().await.unwrap();
    process.succeeds(probe.proxy.id);
    assert!(process.pool.flush(SOON).await);
    let row = &rows(&database).await[0];
    assert_eq!((row.health, row.cooldown_until), (ShownHealth::Healthy, None));
}

#[actix::test]
async fn a_lone_dead_proxy_is_failing_after_its_first_request_in_the_view_of_every_process() {
    let database = database().await;
    import(&database, "a:1").await;
    let (one, other) = (Process::start(&database).await, Process::start(&database).await);
    assert_eq!(rows(&database).await[0].health, ShownHealth::Untested);

    one.report(1, ProxyOutcome::Suspicion { host: HOST.to_owned(), reason: "no answer".to_owned() });
    assert!(one.pool.flush(SOON).await && other.pool.flush(SOON).await);
    let row = &rows(&database).await[0];
    assert_eq!((row.health, row.healthy_share, row.recent_requests), (ShownHealth::Failing, Some(0.0), 1));
    assert_eq!((row.failure_count, row.last_error.as_deref()), (0, Some("no answer")), "it is not blamed");
    for process in [&one, &other] {
        assert_eq!((process.state().usable, process.state().health.failing), (1, 1));
    }
}

#[actix::test]
async fn a_bench_at_one_host_is_in_the_table_until_it_ends() {
    let database = database().await;
    import(&database, "a:1").await;
    let process = Process::start(&database).await;
    let block = || process.report(1, ProxyOutcome::Blocked { host: HOST.to_owned() });
    (0..settings().blocks_to_bench).for_each(|_| block());
    assert!(process.pool.flush(SOON).await);
    let row = &rows(&database).await[0];
    assert_eq!((row.health, row.benched.len(), row.is_active), (ShownHealth::Benched, 1, true));
    assert_eq!(row.benched[0].host.as_deref(), Some(HOST));
    assert!(row.benched[0].reason.as_deref().is_some_and(|reason| reason.contains(HOST)));

    let restarted = Process::start(&database).await;
    assert_eq!(restarted.state().health.benched, 1, "it holds in a process that starts");

    process.deps.clock.advance(secs(1));
    process.succeeds(1);
    assert!(process.pool.flush(SOON).await);
    let row = &rows(&database).await[0];
    assert_eq!((row.health, row.benched.len()), (ShownHealth::Refused, 0), "three of four were refused");
}

#[actix::test]
async fn a_proxy_that_is_switched_off_or_gets_another_password_is_benched_nowhere() {
    let database = database().await;
    import(&database, "a:1:u:x").await;
    let process = Process::start(&database).await;
    (0..settings().blocks_to_bench).for_each(|_| process.report(1, ProxyOutcome::Blocked { host: HOST.to_owned() }));
    assert!(process.pool.flush(SOON).await);

    let off = super::switch(&database.db, 1, false).await.unwrap();
    assert_eq!((off.health, off.benched.len()), (ShownHealth::Off, 0));
    let on = super::switch(&database.db, 1, true).await.unwrap();
    assert_eq!(on.health, ShownHealth::Refused, "its record stays");
    import(&database, "a:1:u:new").await;
    let row = &rows(&database).await[0];
    assert_eq!((row.health, row.healthy_share), (ShownHealth::Untested, None), "it begins again");
}

#[actix::test]
async fn imported_and_switched_off_proxies_are_noticed_while_running() {
    let database = database().await;
    import(&database, "a:1").await;
    let process = Process::start(&database).await;
    let mut state = process.pool.state();

    import(&database, "b:1\nc:1").await;
    process.passes(settings().flush_every).await;
    let seen = state.wait_for(|state| state.usable == 3);
    tokio::time::timeout(SOON, seen).await.unwrap().unwrap();

    super::switch(&database.db, 1, false).await.unwrap();
    database.raw.execute("DELETE FROM proxies WHERE host = 'b'", &[]).await.unwrap();
    assert!(process.pool.flush(SOON).await);
    assert_eq!((process.state().usable, process.state().health.off), (1, 1));
    assert_eq!(process.lease().await.unwrap().proxy.host, "c");
}

#[actix::test]
async fn leases_of_proxies_that_are_switched_off_or_benched_are_revoked() {
    let database = database().await;
    import(&database, "a:1\nb:1").await;
    let process = Process::start(&database).await;
    let leases = [process.lease().await.unwrap(), process.lease().await.unwrap()];
    assert!(leases.iter().all(|lease| !lease.is_revoked()));

    super::switch(&database.db, leases[0].proxy.id, false).await.unwrap();
    process.is_refused(leases[1].proxy.id);
    assert!(process.pool.flush(SOON).await);
    assert!(leases.iter().all(ProxyLease::is_revoked));

    super::switch(&database.db, leases[0].proxy.id, true).await.unwrap();
    assert!(process.pool.flush(SOON).await);
    assert!(!process.lease().await.unwrap().is_revoked(), "a later lease is good");
}

#[actix::test]
async fn counts_wait_out_a_table_that_cannot_be_reached() {
    let database = database().await;
    import(&database, "a:1").await;
    let process = Process::start(&database).await;
    process.succeeds(1);
    database.raw.batch_execute("ALTER TABLE proxies RENAME TO out_of_reach").await.unwrap();
    assert!(!process.pool.flush(SOON).await);
    assert!(process.seen().await.table_fails);

    process.succeeds(1);
    assert!(process.lease().await.is_ok(), "what is known goes on serving");
    database.raw.batch_execute("ALTER TABLE out_of_reach RENAME TO proxies").await.unwrap();
    assert!(process.pool.flush(SOON).await);
    assert_eq!(rows(&database).await[0].success_count, 2);
    assert!(!process.seen().await.table_fails);
}

#[actix::test]
async fn a_rebuilt_pool_revokes_nothing_before_it_has_read_the_table() {
    let database = database().await;
    import(&database, "a:1").await;
    let before = Process::start(&database).await;
    let (held, state) = (before.lease().await.unwrap(), before.state());
    database.raw.batch_execute("ALTER TABLE proxies RENAME TO out_of_reach").await.unwrap();

    let rebuilt = Process::of(before.deps.clone());
    rebuilt.pool.flush(SOON).await; // its first sync is over, and read nothing
    rebuilt.passes(secs(1)).await;
    assert!(rebuilt.seen().await.table_fails);
    assert!(!held.is_revoked());
    assert_eq!(rebuilt.state(), state, "what was known is still shown");
}

#[actix::test]
async fn a_rebuilt_pool_knows_the_leases_that_outlived_the_old_one() {
    let database = database().await;
    import(&database, "a:1").await;
    let before = Process::start(&database).await;
    let mut held = vec![before.lease().await.unwrap(), before.lease().await.unwrap(), before.lease().await.unwrap()];

    let rebuilt = Process::of(before.deps.clone());
    assert!(rebuilt.pool.flush(SOON).await);
    assert_eq!(rebuilt.seen().await.proxies[0].open_leases, 3);
    held.push(rebuilt.lease().await.unwrap());
    let waits = rebuilt.lease();
    tokio::pin!(waits);
    assert!(futures_util::poll!(&mut waits).is_pending());

    held.clear();
    assert!(waits.await.is_ok());
    until("all leases are back", SOON, async || rebuilt.seen().await.proxies[0].open_leases == 0).await;
}
