//! The simulated world of a demo, and how its stores and proxies come into the database.

use std::time::Duration;

use anyhow::Context;
use sim::{ProxyAddress, Settings, Simulator, StoreSeed};

use super::state::State;
use crate::config::Config;
use crate::db::stores::{self, Known, NewStore};
use crate::db::{Db, proxies};
use crate::domain::dispensary::Platform;
use crate::domain::proxy::ProxyProtocol;
use crate::domain::proxy::list::ProxyEntry;

/// Starts the world where `state` left it, and notes its ports there.
pub fn start(state: &mut State, latency: Duration) -> anyhow::Result<Simulator> {
    let settings = Settings {
        seed: state.seed,
        stores: state.stores,
        crawl: state.crawl,
        latency,
        port: state.port,
        proxy_ports: state.proxy_ports.clone(),
        ..Settings::default()
    };
    let sim = Simulator::start(settings).context("the simulated world cannot be started")?;
    state.port = url::Url::parse(sim.base_url())?.port().unwrap_or_default();
    state.proxy_ports = sim.proxies().iter().map(|proxy| proxy.port).collect();
    Ok(sim)
}

/// No rate limits, no jitter, no back-off, quick retries: the demo is in a hurry, and its world does not mind.
pub fn adapt(config: &mut Config, sim: &Simulator) {
    config.platform.dutchie.base_url = sim.base_url().to_owned();
    config.http.host_allowlist.push("127.0.0.1".to_owned());
    config.politeness.requests_per_second = 0.0;
    config.politeness.concurrency = 0;
    config.politeness.page_pause_min = Duration::ZERO;
    config.politeness.page_pause_max = Duration::ZERO;
    config.worker.memory_backoff_threshold = 0.0;
    config.worker.cpu_backoff_threshold = 0.0;
    config.queue.retry_base = Duration::from_millis(500);
    config.queue.retry_base_by_role.clear();
}

/// Stores and proxies of the world, as an operator would import them; those that are there stay.
pub async fn settle(db: &Db, sim: &Simulator) -> anyhow::Result<()> {
    let entries: Vec<ProxyEntry> = sim.proxies().into_iter().map(entry).collect();
    proxies::import(db, &entries).await?;
    let tx = db.begin().await?;
    for seed in sim.stores() {
        let store = store(seed);
        if matches!(stores::find_known(&tx, &store).await?, Known::No) {
            stores::add(&tx, &store).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}

fn entry(proxy: ProxyAddress) -> ProxyEntry {
    ProxyEntry {
        protocol: match proxy.protocol {
            sim::ProxyProtocol::Http => ProxyProtocol::Http,
            sim::ProxyProtocol::Socks5 => ProxyProtocol::Socks5,
        },
        host: proxy.host,
        port: proxy.port,
        username: proxy.username,
        password: proxy.password,
        state_code: None,
        timezone: None,
    }
}

fn store(seed: &StoreSeed) -> NewStore {
    NewStore {
        name: seed.name.clone(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some(seed.platform_dispensary_id.clone()),
        slug: Some(seed.slug.clone()),
        menu_url: Some(seed.menu_url.clone()),
        api_host: None,
        api_path: seed.api_path.clone(),
        city: Some(seed.city.clone()),
        state: Some(seed.state.clone()),
        timezone: Some(seed.timezone.clone()),
    }
}
