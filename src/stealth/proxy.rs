//! What stealth asks of whoever owns the proxies: a lease for one session, and ears for how each request went.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::error::FetchError;
pub use crate::domain::proxy::{Proxy, ProxyAsk, ProxyId, ProxyOutcome, ProxyProtocol};

/// The right to use one of a proxy's sessions until it is dropped.
pub struct ProxyLease {
    pub proxy: Arc<Proxy>,
    give_back: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl ProxyLease {
    pub fn new(proxy: Arc<Proxy>, give_back: impl FnOnce() + Send + Sync + 'static) -> Self {
        ProxyLease { proxy, give_back: Some(Box::new(give_back)) }
    }
}

impl Drop for ProxyLease {
    fn drop(&mut self) {
        if let Some(give_back) = self.give_back.take() {
            give_back();
        }
    }
}

/// Whoever owns the proxies of this process.
pub trait ProxySource: Send + Sync {
    /// Waits (bounded by the source) for a free session; [`FetchError::NoProxy`] when none came.
    fn lease(&self, ask: ProxyAsk) -> BoxFuture<'_, Result<ProxyLease, FetchError>>;

    /// Takes note of one request's end; never blocks.
    fn report(&self, proxy: ProxyId, outcome: ProxyOutcome);
}
