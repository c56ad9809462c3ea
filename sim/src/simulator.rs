//! `Simulator`: the handle to a running world. Dropping it ends the world and frees its ports.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

use crate::brand::Brands;
use crate::captured::CapturedPage;
use crate::catalogue::{Catalogue, StoreSeed};
use crate::counters::{Counters, Counts};
use crate::oracle::changes::OracleChange;
use crate::oracle::unit_prices::OracleUnitPrices;
use crate::oracle::{self, OracleBrand, OracleStore};
use crate::pictures::{self, PictureAnswer, PictureHost, PictureKind};
use crate::proxy::{self, Outgoing, ProxyAddress, ProxyFault, ProxyProtocol, ProxyState};
use crate::refusal::Refusal;
use crate::settings::{Robots, Settings};
use crate::world::World;
use crate::{menu, origin, platform};
use domain::store::Platform;

/// Address without a port, so that equal settings make equal menus.
const PICTURES_URL: &str = "http://images.simulated.test";

pub struct Simulator {
    pub(crate) world: Arc<World>,
    base_url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Binds the ports and begins to serve. Fails when a port is taken or the captured page is unusable.
    pub fn start(settings: Settings) -> Result<Simulator> {
        let captured = settings.captured_page.as_deref().map(CapturedPage::read).transpose()?;
        let origin = bind(settings.port)?;
        let proxy_port = |index: usize| settings.proxy_ports.get(index).copied().unwrap_or(0);
        let proxies: Vec<TcpListener> =
            (0..settings.proxies).map(|index| bind(proxy_port(index))).collect::<Result<_>>()?;
        let address = origin.local_addr()?;
        let base_url = base_url(address, settings.tls.is_some());
        let pictures_url = if settings.tls.is_some() { &base_url } else { PICTURES_URL };
        let pictures = PictureHost::new(pictures_url, settings.picture_percent);
        let world = World {
            seed: settings.seed,
            latency: settings.latency,
            jitter: settings.jitter,
            delayed: AtomicU64::new(0),
            client_timeout: settings.client_timeout,
            coding: settings.coding,
            origin: address,
            catalogue: Catalogue::new(&settings, &base_url, captured.as_ref()),
            captured,
            brands: Brands::new(settings.seed, &pictures),
            pictures,
            proxies: proxy_states(&settings, &proxies)?,
            outgoing: Outgoing::default(),
            refused_hosts: settings.refused_hosts.clone(),
            proxy_tls: settings.proxy_tls.clone().map(TlsAcceptor::from),
            counters: Counters::new(settings.proxies),
            platforms: platform::States::new(&settings),
            crawl: AtomicU32::new(settings.crawl),
            robots: Mutex::new(settings.robots),
            store_status: Mutex::default(),
            repriced: AtomicU64::new(0),
        };
        let world = Arc::new(world);
        let (stop, stopped) = oneshot::channel();
        let tls = settings.tls.map(tls_acceptor);
        let thread = spawn(Servers { world: world.clone(), origin, proxies, tls }, stopped)?;
        Ok(Simulator { world, base_url, stop: Some(stop), thread: Some(thread) })
    }

    /// Scheme, host and port of the origin, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Scheme and host of the pictures, which proxies lead to the origin: a host of its own, as CDNs are.
    /// Behind TLS, where the origin has a certificate for one name alone, it is the origin.
    pub fn pictures_url(&self) -> &str {
        self.world.pictures.base_url()
    }

    /// The forward proxies, some with credentials; the ones that get blocked come first, each in another way.
    pub fn proxies(&self) -> Vec<ProxyAddress> {
        self.world.proxies.iter().map(|state| state.address.clone()).collect()
    }

    /// The stores to be crawled, the captured one last. Discovery finds a few more, which must not be.
    pub fn stores(&self) -> &[StoreSeed] {
        &self.world.catalogue.stores
    }

    /// Stores that only discovery sees: closed, or demos by their name.
    pub fn decoys(&self) -> &[StoreSeed] {
        &self.world.catalogue.decoys
    }

    pub fn crawl(&self) -> u32 {
        self.world.crawl()
    }

