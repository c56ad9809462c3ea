//! `Outgoing`: which connection to the origin came through which proxy. A connection that is not listed came
//! directly.
//!
//! A proxy lists its outgoing address before it connects, and the origin removes the entry when it accepts,
//! so the origin never takes a forwarded connection for a direct one.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct Outgoing(Mutex<HashMap<SocketAddr, usize>>);

impl Outgoing {
    pub(crate) fn announce(&self, from: SocketAddr, proxy: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(from, proxy);
    }

    /// The proxy behind an accepted connection. Each entry is valid for one connection, because ports are
    /// used again.
    pub(crate) fn take(&self, peer: SocketAddr) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&peer)
    }
}
