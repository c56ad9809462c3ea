//! `ToldUnreadable`: the proxies with unreadable passwords that were logged. Each is logged once, and again
//! when it could be read meanwhile.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use db::proxy_passwords::UnreadableProxy;
use domain::proxy::ProxyId;
use telemetry::events;

/// Clones share it, so that it outlives a restart of the actor.
#[derive(Clone, Default)]
pub struct ToldUnreadable(Arc<Mutex<HashSet<ProxyId>>>);

impl ToldUnreadable {
    pub fn tell(&self, unreadable: &[UnreadableProxy]) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for proxy in unreadable.iter().filter(|proxy| !told.contains(&proxy.id)) {
            events::proxy_unreadable(proxy.id, &format!("{}:{}", proxy.host, proxy.port), &proxy.error);
        }
        *told = unreadable.iter().map(|proxy| proxy.id).collect();
    }
}