    /// Goes to another crawl: prices, stock and vanishings change at once.
    pub fn set_crawl(&self, crawl: u32) {
        self.world.set_crawl(crawl);
    }

    /// Makes this percentage of the products dearer by a dollar than in their crawl; the menus differ in nothing else.
    pub fn set_repriced(&self, percent: u64) {
        self.world.repriced.store(percent, Ordering::Relaxed);
    }

    /// Expected content of a product table after crawls 1 … `crawl` were completed for every generated store.
    pub fn oracle(&self, crawl: u32) -> Vec<OracleStore> {
        self.generated().map(|store| oracle::store(&self.world, store, crawl)).collect()
    }

    /// The same stores as that platform knows them; none where it knows them as another one does.
    pub fn stores_of(&self, platform: Platform) -> Vec<StoreSeed> {
        self.generated().filter_map(|store| platform::seed(platform, &self.world, store, &self.base_url)).collect()
    }

    /// The key that the platform takes now; none = it takes none.
    pub fn key_of(&self, platform: Platform) -> Option<String> {
        self.world.platforms.key(platform)
    }

    /// Whether [`Simulator::stores_of`] has any.
    pub fn has_stores(&self, platform: Platform) -> bool {
        self.generated().any(|store| platform::seed(platform, &self.world, store, &self.base_url).is_some())
    }

    /// The oracle of that platform's generated stores, in the order of [`Simulator::stores_of`].
    pub fn oracle_of(&self, platform: Platform, crawl: u32) -> Vec<OracleStore> {
        self.generated().filter_map(|store| platform::oracle(platform, &self.world, store, crawl)).collect()
    }

    /// The changes that crawl `crawl` must show after crawls 1 … `crawl` - 1 were completed for every generated store. In no
    /// particular order.
    pub fn oracle_changes(&self, crawl: u32) -> Vec<OracleChange> {
        self.generated().flat_map(|store| oracle::changes::of_store(&self.world, store, crawl)).collect()
    }

    /// The prices by unit that a table of options must hold after crawls 1 … `crawl`, as the other oracles.
    pub fn oracle_unit_prices(&self, crawl: u32) -> Vec<OracleUnitPrices> {
        self.generated().flat_map(|store| oracle::unit_prices::of_store(&self.world, store, crawl)).collect()
    }

    /// The brands and logos that a table must hold after crawls 1 … `crawl` were completed for every
    /// generated store.
    pub fn oracle_brands(&self, crawl: u32) -> Vec<OracleBrand> {
        oracle::brands(&self.world, self.generated(), crawl)
    }

    /// The end of a careful fetch of that address, as a product or brand names it; none = it is not an
    /// address of this world.
    pub fn picture(&self, url: &str) -> Option<PictureAnswer> {
        pictures::answer(&self.world, url)
    }

    /// How that picture is served.
    pub fn picture_kind(&self, url: &str) -> Option<PictureKind> {
        pictures::kind(&self.world, url)
    }

    /// How long every answer to a request for a picture takes from now on; zero at first.
    pub fn set_picture_latency(&self, latency: Duration) {
        self.world.pictures.set_latency(latency);
    }

    /// Answers in AVIF to clients that name it in their `accept`, in place of every good picture.
    pub fn prefer_avif(&self, prefers_avif: bool) {
        self.world.pictures.prefer_avif(prefers_avif);
    }

    /// Holds pictures, or lets them go: held ones are asked for and not answered, each for `client_timeout` at most.
    pub fn hold_pictures(&self, is_held: bool) {
        self.world.pictures.hold(is_held);
    }

    /// Distinct products on each generated store's menu in that crawl, by platform dispensary id.
    pub fn snapshots_expected(&self, crawl: u32) -> Vec<(String, usize)> {
        let count = |store: &StoreSeed| menu::Menu::of(self.world.seed, store, crawl).total();
        self.generated().map(|store| (store.platform_dispensary_id.clone(), count(store))).collect()
    }

    /// Sets how the proxy at that position of `proxies` behaves; [`ProxyFault::None`] heals it, a
    /// block by the origin included. Unknown positions are ignored.
    pub fn set_proxy_fault(&self, proxy: usize, fault: ProxyFault) {
        if let Some(state) = self.world.proxies.get(proxy) {
            state.set_fault(fault);
        }
    }

