//! `ProxyPoolActor`: leases proxies to sessions, and keeps each proxy's health.
//!
//! In: sessions' asks for a proxy, and outcomes of requests, as messages. Out: leases, and counters for the
//! table. The rules are `domain::proxy`, which is pure; [`table`] writes the counters and reads the rows in
//! the background and sends its result as a message. The actor must not know the requests through a proxy.
//!
//! A restarted actor gives out no proxy until it has read the table. A restart keeps the address with its
//! queued messages; each proxy's health and its counters that are not written yet; the open leases and the
//! last known state of the pool, which are outside the actor; waiting asks, since [`ProxyPool`] asks again.
//! It loses the counters of a write that was under way and failed.

mod fetch_counts;
mod handle;
mod open_leases;
mod table;
mod unreadable;
mod view;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix::{Actor, AsyncContext, Context, Handler, Message, MessageResult};
use tokio::sync::{oneshot, watch};

pub use fetch_counts::FetchCountsWriter;
pub use handle::ProxyPool;
pub use open_leases::OpenLeases;
pub use view::{ProxyPoolView, ProxyView};

use crate::stealth::{FetchMeter, ProxyLease};
use db::Db;
use db::proxies::LoadedProxies;
use domain::proxy::{BenchLimits, CounterDelta, Pool, PoolState, PooledProxy, ProxyAsk, ProxyId, ProxyReport};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use settings::Live;
use supervision::Rebuild;
use supervision::messages::{Observe, Tick};
use supervision::supervised;
use table::{LoadedRows, SyncResult};
use telemetry::events;
use unreadable::LoggedOnce;

/// How often benches end and waiting asks are tried again.
const TICK_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum number of asks, more than any process has sessions; an ask beyond it is dropped and made again.
const MAX_WAITING: usize = 4096;

/// Parts that each new instance of the actor is built from. Cheap to clone.
#[derive(Clone)]
pub struct ProxyPoolDeps {
    pub db: Db,
    pub config: Live<settings::Proxies>,
    pub clock: Clock,
    keys: SecretKeys,
    logged_unreadable: LoggedOnce,
    /// The pool's state; all zero until the table has been read for the first time, the last known one across
    /// a restart.
    pub state: watch::Sender<PoolState>,
    /// Counts this process's traffic through proxies. They are written before a day's usage is read, which
    /// thus includes them.
    pub fetch_counts: FetchCountsWriter,
    open_leases: OpenLeases,
    /// Numbers the instances, so that the result of a sync which an earlier one began is recognised.
    instances: Arc<AtomicU64>,
}

impl ProxyPoolDeps {
    pub fn new(db: Db, config: impl Into<Live<settings::Proxies>>, keys: SecretKeys, clock: Clock) -> Self {
        ProxyPoolDeps {
            fetch_counts: FetchCountsWriter::new(&db, &FetchMeter::new(clock.clone())),
            db,
            config: config.into(),
            clock,
            keys,
            logged_unreadable: LoggedOnce::default(),
            state: watch::Sender::new(PoolState::default()),
            open_leases: OpenLeases::default(),
            instances: Arc::default(),
        }
    }
}

/// A session asks for a lease of a proxy. The answer comes when one is free; it is dropped when the actor
/// stops or has too many asks.
#[derive(Message)]
#[rtype(result = "()")]
pub struct AskForProxy {
    pub ask: ProxyAsk,
    pub answer: oneshot::Sender<ProxyLease>,
}

/// A lease of this proxy has ended. [`OpenLeases`] has the count, so this may come late, twice or to a later
/// instance.
#[derive(Message)]
#[rtype(result = "()")]
pub struct GiveBack(pub ProxyId);

/// One request's end.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Report {
    pub proxy: ProxyId,
    pub report: ProxyReport,
}

/// Bytes of one request, after the meter has counted them.
#[derive(Message)]
#[rtype(result = "()")]
pub struct CountBytes {
    pub proxy: ProxyId,
    pub bytes: i64,
}

/// Asks to write everything that was reported before it; the answer says whether it was written.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Flush(pub oneshot::Sender<bool>);

pub struct ProxyPoolActor {
    deps: ProxyPoolDeps,
    instance: u64,
    pool: Pool,
    waiting: VecDeque<AskForProxy>,
    /// Deltas that are being written.
    in_flight: Option<Vec<CounterDelta>>,
    last_sync: Option<Instant>,
    /// Whether this instance has read the table: before, it knows no proxy, and decides about none.
    has_read_table: bool,
    /// The latest sync failed.
    table_fails: bool,
    /// Flushes that wait for the sync under way.
    current_flushes: Vec<oneshot::Sender<bool>>,
    /// Flushes that wait for the sync after it.
    next_flushes: Vec<oneshot::Sender<bool>>,
}

