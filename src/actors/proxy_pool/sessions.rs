//! `Sessions`: how many sessions each proxy has open in this process. It outlives the actor, since the sessions do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::proxy::ProxyId;

#[derive(Clone, Default)]
pub struct Sessions(Arc<Mutex<HashMap<ProxyId, usize>>>);

/// One open session; it ends when dropped.
pub struct Session {
    proxy: ProxyId,
    sessions: Sessions,
}

impl Sessions {
    pub fn open(&self, proxy: ProxyId) -> Session {
        *self.counts().entry(proxy).or_default() += 1;
        Session { proxy, sessions: self.clone() }
    }

    pub fn of(&self, proxy: ProxyId) -> usize {
        self.counts().get(&proxy).copied().unwrap_or(0)
    }

    /// Every proxy that has sessions open.
    pub fn each(&self, mut see: impl FnMut(ProxyId, usize)) {
        self.counts().iter().for_each(|(proxy, open)| see(*proxy, *open));
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<ProxyId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let mut counts = self.sessions.counts();
        let Some(open) = counts.get_mut(&self.proxy) else { return };
        *open -= 1;
        if *open == 0 {
            counts.remove(&self.proxy);
        }
    }
}
