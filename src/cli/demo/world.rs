//! The demo's simulator: starts it, adapts the configuration to it, and imports its stores and proxies.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::Context;
use domain::store::StoreId;
use rand::Rng;
use sim::{Settings, Simulator};

use super::{State, faults, limits, platforms};
use crate::cli::CliError;
use crate::platforms::menu_key;
use crate::simulated;
use contract::stores::ImportedStores;
use db::{Db, proxies, stores};
use domain::proxy::ProxyEntry;
use foundation::secrets::SecretKeys;
use settings::Config;

/// Lease that is short, so that tasks of a killed demo are recovered soon.
const LEASE: Duration = Duration::from_secs(10);

/// Ctrl-C ends the demo within this time, and a little for what is given back.
const GRACE: Duration = Duration::from_secs(5);

/// Port range of a new simulator: below the ephemeral range, so that its ports are still free when a killed
/// demo is started again.
const PORTS: Range<u16> = 10_000..30_000;
const MAX_TRIES: usize = 20;

/// Maximum time until the ports of a killed demo are free; they are once its process has ended.
const MAX_PORT_WAIT: Duration = Duration::from_secs(2);
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// How long the simulator's answers take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub latency: Duration,
    pub jitter: Duration,
}

/// Starts the simulator that `state` describes; a new one gets ports, which are written to `state`.
pub async fn start(state: &mut State, pace: Pace) -> anyhow::Result<Simulator> {
    if state.port != 0 {
        return begin_on_known_ports(state, pace).await;
    }
    for _ in 1..MAX_TRIES {
        if let Ok(sim) = begin_on_new_ports(state, pace) {
            return Ok(sim);
        }
    }
    begin_on_new_ports(state, pace)
}

async fn begin_on_known_ports(state: &State, pace: Pace) -> anyhow::Result<Simulator> {
    let give_up = Instant::now() + MAX_PORT_WAIT;
    loop {
        match begin(state, pace) {
            Ok(sim) => return Ok(sim),
            Err(_) if Instant::now() < give_up => tokio::time::sleep(RETRY_PAUSE).await,
            Err(error) => {
                let message = format!("{error:#}; another demo may be running in this directory");
                return Err(CliError::conflict(message).into());
            }
        }
    }
}

fn begin_on_new_ports(state: &mut State, pace: Pace) -> anyhow::Result<Simulator> {
    state.port = rand::rng().random_range(PORTS);
    state.proxy_ports = (1..=Settings::default().proxies as u16).map(|n| state.port + n).collect();
    begin(state, pace)
}

fn begin(state: &State, pace: Pace) -> anyhow::Result<Simulator> {
    let settings = Settings {
        seed: state.seed,
        stores: state.stores + if state.has_faults { faults::EXTRA_STORES } else { 0 },
        crawl: state.crawl,
        picture_percent: limits::PICTURE_PERCENT,
        latency: pace.latency,
        jitter: pace.jitter,
        port: state.port,
        proxy_ports: state.proxy_ports.clone(),
        ..Settings::default()
    };
    let sim = Simulator::start(settings).context("the simulator cannot be started")?;
    if state.has_faults {
        faults::break_proxies(&sim);
    }
    Ok(sim)
}

/// No rate limits, pauses or back-off; quick retries and recovery: a demo shall be fast, and loads only this
/// machine.
pub fn adapt(config: &mut Config, sim: &Simulator) {
    simulated::point_at(sim, config);
    config.http.host_allowlist.extend(["127.0.0.1", faults::UNSTEADY_HOST].map(str::to_owned));
    config.politeness.requests_per_second = 0.0;
    config.politeness.concurrency = 0;
    config.politeness.page_pause_min = Duration::ZERO;
    config.politeness.page_pause_max = Duration::ZERO;
    config.politeness.breaker_share = 0.0;
    config.politeness.robots = "ignore".to_owned();
    config.worker.role = String::new();
    config.worker.grace = config.worker.grace.min(GRACE);
    config.worker.memory_backoff_threshold = 0.0;
    config.worker.cpu_backoff_threshold = 0.0;
    config.queue.lease = config.queue.lease.min(LEASE);
    config.queue.heartbeat = config.queue.heartbeat.map(|every| every.min(config.queue.lease / 2));
    config.queue.recovery_tick = config.queue.recovery_tick.min(Duration::from_secs(1));
    config.queue.retry_base = Duration::from_millis(500);
    config.queue.retry_base_by_role.clear();
}

/// Imports the simulator's stores and proxies, as an operator would; leaves known ones as they are. Returns
/// the stores that are in trouble on purpose, in their order.
pub async fn seed_database(db: &Db, sim: &Simulator, state: &State, keys: &SecretKeys) -> anyhow::Result<Vec<StoreId>> {
    let entries: Vec<ProxyEntry> = sim.proxies().into_iter().map(simulated::proxy).collect();
    proxies::import(db, &entries, keys).await?;
    let tx = db.begin().await?;
    stores::add_unless_known(&tx, &platforms::stores(sim, state.stores), &menu_key).await?;
    let faulty = if state.has_faults { faults::stores(sim) } else { Vec::new() };
    let ImportedStores { imported, known, .. } = stores::requests::import(&tx, &faulty, &menu_key).await?;
    tx.commit().await?;
    let mut ids: Vec<StoreId> = imported.into_iter().map(|store| store.id).chain(known).collect();
    ids.sort_unstable();
    Ok(ids)
}