impl ProxyPoolActor {
    pub fn new(deps: ProxyPoolDeps) -> Self {
        ProxyPoolActor {
            instance: deps.instances.fetch_add(1, Ordering::Relaxed),
            pool: pool_of(&deps.config.current()),
            deps,
            waiting: VecDeque::new(),
            in_flight: None,
            last_sync: None,
            has_read_table: false,
            table_fails: false,
            current_flushes: Vec::new(),
            next_flushes: Vec::new(),
        }
    }

    /// Answers `ask`, or returns it when no proxy is free.
    fn serve(&mut self, ask: AskForProxy, ctx: &Context<Self>) -> Option<AskForProxy> {
        if ask.answer.is_closed() {
            return None;
        }
        if ask.ask.is_best_effort && self.crawl_waits() {
            return Some(ask);
        }
        let Some(proxy) = self.pool.lease(&ask.ask, self.deps.clock.instant()) else {
            return Some(ask);
        };
        let (id, pool) = (proxy.id, ctx.address());
        let (open, revoked) = self.deps.open_leases.open(id);
        let give_back = move || {
            drop(open);
            pool.do_send(GiveBack(id));
        };
        let lease = ProxyLease::new(proxy, give_back).revocable(revoked);
        let lease = match ask.ask.is_best_effort {
            true => lease.giving_way(self.deps.open_leases.crawl_waits()),
            false => lease,
        };
        // if the asker has just given up, the lease is dropped here, which gives it back
        let _ = ask.answer.send(lease);
        None
    }

    /// The crawl's asks first: the others are served while none of those waits.
    fn serve_waiting(&mut self, ctx: &Context<Self>) {
        let (crawl, best_effort): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|ask| !ask.ask.is_best_effort);
        for ask in crawl.into_iter().chain(best_effort) {
            let unserved = self.serve(ask, ctx);
            self.waiting.extend(unserved);
        }
        self.deps.open_leases.set_crawl_waits(self.crawl_waits());
    }

    fn crawl_waits(&self) -> bool {
        self.waiting.iter().any(|ask| !ask.ask.is_best_effort && !ask.answer.is_closed())
    }

    fn sync_if_due(&mut self, ctx: &Context<Self>) {
        let now = self.deps.clock.instant();
        let is_old = self
            .last_sync
            .is_none_or(|last| now.saturating_duration_since(last) >= self.deps.config.current().flush_every);
        if is_old || self.pool.is_usage_due(now) {
            self.sync(ctx);
        }
    }

    /// One sync at a time, so that the rows read are never older than the counters written.
    fn sync(&mut self, ctx: &Context<Self>) {
        if self.in_flight.is_some() {
            return;
        }
        let now = self.deps.clock.instant();
        self.last_sync = Some(now);
        // a caller that waits for a flush wants to see the other processes' writes
        let is_asked_for = self.pool.has_budgets() && !self.next_flushes.is_empty();
        let reads_usage = is_asked_for || self.pool.is_usage_due(now);
        if reads_usage {
            self.pool.begin_reading_usage(now);
        }
        let counts = reads_usage.then(|| self.deps.fetch_counts.clone());
        let deltas = self.pool.take_unsaved();
        self.in_flight = Some(deltas.clone());
        self.current_flushes = std::mem::take(&mut self.next_flushes);
        let (deps, pool, instance) = (self.deps.clone(), ctx.address(), self.instance);
        tokio::spawn(async move {
            let (flushed, loaded) = table::sync(deps.db, deltas, deps.clock, deps.keys, counts).await;
            pool.do_send(SyncResult { instance, flushed, loaded });
        });
    }

    /// Revokes the leases of proxies that must not be used any more, and publishes the pool's state when it
    /// has changed.
    fn publish(&mut self) {
        if !self.has_read_table {
            return;
        }
        self.deps.open_leases.revoke_unless(|id| self.pool.is_usable(id));
        let current = self.pool.state(self.deps.clock.instant());
        let changed = |state: &mut PoolState| std::mem::replace(state, current) != current;
        if self.deps.state.send_if_modified(changed) {
            let alarm = current.usable == 0 && self.pool.may_alarm("no proxy is usable", self.deps.clock.instant());
            events::proxy_pool_changed(current, alarm);
        }
    }

    fn answer_flushes(&mut self, flushed: bool, ctx: &Context<Self>) {
        for answer in self.current_flushes.drain(..) {
            // the asker may have stopped waiting
            let _ = answer.send(flushed);
        }
        if !self.next_flushes.is_empty() {
            self.sync(ctx);
        }
    }
}

