//! `Settings`: the parameters of a simulated world. Equal settings make equal worlds, except for ports left
//! to the system.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::ServerConfig;

use crate::encoding::Coding;
use crate::platform::PlatformSettings;

/// An answer to `/robots.txt`: its status and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robots {
    pub status: u16,
    pub text: String,
}

/// The goods of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goods {
    #[default]
    Plain,
    /// Goods that are hard to compare: odd sizes, sizes in the name alone, THC in all units and beyond reason, bundles in all
    /// words, and prices that go and come back. Each page overlaps with the next one.
    Odd,
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub goods: Goods,
    /// Stores with a generated menu; a captured page comes on top.
    pub stores: usize,
    /// Sizes are skewed: most stores are small, a few come near the end. The default makes 60 stores hold
    /// about 15,000 products.
    pub products_per_store: RangeInclusive<usize>,
    /// How many percent of the products may have a picture; of these, eight have none.
    pub picture_percent: u64,
    /// Stores are anywhere in their state, so that not all of them are around one point; otherwise near one
    /// city.
    pub spread: bool,
    /// The crawl that is served first, from 1; see `Simulator::set_crawl`.
    pub crawl: u32,
    /// Added to every answer of the origin but pictures, which have `Simulator::set_picture_latency`.
    pub latency: Duration,
    /// How much longer or shorter than `latency` an answer takes at most; drawn for each by the seed.
    pub jitter: Duration,
    /// How long a client may take to send a request, and a kept connection may be idle.
    pub client_timeout: Duration,
    /// Keep every menu page as it was coded first, so that serving it again costs next to nothing: for
    /// benches.
    pub keep_pages: bool,
    pub platforms: PlatformSettings,
    /// The content coding of answers to clients that offer it; without one it is gzip.
    pub coding: Option<Coding>,
    pub proxies: usize,
    /// Hosts that no proxy connects to, as where a provider does not carry them.
    pub refused_hosts: Vec<String>,
    /// All proxies speak HTTP and want no credentials; otherwise they differ.
    pub plain_proxies: bool,
    /// The proxies that speak HTTP speak it inside TLS.
    pub proxy_tls: Option<Arc<ServerConfig>>,
    /// How many of the proxies, from the first, the origin starts to refuse after `block_after` requests
    /// each.
    pub blocked_proxies: usize,
    pub block_after: u64,
    /// A real `FilteredProducts` response, served as a store of its own.
    pub captured_page: Option<PathBuf>,
    /// The origin's answer to `/robots.txt`; see `Simulator::set_robots`.
    pub robots: Option<Robots>,
    /// The origin's port on 127.0.0.1; 0 = any.
    pub port: u16,
    /// The proxies' ports, in order; missing ones and 0 = any.
    pub proxy_ports: Vec<u16>,
    /// Serve https (h2 and http/1.1 by ALPN) as `localhost` instead of plain http.
    pub tls: Option<Arc<ServerConfig>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            seed: 1,
            goods: Goods::Plain,
            stores: 60,
            products_per_store: 20..=1372,
            picture_percent: 100,
            spread: false,
            crawl: 1,
            latency: Duration::ZERO,
            jitter: Duration::ZERO,
            client_timeout: Duration::from_secs(30),
            keep_pages: false,
            platforms: PlatformSettings::default(),
            coding: None,
            proxies: 8,
            refused_hosts: Vec::new(),
            plain_proxies: false,
            proxy_tls: None,
            blocked_proxies: 2,
            // early, while all its sessions are open: a proxy blocked once is avoided, and might never be
            // benched
            block_after: 1,
            captured_page: None,
            robots: None,
            port: 0,
            proxy_ports: Vec::new(),
            tls: None,
        }
    }
}
