//! `OpenLeases`: the proxy leases that are open in this process, each one session's. They outlive the actor.
//!
//! In: leases that begin and end. Out: counts, and flags that revoke. It must not know which proxy is good.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::proxy::ProxyId;

#[derive(Clone, Default)]
pub struct OpenLeases {
    by_proxy: Arc<Mutex<HashMap<ProxyId, LeasesOfProxy>>>,
    /// A session of the crawl waits for a proxy: leases of other sessions give way.
    crawl_waits: Arc<AtomicBool>,
}

#[derive(Default)]
struct LeasesOfProxy {
    count: usize,
    /// Shared by the leases that may still be used.
    revoked: Arc<AtomicBool>,
}

/// One open lease; it ends when dropped.
pub struct OpenLease {
    proxy: ProxyId,
    open_leases: OpenLeases,
}

impl OpenLeases {
    /// Opens a lease. The flag turns true when the proxy must not be used any more.
    pub fn open(&self, proxy: ProxyId) -> (OpenLease, Arc<AtomicBool>) {
        let mut all = self.lock();
        let open = all.entry(proxy).or_default();
        open.count += 1;
        (OpenLease { proxy, open_leases: self.clone() }, Arc::clone(&open.revoked))
    }

    pub fn count(&self, proxy: ProxyId) -> usize {
        self.lock().get(&proxy).map_or(0, |open| open.count)
    }

    /// The flag that leases of sessions beside the crawl heed.
    pub fn crawl_waits(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.crawl_waits)
    }

    pub fn set_crawl_waits(&self, waits: bool) {
        self.crawl_waits.store(waits, Ordering::Relaxed);
    }

    /// Every proxy that has leases open.
    pub fn each(&self, mut see: impl FnMut(ProxyId, usize)) {
        self.lock().iter().for_each(|(proxy, open)| see(*proxy, open.count));
    }

    /// Revokes the leases of all proxies except where `may_be_used` holds. They stay counted until they are
    /// dropped; leases opened later are not revoked.
    pub fn revoke_unless(&self, may_be_used: impl Fn(ProxyId) -> bool) {
        let mut all = self.lock();
        for (_, open) in all.iter_mut().filter(|(proxy, _)| !may_be_used(**proxy)) {
            std::mem::take(&mut open.revoked).store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProxyId, LeasesOfProxy>> {
        self.by_proxy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenLease {
    fn drop(&mut self) {
        let mut all = self.open_leases.lock();
        let Some(open) = all.get_mut(&self.proxy) else { return };
        open.count -= 1;
        if open.count == 0 {
            all.remove(&self.proxy);
        }
    }
}
