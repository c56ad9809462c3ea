//! `World`: what the origin and the proxies share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::brand::Brands;
use crate::captured::CapturedPage;
use crate::catalogue::Catalogue;
use crate::counters::Counters;
use crate::encoding::Coding;
use crate::faults::Faults;
use crate::hashes::Hashes;
use crate::proxy::{Outgoing, ProxyState};

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) latency: Duration,
    pub(crate) client_timeout: Duration,
    pub(crate) coding: Option<Coding>,
    pub(crate) origin: SocketAddr,
    pub(crate) catalogue: Catalogue,
    pub(crate) captured: Option<CapturedPage>,
    pub(crate) brands: Brands,
    pub(crate) proxies: Vec<ProxyState>,
    pub(crate) outgoing: Outgoing,
    pub(crate) faults: Faults,
    pub(crate) hashes: Hashes,
    pub(crate) counters: Counters,
    pub(crate) crawl: AtomicU32,
}

impl World {
    pub(crate) fn crawl(&self) -> u32 {
        self.crawl.load(Ordering::Relaxed)
    }

    pub(crate) fn set_crawl(&self, crawl: u32) {
        self.crawl.store(crawl, Ordering::Relaxed);
    }
}
