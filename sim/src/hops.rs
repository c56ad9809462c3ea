//! `Hops`: which connection to the origin came through which proxy. Whatever is not listed came directly.
//!
//! A proxy binds and lists its outgoing address before it connects, so the origin, which takes the entry out when it accepts,
//! never sees a forwarded connection that is not listed yet.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct Hops(Mutex<HashMap<SocketAddr, usize>>);

impl Hops {
    pub(crate) fn announce(&self, from: SocketAddr, proxy: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(from, proxy);
    }

    /// The proxy behind an accepted connection. Each entry is good for one connection: ports are used again.
    pub(crate) fn take(&self, peer: SocketAddr) -> Option<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&peer)
    }
}
