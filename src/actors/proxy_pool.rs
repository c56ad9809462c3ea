//! `ProxyPoolActor`: who may use which proxy now, and how each has behaved.
//!
//! It decides nothing by itself (the rules are `domain::proxy`, pure) and awaits nothing: outcomes come in as messages,
//! [`table`] writes counters and reads the rows in the background, and its result comes back as a message too.
//! It must not know what is requested through a proxy.
//!
//! A restart begins with the table alone. What survives it: addresses, so queued messages; the open sessions, which are
//! counted outside ([`Sessions`]) and therefore right at once; asks that were waiting, since [`ProxyPool`] asks again.
//! What is lost: streaks, and at most one `flush_every` of counts.

mod handle;
mod observed;
mod sessions;
mod table;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use actix::{Actor, AsyncContext, Context, Handler, Message};
use tokio::sync::{oneshot, watch};

pub use handle::ProxyPool;
pub use observed::{Observed, ObservedProxy};
pub use sessions::Sessions;

use super::supervision::{Rebuild, Tick};
use crate::clock::Clock;
use crate::db::Db;
use crate::domain::proxy::{Increment, Limits, Pool, PoolState, ProxyAsk, ProxyId, ProxyOutcome};
use crate::stealth::ProxyLease;
use crate::{config, events, supervised};
use table::Synced;

/// How often cooldowns and asks that were given up are looked after.
const TICK: Duration = Duration::from_millis(250);

/// More asks than any process has sessions; what comes on top is asked again.
const MAX_WAITING: usize = 4096;

/// What the actor is built of, time and again. Cheap to clone.
#[derive(Clone)]
pub struct ProxyPoolDeps {
    pub db: Db,
    pub config: Arc<config::Proxies>,
    pub clock: Clock,
    /// Says what the pool holds; nothing at all until the table has been read for the first time.
    pub state: watch::Sender<PoolState>,
    sessions: Sessions,
    /// Tells what the table answered to this actor from what it answered to the one before.
    generations: Arc<AtomicU64>,
}

impl ProxyPoolDeps {
    pub fn new(db: Db, config: config::Proxies, clock: Clock) -> Self {
        ProxyPoolDeps {
            db,
            config: Arc::new(config),
            clock,
            state: watch::Sender::new(PoolState::default()),
            sessions: Sessions::default(),
            generations: Arc::default(),
        }
    }
}

/// Wants a session; the answer comes when one is free, or never.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Lease {
    pub ask: ProxyAsk,
    pub answer: oneshot::Sender<ProxyLease>,
}

/// A session of this proxy has ended. [`Sessions`] knows how many are left, so it may come late, twice or for a pool that is gone.
#[derive(Message)]
#[rtype(result = "()")]
pub struct GiveBack(pub ProxyId);

/// One request's end.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Report {
    pub proxy: ProxyId,
    pub outcome: ProxyOutcome,
}

/// Wants everything written that was reported before it; the answer says whether it was.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Flush(pub oneshot::Sender<bool>);

pub struct ProxyPoolActor {
    deps: ProxyPoolDeps,
    generation: u64,
    pool: Pool,
    waiting: VecDeque<Lease>,
    /// On their way to the table.
    in_flight: Option<Vec<Increment>>,
    last_sync: Option<Instant>,
    table_fails: bool,
    /// Who waits for the exchange under way, and who for the one after it.
    flushing: Vec<oneshot::Sender<bool>>,
    flushes: Vec<oneshot::Sender<bool>>,
}

impl ProxyPoolActor {
    pub fn new(deps: ProxyPoolDeps) -> Self {
        ProxyPoolActor {
            generation: deps.generations.fetch_add(1, Ordering::Relaxed),
            pool: Pool::new(limits(&deps.config)),
            deps,
            waiting: VecDeque::new(),
            in_flight: None,
            last_sync: None,
            table_fails: false,
            flushing: Vec::new(),
            flushes: Vec::new(),
        }
    }

    /// Answers `lease`, or hands it back.
    fn serve(&mut self, lease: Lease, ctx: &Context<Self>) -> Option<Lease> {
        if lease.answer.is_closed() {
            return None;
        }
        let Some(proxy) = self.pool.lease(&lease.ask, self.deps.clock.instant()) else {
            return Some(lease);
        };
        let (id, pool) = (proxy.id, ctx.address());
        let session = self.deps.sessions.open(id);
        let granted = ProxyLease::new(proxy, move || {
            drop(session);
            pool.do_send(GiveBack(id));
        });
        // an asker that has just given up drops what it is handed, and that gives it back
        let _ = lease.answer.send(granted);
        None
    }

    fn serve_the_waiting(&mut self, ctx: &Context<Self>) {
        for lease in std::mem::take(&mut self.waiting) {
            let unserved = self.serve(lease, ctx);
            self.waiting.extend(unserved);
        }
    }

