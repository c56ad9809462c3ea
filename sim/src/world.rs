//! `World`: the state that the origin and the proxies share.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio_rustls::TlsAcceptor;

use crate::brand::Brands;
use crate::captured::CapturedPage;
use crate::catalogue::{Catalogue, StoreSeed};
use crate::counters::Counters;
use crate::draw::{Draw, Topic};
use crate::encoding::Coding;
use crate::faults::Faults;
use crate::hashes::Hashes;
use crate::pages::Pages;
use crate::pictures::PictureHost;
use crate::product::Product;
use crate::proxy::{Outgoing, ProxyState};
use crate::settings::Robots;

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) latency: Duration,
    pub(crate) client_timeout: Duration,
    pub(crate) coding: Option<Coding>,
    pub(crate) origin: SocketAddr,
    pub(crate) catalogue: Catalogue,
    pub(crate) captured: Option<CapturedPage>,
    pub(crate) brands: Brands,
    pub(crate) pictures: PictureHost,
    pub(crate) proxies: Vec<ProxyState>,
    pub(crate) outgoing: Outgoing,
    /// For the proxies that speak TLS.
    pub(crate) proxy_tls: Option<TlsAcceptor>,
    pub(crate) faults: Faults,
    pub(crate) hashes: Hashes,
    pub(crate) counters: Counters,
    /// None = there is no `/robots.txt`.
    pub(crate) robots: Mutex<Option<Robots>>,
    pub(crate) crawl: AtomicU32,
    /// How many percent of the products have other prices than the crawl alone would give them.
    pub(crate) repriced: AtomicU64,
    /// None = pages are not kept.
    pub(crate) pages: Option<Pages>,
}

impl World {
    pub(crate) fn crawl(&self) -> u32 {
        self.crawl.load(Ordering::Relaxed)
    }

    pub(crate) fn set_crawl(&self, crawl: u32) {
        self.crawl.store(crawl, Ordering::Relaxed);
    }

    pub(crate) fn repriced(&self) -> u64 {
        self.repriced.load(Ordering::Relaxed)
    }

    pub(crate) fn product(&self, store: &StoreSeed, index: u64, crawl: u32) -> Product<'_> {
        let product = Product::of(self, store, index, crawl);
        let is_repriced = Draw::of(self.seed, Topic::Reprice, &[store.index, index]).percent(self.repriced());
        if is_repriced { product.repriced() } else { product }
    }
}