    /// The status that searches for stores give to every store from now on; None = its own.
    pub fn set_store_status(&self, status: Option<Value>) {
        *self.world.store_status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// The origin's answer to `/robots.txt` from now on; none = 404.
    pub fn set_robots(&self, robots: Option<Robots>) {
        *self.world.robots.lock().unwrap_or_else(PoisonError::into_inner) = robots;
    }

    pub fn counts(&self) -> Counts {
        self.world.counters.snapshot()
    }

    /// Waits until the counts are as wished, and returns them. Fails after `within`.
    pub async fn until(&self, within: Duration, reached: impl FnMut(&Counts) -> bool) -> Result<Counts> {
        self.world.counters.until(within, reached).await
    }

    pub(crate) fn generated(&self) -> impl Iterator<Item = &StoreSeed> {
        self.world.catalogue.stores.iter().filter(|store| !store.captured)
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        // waiting for the thread frees the ports before the caller continues
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Servers {
    world: Arc<World>,
    origin: TcpListener,
    proxies: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
}

fn spawn(servers: Servers, stopped: oneshot::Receiver<()>) -> Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let guard = runtime.enter();
    let origin = tokio::net::TcpListener::from_std(servers.origin)?;
    let proxies: Vec<_> =
        servers.proxies.into_iter().map(tokio::net::TcpListener::from_std).collect::<Result<_, _>>()?;
    drop(guard);
    let run = move || {
        runtime.spawn(origin::serve(servers.world.clone(), origin, servers.tls));
        for (index, listener) in proxies.into_iter().enumerate() {
            runtime.spawn(proxy::serve(servers.world.clone(), index, listener));
        }
        let _ = runtime.block_on(stopped);
    };
    std::thread::Builder::new().name("simulator".to_owned()).spawn(run).context("simulator's thread")
}

fn bind(port: u16) -> Result<TcpListener> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("port {port} on 127.0.0.1"))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn base_url(address: SocketAddr, tls: bool) -> String {
    if tls { format!("https://localhost:{}", address.port()) } else { format!("http://{address}") }
}

fn tls_acceptor(config: Arc<ServerConfig>) -> TlsAcceptor {
    let mut config = ServerConfig::clone(&config);
    if config.alpn_protocols.is_empty() {
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    }
    TlsAcceptor::from(Arc::new(config))
}

fn proxy_states(settings: &Settings, listeners: &[TcpListener]) -> Result<Vec<ProxyState>> {
    let address = |index, at| if settings.plain_proxies { plain_proxy(at) } else { proxy_address(index, at) };
    let secure = |address: ProxyAddress| match (&settings.proxy_tls, address.protocol) {
        (Some(_), ProxyProtocol::Http) => ProxyAddress { protocol: ProxyProtocol::Https, ..address },
        _ => address,
    };
    let state = |(index, listener): (usize, &TcpListener)| {
        let refusal = Refusal::ALL[index % Refusal::ALL.len()];
        let block = (index < settings.blocked_proxies).then_some((settings.block_after, refusal));
        Ok(ProxyState::new(secure(address(index, listener.local_addr()?)), block))
    };
    listeners.iter().enumerate().map(state).collect()
}

fn plain_proxy(address: SocketAddr) -> ProxyAddress {
    let (host, port) = (address.ip().to_string(), address.port());
    ProxyAddress { protocol: ProxyProtocol::Http, host, port, username: None, password: None }
}

/// Every third speaks SOCKS5; half of those, and of the others, want credentials, which hold what must be
/// percent-encoded in a URL.
fn proxy_address(index: usize, address: SocketAddr) -> ProxyAddress {
    let with_credentials = [true, true, false, true, false, false][index % 6];
    ProxyAddress {
        protocol: if index % 3 == 1 { ProxyProtocol::Socks5 } else { ProxyProtocol::Http },
        host: address.ip().to_string(),
        port: address.port(),
        username: with_credentials.then(|| format!("user-{index}")),
        password: with_credentials.then(|| format!("p@ss:w%rd/{index}")),
    }
}
