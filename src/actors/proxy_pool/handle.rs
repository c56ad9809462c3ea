//! `ProxyPool`: the handle that the rest of the program holds: a source of leases, and the pool's state.

use std::time::Duration;

use actix::Addr;
use futures_util::future::BoxFuture;
use tokio::sync::{oneshot, watch};

use super::{AskForProxy, CountBytes, Flush, ProxyPoolActor, ProxyPoolDeps, ProxyPoolView, Report};
use crate::stealth::{FetchError, FetchMeter, ProxyAsk, ProxyId, ProxyLease, ProxyReport, ProxySource};
use domain::proxy::PoolState;
use settings::Live;
use supervision::messages::Observe;

/// The pause before an ask that the actor dropped is made again.
const ASK_AGAIN_PAUSE: Duration = Duration::from_millis(100);

/// Cheap to clone; stays valid across restarts of the actor.
#[derive(Clone)]
pub struct ProxyPool {
    actor: Addr<ProxyPoolActor>,
    state: watch::Receiver<PoolState>,
    config: Live<settings::Proxies>,
    meter: FetchMeter,
}

impl ProxyPool {
    pub fn new(actor: Addr<ProxyPoolActor>, deps: &ProxyPoolDeps) -> Self {
        let meter = deps.fetch_counts.meter().clone();
        ProxyPool { actor, state: deps.state.subscribe(), config: deps.config.clone(), meter }
    }

    /// How many proxies are usable, and how they all are; changes wake its waiters.
    pub fn state(&self) -> watch::Receiver<PoolState> {
        self.state.clone()
    }

    /// Whether everything reported until now has been written; also false when no answer comes within
    /// `deadline`.
    pub async fn flush(&self, deadline: Duration) -> bool {
        let (answer, flushed) = oneshot::channel();
        self.actor.do_send(Flush(answer));
        tokio::time::timeout(deadline, flushed).await.is_ok_and(|flushed| flushed.unwrap_or(false))
    }

    /// None while the actor is down.
    pub async fn observe(&self) -> Option<ProxyPoolView> {
        self.actor.send(Observe::default()).timeout(Duration::from_secs(1)).await.ok()
    }

    async fn until_granted(&self, ask: ProxyAsk) -> ProxyLease {
        loop {
            let (answer, grant) = oneshot::channel();
            self.actor.do_send(AskForProxy { ask: ask.clone(), answer });
            if let Ok(lease) = grant.await {
                return lease;
            }
            tokio::time::sleep(ASK_AGAIN_PAUSE).await;
        }
    }
}

/// Sends past the mailbox's limit: nothing here may be lost, and each session has at most one ask, report and
/// end under way.
impl ProxySource for ProxyPool {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        Box::pin(async move {
            let host = ask.host.clone();
            let grant = tokio::time::timeout(self.config.current().wait, self.until_granted(ask)).await;
            grant.map_err(|_| FetchError::NoProxy { host })
        })
    }

    fn report(&self, proxy: ProxyId, report: ProxyReport) {
        self.actor.do_send(Report { proxy, report });
    }

    fn count_bytes(&self, proxy: ProxyId, bytes: i64) {
        self.actor.do_send(CountBytes { proxy, bytes });
    }

    fn meter(&self) -> Option<FetchMeter> {
        Some(self.meter.clone())
    }
}
