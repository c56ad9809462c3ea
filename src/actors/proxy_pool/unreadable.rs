//! `LoggedOnce`: the proxies with unreadable passwords that were logged. Each is logged once, and again
//! when it could be read meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use db::proxies::passwords::UnreadableProxy;
use domain::proxy::ProxyId;
use telemetry::events;

/// Clones share it, so that it outlives a restart of the actor.
#[derive(Clone, Default)]
pub struct LoggedOnce(Arc<Mutex<HashSet<ProxyId>>>);

impl LoggedOnce {
    pub fn log(&self, unreadable: &[UnreadableProxy]) {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for proxy in unreadable.iter().filter(|proxy| !logged.contains(&proxy.id)) {
            events::proxy_unreadable(proxy.id, &format!("{}:{}", proxy.host, proxy.port), &proxy.error);
        }
        *logged = unreadable.iter().map(|proxy| proxy.id).collect();
    }
}
