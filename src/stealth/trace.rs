//! `Trace`: proxies, fingerprints and results of a session's requests, for the attempt's `detail`; readable
//! while it runs and after it failed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::proxy::ProxyId;

/// `proxy_ids` and `fingerprints`: each once, in the order of first use; at most one more for each request
/// and try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub proxy_ids: Vec<ProxyId>,
    pub current_proxy: Option<ProxyId>,
    /// The current fingerprint.
    pub fingerprint: Option<String>,
    pub fingerprints: Vec<String>,
    /// Number of tries, including the ones that failed before anything was sent.
    pub requests: u32,
    pub blocks: u32,
    /// Script headers sent in a place that no recording has shown.
    pub unrecorded_headers: usize,
}

/// A shared view of one session's [`Trace`].
#[derive(Clone, Debug, Default)]
pub struct TraceHandle(Arc<Mutex<Trace>>);

impl TraceHandle {
    pub fn read(&self) -> Trace {
        self.lock().clone()
    }

    pub(super) fn opened(&self, proxy: ProxyId, fingerprint: &str) {
        let mut trace = self.lock();
        trace.current_proxy = Some(proxy);
        if !trace.proxy_ids.contains(&proxy) {
            trace.proxy_ids.push(proxy);
        }
        if !trace.fingerprints.iter().any(|known| known == fingerprint) {
            trace.fingerprints.push(fingerprint.to_owned());
        }
        trace.fingerprint = Some(fingerprint.to_owned());
    }

    pub(super) fn tried(&self) {
        self.lock().requests += 1;
    }

    pub(super) fn unrecorded(&self, headers: usize) {
        self.lock().unrecorded_headers += headers;
    }

    pub(super) fn blocked(&self) {
        self.lock().blocks += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Trace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