    fn sync_if_due(&mut self, ctx: &Context<Self>) {
        let now = self.deps.clock.instant();
        if self.last_sync.is_none_or(|last| now.saturating_duration_since(last) >= self.deps.config.flush_every) {
            self.sync(ctx);
        }
    }

    /// One exchange with the table at a time, so that rows never come back older than what was written.
    fn sync(&mut self, ctx: &Context<Self>) {
        if self.in_flight.is_some() {
            return;
        }
        self.last_sync = Some(self.deps.clock.instant());
        let increments = self.pool.take_unsaved();
        self.in_flight = Some(increments.clone());
        self.flushing = std::mem::take(&mut self.flushes);
        let (deps, pool, generation) = (self.deps.clone(), ctx.address(), self.generation);
        tokio::spawn(async move {
            let (flushed, rows) = table::exchange(deps.db, increments, deps.clock).await;
            pool.do_send(Synced { generation, flushed, rows });
        });
    }

    /// Says what the pool holds to whoever watches, when it has changed.
    fn publish(&self) {
        let now = self.pool.state();
        let changed = |state: &mut PoolState| std::mem::replace(state, now) != now;
        if self.deps.state.send_if_modified(changed) {
            events::proxy_pool_changed(now);
        }
    }

    fn answer_flushes(&mut self, flushed: bool, ctx: &Context<Self>) {
        for answer in self.flushing.drain(..) {
            // whoever asked may have stopped waiting
            let _ = answer.send(flushed);
        }
        if !self.flushes.is_empty() {
            self.sync(ctx);
        }
    }
}

impl Actor for ProxyPoolActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.sync(ctx);
        ctx.run_interval(TICK, |_, ctx| {
            // a full mailbox has ticks enough
            let _ = ctx.address().try_send(Tick);
        });
    }

    fn stopped(&mut self, _: &mut Self::Context) {
        let increments = self.pool.take_unsaved();
        if !increments.is_empty() {
            tokio::spawn(table::exchange(self.deps.db.clone(), increments, self.deps.clock.clone()));
        }
    }
}

impl Rebuild for ProxyPoolActor {
    fn rebuilt(&mut self) -> Self {
        ProxyPoolActor::new(self.deps.clone())
    }

    fn observed(&self) -> serde_json::Value {
        let proxies = self.pool.members().map(|member| ObservedProxy::of(member, self.deps.clock.instant()));
        let observed = Observed {
            state: self.pool.state(),
            waiting: self.waiting.len(),
            table_fails: self.table_fails,
            proxies: proxies.collect(),
        };
        serde_json::to_value(observed).unwrap_or_default()
    }
}

supervised!(ProxyPoolActor);

impl Handler<Lease> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, lease: Lease, ctx: &mut Self::Context) {
        let Some(unserved) = self.serve(lease, ctx) else { return };
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(unserved);
        }
    }
}

impl Handler<GiveBack> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, GiveBack(id): GiveBack, ctx: &mut Self::Context) {
        self.pool.sessions_are(id, self.deps.sessions.of(id));
        self.serve_the_waiting(ctx);
    }
}

impl Handler<Report> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, report: Report, ctx: &mut Self::Context) {
        let Some(notice) = self.pool.report(report.proxy, &report.outcome, self.deps.clock.instant()) else { return };
        events::proxy_notice(&notice);
        self.serve_the_waiting(ctx);
        self.publish();
    }
}

impl Handler<Tick> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, _: Tick, ctx: &mut Self::Context) {
        fail::fail_point!("actor.proxy_pool");
        let notices = self.pool.tick(self.deps.clock.instant());
        notices.iter().for_each(events::proxy_notice);
        self.serve_the_waiting(ctx);
        self.publish();
        self.sync_if_due(ctx);
    }
}

impl Handler<Synced> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, synced: Synced, ctx: &mut Self::Context) {
        if synced.generation != self.generation {
            return;
        }
        let in_flight = self.in_flight.take().unwrap_or_default();
        if !synced.flushed {
            self.pool.put_back(in_flight);
        }
        match synced.rows {
            Ok(rows) => {
                self.pool.load(rows, self.deps.clock.instant());
                self.deps.sessions.each(|id, open| self.pool.sessions_are(id, open));
                self.serve_the_waiting(ctx);
                self.publish();
                self.table_fails = false;
            }
            Err(why) => {
                let again = std::mem::replace(&mut self.table_fails, true);
                events::proxy_table_failed(&why, again);
            }
        }
        self.answer_flushes(synced.flushed, ctx);
    }
}

impl Handler<Flush> for ProxyPoolActor {
    type Result = ();

    fn handle(&mut self, Flush(answer): Flush, ctx: &mut Self::Context) {
        self.flushes.push(answer);
        self.sync(ctx);
    }
}

fn limits(config: &config::Proxies) -> Limits {
    Limits {
        sessions: config.sessions,
        bench_base: config.bench_base,
        bench_cap: config.bench_cap,
        failures_to_bench: config.failures_to_bench,
        blocks_to_bench: config.blocks_to_bench,
        revive_every: config.revive_every,
    }
}
