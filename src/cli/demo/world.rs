//! The simulated world of a demo, and how its stores and proxies come into the database.

use std::ops::Range;
use std::time::Duration;

use anyhow::Context;
use rand::Rng;
use sim::{Settings, Simulator};

use super::simulated;
use super::state::State;
use crate::cli::CliError;
use crate::config::Config;
use crate::db::stores::{self, Known};
use crate::db::{Db, proxies};
use crate::domain::proxy::ProxyEntry;

/// Short, so that nobody waits long for what a killed demo held.
const LEASE: Duration = Duration::from_secs(10);

/// Where a new world's ports are looked for: below those that systems lend to outgoing connections, so that nobody has taken
/// them when a killed demo comes back.
const PORTS: Range<u16> = 10_000..30_000;
const TRIES: usize = 20;

/// Starts the world where `state` left it, or a new one on ports that it notes there.
pub fn start(state: &mut State, latency: Duration) -> anyhow::Result<Simulator> {
    if state.port != 0 {
        return begin(state, latency).map_err(|error| {
            CliError::conflict(format!("{error:#}; another demo may be running in this directory")).into()
        });
    }
    for _ in 1..TRIES {
        if let Ok(sim) = begin_anywhere(state, latency) {
            return Ok(sim);
        }
    }
    begin_anywhere(state, latency)
}

fn begin_anywhere(state: &mut State, latency: Duration) -> anyhow::Result<Simulator> {
    state.port = rand::rng().random_range(PORTS);
    state.proxy_ports = (1..=Settings::default().proxies as u16).map(|n| state.port + n).collect();
    begin(state, latency)
}

fn begin(state: &State, latency: Duration) -> anyhow::Result<Simulator> {
    let settings = Settings {
        seed: state.seed,
        stores: state.stores,
        crawl: state.crawl,
        latency,
        port: state.port,
        proxy_ports: state.proxy_ports.clone(),
        ..Settings::default()
    };
    Simulator::start(settings).context("the simulated world cannot be started")
}

/// No rate limits, no jitter, no back-off, quick retries and recovery: the demo is in a hurry, and its world does not mind.
pub fn adapt(config: &mut Config, sim: &Simulator) {
    config.platform.dutchie.base_url = sim.base_url().to_owned();
    config.http.host_allowlist.push("127.0.0.1".to_owned());
    config.politeness.requests_per_second = 0.0;
    config.politeness.concurrency = 0;
    config.politeness.page_pause_min = Duration::ZERO;
    config.politeness.page_pause_max = Duration::ZERO;
    config.worker.role = String::new();
    config.worker.memory_backoff_threshold = 0.0;
    config.worker.cpu_backoff_threshold = 0.0;
    config.queue.lease = config.queue.lease.min(LEASE);
    config.queue.heartbeat = config.queue.heartbeat.map(|every| every.min(config.queue.lease / 2));
    config.queue.recovery_tick = config.queue.recovery_tick.min(Duration::from_secs(1));
    config.queue.retry_base = Duration::from_millis(500);
    config.queue.retry_base_by_role.clear();
}

/// Stores and proxies of the world, as an operator would import them; those that are there stay.
pub async fn seed_database(db: &Db, sim: &Simulator) -> anyhow::Result<()> {
    let entries: Vec<ProxyEntry> = sim.proxies().into_iter().map(simulated::proxy).collect();
    proxies::import(db, &entries).await?;
    let tx = db.begin().await?;
    for seed in sim.stores() {
        let store = simulated::store(seed);
        if matches!(stores::find_known(&tx, &store).await?, Known::No) {
            stores::add(&tx, &store).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}