impl Actor for ProxyPoolActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.sync(ctx);
        ctx.run_interval(TICK_INTERVAL, |_, ctx| {
            // a full mailbox already holds ticks
            let _ = ctx.address().try_send(Tick);
        });
    }
}

impl Rebuild for ProxyPoolActor {
    fn rebuilt(&mut self) -> Self {
        ProxyPoolActor { pool: self.pool.restarted(), ..ProxyPoolActor::new(self.deps.clone()) }
    }
}

supervised!(ProxyPoolActor);

impl Handler<Observe<ProxyPoolView>> for ProxyPoolActor {
    type Result = MessageResult<Observe<ProxyPoolView>>;

    fn handle(&mut self, _: Observe<ProxyPoolView>, _: &mut Self::Context) -> Self::Result {
        let now = self.deps.clock.instant();
        let view = |member: &PooledProxy| ProxyView::of(member, self.pool.rest_left(member.proxy.id, now), now);
        MessageResult(ProxyPoolView {
            state: self.pool.state(now),
            waiting: self.waiting.len(),
            table_fails: self.table_fails,
            proxies: self.pool.members().map(view).collect(),
        })
    }
}

impl Handler<AskForProxy> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, ask: AskForProxy, ctx: &mut Self::Context) {
        let Some(unserved) = self.serve(ask, ctx) else { return };
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(unserved);
        }
        self.deps.open_leases.set_crawl_waits(self.crawl_waits());
    }
}

impl Handler<GiveBack> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, GiveBack(id): GiveBack, ctx: &mut Self::Context) {
        self.pool.set_open_leases(id, self.deps.open_leases.count(id));
        self.serve_waiting(ctx);
    }
}

impl Handler<Report> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, report: Report, ctx: &mut Self::Context) {
        let Report { proxy, report } = report;
        let Some(notice) = self.pool.report(proxy, &report, self.deps.clock.instant()) else { return };
        events::proxy_notice(&notice);
        self.serve_waiting(ctx);
        self.publish();
    }
}

impl Handler<CountBytes> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, CountBytes { proxy, bytes }: CountBytes, ctx: &mut Self::Context) {
        let notices = self.pool.count_bytes(proxy, bytes, self.deps.clock.instant());
        if !notices.is_empty() {
            notices.iter().for_each(events::proxy_notice);
            self.publish();
        }
        self.sync_if_due(ctx);
    }
}

impl Handler<Tick> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        fail::fail_point!("actor.proxy_pool");
        let config = self.deps.config.current();
        self.pool.follow(limits(&config), config.budgets());
        let notices = self.pool.tick(self.deps.clock.instant());
        notices.iter().for_each(events::proxy_notice);
        self.serve_waiting(ctx);
        self.publish();
        self.sync_if_due(ctx);
    }
}

impl Handler<SyncResult> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, synced: SyncResult, ctx: &mut Self::Context) {
        if synced.instance != self.instance {
            return;
        }
        let in_flight = self.in_flight.take().unwrap_or_default();
        if !synced.flushed {
            self.pool.put_back(in_flight);
        }
        match synced.loaded {
            Ok(LoadedRows { proxies: LoadedProxies { rows, unreadable }, usage }) => {
                self.deps.logged_unreadable.log(&unreadable);
                let now = self.deps.clock.instant();
                self.pool.load(rows, now);
                let notices = usage.map(|usage| self.pool.load_usage(&usage, now)).unwrap_or_default();
                notices.iter().for_each(events::proxy_notice);
                self.has_read_table = true;
                self.deps.open_leases.each(|id, open| self.pool.set_open_leases(id, open));
                self.serve_waiting(ctx);
                self.publish();
                self.table_fails = false;
            }
            Err(error) => {
                let failed_before = std::mem::replace(&mut self.table_fails, true);
                events::proxy_table_failed(&error, failed_before);
            }
        }
        self.answer_flushes(synced.flushed, ctx);
    }
}

impl Handler<Flush> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, Flush(answer): Flush, ctx: &mut Self::Context) {
        self.next_flushes.push(answer);
        self.sync(ctx);
    }
}

fn pool_of(config: &settings::Proxies) -> Pool {
    Pool::new(limits(config)).with_budgets(config.budgets())
}

fn limits(config: &settings::Proxies) -> BenchLimits {
    BenchLimits {
        max_leases: config.sessions,
        bench_base: config.bench_base,
        bench_cap: config.bench_cap,
        failures_to_bench: config.failures_to_bench,
        blocks_to_bench: config.blocks_to_bench,
        revive_every: config.revive_every,
    }
}
