//! `Counters`: counts of events, and waiting for a count.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;

use domain::store::per_platform::PerPlatform;

/// Everything counted since the start. `requests` counts the ones that reached the origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: u64,
    /// Requests among them that came through none of the simulator's proxies.
    pub direct: u64,
    /// Connections to the origin past the proxies, with a request or without.
    pub direct_connections: u64,
    pub filtered_products: u64,
    pub consumer_dispensaries: u64,
    pub dispensary_search: u64,
    /// Requests with the full text of a query (POST).
    pub full_text: u64,
    /// Requests of a platform that takes a key, with none or another one.
    pub key_refused: u64,
    /// Requests of the platforms that are not asked by GraphQL hashes.
    pub platforms: PerPlatform<PlatformCounts>,
    /// Requests for `/robots.txt`.
    pub robots: u64,
    /// Requests for pictures, those behind redirects included.
    pub pictures: u64,
    /// Whole good files among the answers: each counts as its last bytes go out.
    pub pictures_served: u64,
    /// The same by the path that the product or brand names, where a redirect began included; only addresses
    /// of this world.
    pub picture_answers: BTreeMap<String, u64>,
    /// None of these, or malformed.
    pub other: u64,
    /// Whole, correct answers with data to one of the three operations.
    pub answered: u64,
    /// 403s and challenges, by proxy or by fault.
    pub blocked: u64,
    pub hash_not_found: u64,
    /// Credentials for a proxy that came to the origin, or to a proxy that wants none or others.
    pub credentials_astray: u64,
    /// Requests that met a fault, blocks by fault included.
    pub faults: u64,
    /// Connections that were used again after a broken answer.
    pub trusted_broken: u64,
    /// Requests being answered now, and the most there ever were at once.
    pub in_flight: u64,
    pub most_in_flight: u64,
    /// Counts by position in `Simulator::proxies`.
    pub proxies: Vec<ProxyCounts>,
    /// `FilteredProducts` requests by platform dispensary id, of the stores there are.
    pub menus: HashMap<String, u64>,
}

/// Requests for pages of menus, for stores, and for the pages that show a menu to people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformCounts {
    pub menus: u64,
    pub stores: u64,
    pub pages: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyCounts {
    /// Connections accepted from clients.
    pub connections: u64,
    /// Requests forwarded to the origin and received there.
    pub requests: u64,
    /// Requests among them that the origin refused because of this proxy.
    pub blocked: u64,
    /// Refused by the proxy itself: wrong credentials, 407, 502, an address where a name is due, no TLS where
    /// it is.
    pub refused: u64,
}

#[derive(Clone)]
pub(crate) struct Counters(Arc<watch::Sender<Counts>>);

impl Counters {
    pub(crate) fn new(proxies: usize) -> Counters {
        let proxies = vec![ProxyCounts::default(); proxies];
        Counters(Arc::new(watch::Sender::new(Counts { proxies, ..Counts::default() })))
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Counts)) {
        self.0.send_modify(change);
    }

    pub(crate) fn note_proxy(&self, proxy: usize, change: impl FnOnce(&mut ProxyCounts)) {
        self.note(|counts| {
            if let Some(counts) = counts.proxies.get_mut(proxy) {
                change(counts);
            }
        });
    }

    /// A good picture went out whole.
    pub(crate) fn note_picture(&self, path: &str) {
        self.note(|counts| {
            counts.pictures_served += 1;
            *counts.picture_answers.entry(path.to_owned()).or_default() += 1;
        });
    }

    pub(crate) fn snapshot(&self) -> Counts {
        self.0.borrow().clone()
    }

    pub(crate) async fn until(&self, within: Duration, reached: impl FnMut(&Counts) -> bool) -> Result<Counts> {
        let mut receiver = self.0.subscribe();
        let reached = tokio::time::timeout(within, receiver.wait_for(reached)).await;
        let counts = reached.with_context(|| format!("not within {within:?}: {:?}", self.snapshot()))??;
        Ok(counts.clone())
    }
}
