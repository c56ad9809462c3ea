//! `ApiState`: the shared state of all endpoints.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::credentials::Credentials;
use super::feed::Feed;
use super::metrics::LatestStoreCounts;
use super::origin::Hosts;
use super::rates::Rates;
use super::visitor_counts::Visitors;
use super::{Health, MAX_BATCHES, MAX_EXPORTS, MAX_LISTENERS, MAX_PROXY_TESTS, PayloadFiles};
use crate::rendered_images::Renderer;
use cluster::Cluster;
use contract::proxies::ProxyTest;
use db::Db;
use domain::media::forum::SelectorOverrides;
use domain::proxy::{Budgets, ProxyRow};
use domain::store::menu_urls::MenuUrls;
use foundation::secrets::SecretKeys;
use geo::Geo;
use settings::{Live, LiveConfig};

/// Sends one request to the platform through a proxy, with a deadline of its own. An error: nothing could be sent.
pub type ProxyTester = dyn Fn(ProxyRow) -> BoxFuture<'static, Result<ProxyTest, String>> + Send + Sync;

/// The parts of the program that the API uses.
pub struct ApiServices {
    pub files: PayloadFiles,
    pub health: Health,
    /// Keys for the passwords of proxies.
    pub keys: SecretKeys,
    /// Budgets and sessions of proxies.
    pub proxies: Live<settings::Proxies>,
    /// The effective configuration; its settings are shown with secrets masked.
    pub live: LiveConfig,
    pub proxy_tester: Arc<ProxyTester>,
    /// Rules for requests to hosts.
    pub politeness: Live<settings::Politeness>,
    pub crawl_limits: CrawlLimits,
    /// Hosts of a private network that stores may have.
    pub allowed_hosts: Arc<[String]>,
    /// Reads and judges the menu URLs that stores are given.
    pub menu_urls: Arc<dyn MenuUrls>,
    /// Judges the selectors that forums are given.
    pub selectors_fault: fn(&SelectorOverrides) -> Option<String>,
    pub images: settings::Images,
    /// Judges the addresses of images that were refused by their host.
    pub image_is_permitted: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    pub renderer: Renderer,
    pub geo: Geo,
    pub cluster: Cluster,
}

impl ApiServices {
    /// Budgets of proxies, as they are now.
    pub fn budgets(&self) -> Budgets {
        self.proxies.current().budgets()
    }
}

/// Settings of the crawl that a forecast of capacity reads.
#[derive(Clone, Debug, Default)]
pub struct CrawlLimits {
    /// Base URL by platform, for stores without a host of their own.
    pub base_urls: BTreeMap<String, String>,
}

impl CrawlLimits {
    pub fn of(config: &settings::Config) -> CrawlLimits {
        let urls = config.platform.iter().map(|(platform, settings)| (platform.to_string(), settings.base_url.clone()));
        CrawlLimits { base_urls: urls.collect() }
    }
}

/// Each layer and extractor of a request clones it, which costs one count.
#[derive(Clone)]
pub struct ApiState(Arc<Shared>);

pub struct Shared {
    services: ApiServices,
    pub db: Db,
    pub config: Arc<settings::Api>,
    pub visitors: Arc<Visitors>,
    /// Cancelled when the server ends: an answer that continues for long ends with it.
    pub stop: CancellationToken,
    pub(super) hosts: Arc<Hosts>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) rates: Arc<Rates>,
    pub(super) feed: Arc<Feed>,
    /// Places of listeners to events.
    pub(super) listeners: Arc<Semaphore>,
    /// Places of batches that are received and made.
    pub(super) batches: Arc<Semaphore>,
    /// Places of exports.
    pub(super) exports: Arc<Semaphore>,
    /// Places of tests of proxies.
    pub(super) proxy_tests: Arc<Semaphore>,
    /// The place of the one question how much room there is below the storage root.
    pub(super) disk_question: Arc<Semaphore>,
    pub(super) store_counts: LatestStoreCounts,
}

impl ApiState {
    pub fn new(db: Db, config: Arc<settings::Api>, services: ApiServices) -> Self {
        let hosts = Hosts::new(&config.hosts, config.is_loopback());
        let rates = Rates::new(config.requests_per_minute, config.consumer_requests_per_minute);
        ApiState(Arc::new(Shared {
            services,
            db,
            stop: CancellationToken::new(),
            hosts: Arc::new(hosts),
            credentials: Arc::default(),
            rates: Arc::new(rates),
            feed: Arc::default(),
            visitors: Arc::default(),
            listeners: Arc::new(Semaphore::new(MAX_LISTENERS)),
            batches: Arc::new(Semaphore::new(MAX_BATCHES)),
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            proxy_tests: Arc::new(Semaphore::new(MAX_PROXY_TESTS)),
            disk_question: Arc::new(Semaphore::new(1)),
            store_counts: LatestStoreCounts::default(),
            config,
        }))
    }
}

impl Deref for ApiState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Deref for Shared {
    type Target = ApiServices;

    fn deref(&self) -> &ApiServices {
        &self.services
    }
}
