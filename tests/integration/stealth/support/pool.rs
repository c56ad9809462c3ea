//! An owner of proxies that hands out the first one not to be avoided and records the reported outcomes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use drover::stealth::{FetchError, Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyReport, ProxySource};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{Semaphore, watch};

pub struct Pool {
    proxies: Vec<Arc<Proxy>>,
    asks: Mutex<Vec<ProxyAsk>>,
    reports: Mutex<Vec<(ProxyId, ProxyOutcome)>>,
    /// Times when the request of each report was sent.
    sent: Mutex<Vec<Instant>>,
    revoked: Mutex<HashMap<ProxyId, Arc<AtomicBool>>>,
    returned: Arc<Mutex<usize>>,
}

impl Pool {
    pub fn new(proxies: Vec<Proxy>) -> Arc<Self> {
        Arc::new(Pool {
            proxies: proxies.into_iter().map(Arc::new).collect(),
            asks: Mutex::default(),
            reports: Mutex::default(),
            sent: Mutex::default(),
            revoked: Mutex::default(),
            returned: Arc::default(),
        })
    }

    pub fn asks(&self) -> Vec<ProxyAsk> {
        self.asks.lock().unwrap().clone()
    }

    pub fn reports(&self) -> Vec<(ProxyId, ProxyOutcome)> {
        self.reports.lock().unwrap().clone()
    }

    /// Times when the reported requests were sent.
    pub fn sent(&self) -> Vec<Instant> {
        self.sent.lock().unwrap().clone()
    }

    /// Ends all leases of a proxy, which is handed out no more.
    pub fn revoke(&self, id: ProxyId) {
        self.revoked.lock().unwrap().entry(id).or_default().store(true, Ordering::Relaxed);
    }

    /// Leases handed out and not given back.
    pub fn out(&self) -> usize {
        self.asks().len() - *self.returned.lock().unwrap()
    }
}

/// An owner of one proxy with one session, for which the others wait as long as it takes.
pub struct OneSession {
    proxy: Arc<Proxy>,
    session: Arc<Semaphore>,
    asked: watch::Sender<usize>,
}

impl OneSession {
    pub fn new(proxy: Proxy) -> Arc<Self> {
        Arc::new(OneSession {
            proxy: Arc::new(proxy),
            session: Arc::new(Semaphore::new(1)),
            asked: watch::Sender::new(0),
        })
    }

    pub async fn until_asked(&self, times: usize) {
        self.asked.subscribe().wait_for(|asked| *asked >= times).await.unwrap();
    }
}

impl ProxySource for OneSession {
    fn lease(&self, _: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        self.asked.send_modify(|asked| *asked += 1);
        async {
            let session = Arc::clone(&self.session).acquire_owned().await.unwrap();
            Ok(ProxyLease::new(Arc::clone(&self.proxy), move || drop(session)))
        }
        .boxed()
    }

    fn report(&self, _: ProxyId, _: ProxyReport) {}
}

impl ProxySource for Pool {
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>> {
        let mut revoked = self.revoked.lock().unwrap();
        let is_free = |proxy: &&Arc<Proxy>| {
            let is_revoked = revoked.get(&proxy.id).is_some_and(|revoked| revoked.load(Ordering::Relaxed));
            !is_revoked && !ask.avoid.contains(&proxy.id)
        };
        let found = self.proxies.iter().find(is_free).cloned();
        let Some(proxy) = found else {
            return async move { Err(FetchError::NoProxy { host: ask.host }) }.boxed();
        };
        self.asks.lock().unwrap().push(ask);
        let returned = Arc::clone(&self.returned);
        let revoked = Arc::clone(revoked.entry(proxy.id).or_default());
        let lease = ProxyLease::new(proxy, move || *returned.lock().unwrap() += 1).revocable(revoked);
        async move { Ok(lease) }.boxed()
    }

    fn report(&self, proxy: ProxyId, report: ProxyReport) {
        self.sent.lock().unwrap().push(report.sent);
        self.reports.lock().unwrap().push((proxy, report.outcome));
    }
}
