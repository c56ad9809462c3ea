//! `World`: the state that the origin and the proxies share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio_rustls::TlsAcceptor;

use crate::brand::Brands;
use crate::captured::CapturedPage;
use crate::catalogue::{Catalogue, StoreSeed};
use crate::counters::Counters;
use crate::draw::{Draw, Topic};
use crate::encoding::Coding;
use crate::pictures::{Address, PictureHost, Subject};
use crate::platform;
use crate::product::Product;
use crate::proxy::{Outgoing, ProxyState};
use crate::settings::Robots;

pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) latency: Duration,
    pub(crate) jitter: Duration,
    /// Answers that took `latency`.
    pub(crate) delayed: AtomicU64,
    pub(crate) client_timeout: Duration,
    pub(crate) coding: Option<Coding>,
    pub(crate) origin: SocketAddr,
    pub(crate) catalogue: Catalogue,
    pub(crate) captured: Option<CapturedPage>,
    pub(crate) brands: Brands,
    pub(crate) pictures: PictureHost,
    pub(crate) proxies: Vec<ProxyState>,
    pub(crate) outgoing: Outgoing,
    pub(crate) refused_hosts: Vec<String>,
    /// Acceptor of the proxies that speak TLS.
    pub(crate) proxy_tls: Option<TlsAcceptor>,
    pub(crate) counters: Counters,
    pub(crate) platforms: platform::States,
    /// None = there is no `/robots.txt`.
    pub(crate) robots: Mutex<Option<Robots>>,
    /// The status of every store in answers to a search for stores; None = its own.
    pub(crate) store_status: Mutex<Option<Value>>,
    pub(crate) crawl: AtomicU32,
    /// How many percent of the products have other prices than the crawl alone would give them.
    pub(crate) repriced: AtomicU64,
}

impl World {
    /// Waits for as long as an answer takes on its way.
    pub(crate) async fn delay(&self) {
        let nth = self.delayed.fetch_add(1, Ordering::Relaxed);
        let share = Draw::of(self.seed, Topic::Latency, &[nth]).unit();
        tokio::time::sleep(jittered(self.latency, self.jitter, share)).await;
    }

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
        let product = Product::of(self.seed, (&self.brands, &self.pictures), store, index, crawl);
        let is_repriced = Draw::of(self.seed, Topic::Reprice, &[store.index, index]).percent(self.repriced());
        if is_repriced { product.repriced() } else { product }
    }

    /// The subject of the picture at that address; none for strangers.
    pub(crate) fn picture_subject(&self, address: Address) -> Option<Subject> {
        self.pictures.subject(address, || self.picture_subjects())
    }

    fn picture_subjects(&self) -> HashMap<u128, Subject> {
        let stores = self.catalogue.stores.iter().filter(|store| !store.captured);
        let products = stores.flat_map(|store| (0..store.size).map(move |index| self.product(store, index, 1)));
        let of_products =
            products.filter_map(|product| product.picture.url().and_then(|url| self.pictures.address(url)));
        let logos = self.brands.iter().filter_map(|brand| self.pictures.address(brand.image_url.as_deref()?));
        let of_products = of_products.map(|address| (address.hash, Subject::Product));
        of_products.chain(logos.map(|address| (address.hash, Subject::Logo))).collect()
    }
}

/// `share` is 0 for the shortest latency and 1 for the longest.
fn jittered(latency: Duration, jitter: Duration, share: f64) -> Duration {
    (latency + jitter.mul_f64(2.0 * share)).saturating_sub(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_take_the_latency_give_or_take_the_jitter() {
        let ms = Duration::from_millis;
        let taken = |jitter| [0.0, 0.5, 1.0].map(|share| jittered(ms(60), ms(jitter), share));
        assert_eq!(taken(50), [ms(10), ms(60), ms(110)]);
        assert_eq!(taken(80), [ms(0), ms(60), ms(140)], "an answer is never early");
    }
}
