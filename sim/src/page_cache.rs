//! `PageCache`: whole menu pages as they were coded first, for a world whose settings keep them.
//!
//! Any number of crawls then cost the simulator next to nothing, and the measured rest is the crawler. A page is kept
//! for each version of its menu, as long as the world lives.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

pub(crate) struct PageCache<K>(Mutex<HashMap<K, Bytes>>);

impl<K> Default for PageCache<K> {
    fn default() -> Self {
        PageCache(Mutex::default())
    }
}

impl<K: Eq + Hash> PageCache<K> {
    pub(crate) fn get(&self, key: &K) -> Option<Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(crate) fn keep(&self, key: K, bytes: Bytes) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, bytes);
    }
}
