//! The interface to the owner of the proxies: a lease for one session, and a receiver of outcomes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;

use super::{FetchError, FetchMeter};
pub use domain::proxy::{Proxy, ProxyAsk, ProxyId, ProxyOutcome, ProxyProtocol, ProxyReport};

/// The right to use a proxy for one session, until it is dropped.
pub struct ProxyLease {
    pub proxy: Arc<Proxy>,
    revoked: Arc<AtomicBool>,
    gives_way: Arc<AtomicBool>,
    give_back: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ProxyLease {
    pub fn new(proxy: Arc<Proxy>, give_back: impl FnOnce() + Send + Sync + 'static) -> Self {
        ProxyLease { proxy, revoked: Arc::default(), gives_way: Arc::default(), give_back: Some(Box::new(give_back)) }
    }

    /// A lease that its owner can end by setting `revoked`: its proxy gets no further request.
    pub fn revocable(mut self, revoked: Arc<AtomicBool>) -> Self {
        self.revoked = revoked;
        self
    }

    /// A lease whose proxy gets no further request from it while `others_wait`.
    pub fn giving_way(mut self, others_wait: Arc<AtomicBool>) -> Self {
        self.gives_way = others_wait;
        self
    }

    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed) || self.gives_way.load(Ordering::Relaxed)
    }
}

impl Drop for ProxyLease {
    fn drop(&mut self) {
        if let Some(give_back) = self.give_back.take() {
            give_back();
        }
    }
}

/// The owner of the proxies of this process.
pub trait ProxySource: Send + Sync {
    /// Waits for a proxy that may serve one more session (bounded by the source); [`FetchError::NoProxy`]
    /// when none came.
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>>;

    /// Takes note of the end of one request; never blocks.
    fn report(&self, proxy: ProxyId, report: ProxyReport);

    /// Takes note of the bytes that one try sent and received, after [`meter`](Self::meter) has counted them;
    /// never blocks.
    fn count_bytes(&self, _proxy: ProxyId, _bytes: i64) {}

    /// Meter of everything that goes through its proxies; None where it counts nothing.
    fn meter(&self) -> Option<FetchMeter> {
        None
    }

    /// Whether it is an alarm that none of its proxies brings an answer; not where proxies are tried to find
    /// that out.
    fn is_relied_on(&self) -> bool {
        true
    }
}
