//! The HTTP servers of a service: bound before the actors start, closed after they have stopped.

use std::fmt::Display;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::proxies::checker;
use super::{CliError, Env};
use crate::actors::proxy_pool::ProxyPool;
use crate::app::App;
use crate::platforms::{self, MenuAddresses};
use crate::stealth::AllowList;
use api::rendered_images::Renderer;
use api::{Actors, ApiServices, ApiState, CrawlLimits, Health, PayloadFiles, Scrape};
use cluster::Cluster;
use dashboard::IS_BUILT;
use db::Db;
use geo::Geo;
#[cfg(feature = "media")]
use media::clients::selectors::fault as selectors_fault;
use settings::{Config, Live, LiveConfig};
use storage::{Place, PlaceError};
use supervision::lifecycle::Lifecycle;

/// Maximum connected clients not accepted yet. The usual 128 are few in a burst: further clients would try
/// again after a second.
const BACKLOG: u32 = 4096;

/// Bound addresses, not yet served.
pub struct Listeners {
    pub api: Option<TcpListener>,
    pub probes: Option<TcpListener>,
}

/// Running servers; they keep running while the process drains, so that probes and people can watch.
pub struct Servers {
    /// Address of the API.
    pub api: Option<SocketAddr>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Listeners {
    /// Binds the API's address, and the probes' if one is configured.
    pub async fn bind(config: &Config, with_api: bool) -> Result<Listeners, CliError> {
        let api = match with_api {
            true => Some(listen(&config.api.listen, "PORT or DROVER__API__LISTEN").await?),
            false => None,
        };
        let probes = match config.probes.listen.as_str() {
            "" => None,
            address => Some(listen(address, "DROVER__PROBES__LISTEN").await?),
        };
        Ok(Listeners { api, probes })
    }

    /// `config`: the configuration that `app` uses.
    /// `live`: what the API shows of it.
    pub fn serve(
        self,
        env: &Env,
        live: LiveConfig,
        config: &Arc<Config>,
        app: &App,
        db: Db,
    ) -> anyhow::Result<Servers> {
        let proxies = app.proxies().map(ProxyPool::state);
        let lifecycle = app.lifecycle().clone();
        let health = Health::new(proxies, move || actors(&lifecycle));
        let state =
            ApiState::new(db, Arc::new(config.api.clone()), ApiServices { live, ..services(env, config, health)? });
        let mut servers = Servers { api: None, stop: state.stop.clone(), tasks: JoinSet::new() };
        let background = app.background();
        let scrape = if self.api.is_some() { Scrape::Service } else { Scrape::Process };
        if let Some(listener) = self.probes {
            let address = listener.local_addr()?;
            tracing::info!(%address, "Listening for probes on http://{address}");
            let serving = api::serve_probes(listener, state.clone(), scrape);
            servers.tasks.spawn(background.clone().run_once("probe server", serving));
        }
        if let Some(listener) = self.api {
            let address = listener.local_addr()?;
            tracing::info!(%address, "Listening on http://{address}");
            if !IS_BUILT {
                tracing::info!("This build has no dashboard: install Node.js with npm, and build drover again");
            }
            servers.api = Some(address);
            let serving = api::serve(listener, state, dashboard::routes(), background.clone());
            servers.tasks.spawn(background.clone().run_once("API server", serving));
        }
        Ok(servers)
    }
}

impl Servers {
    /// Lets open requests finish.
    pub async fn close(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

/// The URL at which a client on this machine reaches the API.
pub async fn local_api_url(api: &settings::Api) -> Result<String, CliError> {
    Ok(format!("{}{}", local_url(&api.listen).await?, api.base_path))
}

/// The URL at which a client on this machine reaches the listener that `listen` configures.
pub async fn local_url(listen: &str) -> Result<String, CliError> {
    let fault = |fault: &dyn Display| CliError::unavailable(format!("{listen}: {fault}"));
    let mut found = lookup_host(listen).await.map_err(|error| fault(&error))?;
    let address = found.next().ok_or_else(|| fault(&"the name does not resolve to an address"))?;
    Ok(format!("http://{}", for_local_clients(address)))
}

/// The address at which a client on this machine reaches a listener: 0.0.0.0 is not such an address.
pub fn for_local_clients(listener: SocketAddr) -> SocketAddr {
    let local: IpAddr = match listener.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(local, listener.port())
}

async fn listen(address: &str, variable: &str) -> Result<TcpListener, CliError> {
    bind(address).await.map_err(|error| {
        CliError::unavailable(format!("cannot listen on {address}: {error}; choose another address with {variable}"))
    })
}

/// Listens on the first usable address of the name.
async fn bind(address: &str) -> io::Result<TcpListener> {
    let mut fault = io::Error::new(io::ErrorKind::NotFound, "the name does not resolve to an address");
    for address in lookup_host(address).await? {
        match bind_to(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

fn bind_to(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // a restarted server does not wait for the last of its former connections
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Follows the configuration, unless the command has one of its own.
fn part<T: Clone + Send + Sync + 'static>(env: &Env, config: &Arc<Config>, of: fn(&Config) -> T) -> Live<T> {
    if Arc::ptr_eq(config, &env.config) { env.live.part(of) } else { of(config).into() }
}

/// The state of an API in this process, with `config`.
pub fn api_state(env: &Env, config: &Arc<Config>, db: Db, health: Health) -> Result<ApiState, PlaceError> {
    Ok(ApiState::new(db, Arc::new(config.api.clone()), services(env, config, health)?))
}

fn services(env: &Env, config: &Arc<Config>, health: Health) -> Result<ApiServices, PlaceError> {
    let place = Place::of(config)?;
    let image_hosts = AllowList::new(config.image_hosts());
    Ok(ApiServices {
        files: PayloadFiles::new(place.clone(), platforms::normalise),
        health,
        keys: config.secrets.keys(),
        proxies: part(env, config, |config| config.proxies.clone()),
        live: env.live.clone(),
        proxy_tester: checker::tester(config.clone()),
        politeness: part(env, config, |config| config.politeness.clone()),
        crawl_limits: CrawlLimits::of(config),
        allowed_hosts: config.http.host_allowlist.clone().into(),
        menu_urls: Arc::new(MenuAddresses::of(config)),
        selectors_fault,
        images: config.images.clone(),
        image_is_permitted: Arc::new(move |address| image_hosts.permits(address)),
        renderer: Renderer::of(config, place),
        geo: Geo::new(config.geo.database.as_deref()),
        cluster: Cluster::new(&config.kubernetes),
    })
}

fn actors(lifecycle: &Lifecycle) -> Actors {
    match lifecycle.cause() {
        Some(cause) => Actors::Failed { cause },
        None if lifecycle.is_running() => Actors::Running,
        None => Actors::Draining,
    }
}

/// The fault of any selectors: without media jobs, nothing reads a forum by them.
#[cfg(not(feature = "media"))]
fn selectors_fault(_: &domain::media::forum::SelectorOverrides) -> Option<String> {
    Some(crate::features::NO_MEDIA.to_owned())
}
