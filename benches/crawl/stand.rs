//! The stand: the simulated upstream and its forward proxies in a process of their own, which also knows a
//! right crawler's final rows. [`main`] is that process, [`Stand`] its handle.
//!
//! Pages are rendered and coded before anything is measured. A line of JSON on stdin is a command, a line on
//! stdout its answer; the end of stdin ends the process.

use std::io::{BufRead, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use domain::store::Platform;
use drover::simulated;
use serde::{Deserialize, Serialize};
use sim::{Coding, Operation, Settings, Simulator, StoreSeed};

use crate::child::Child;
use crate::sums::{self, SumsByStore};

/// Number of products that every peer asks for in one page.
pub const PER_PAGE: usize = 100;
const PROXIES: usize = 8;
/// Host of the images; every proxy refuses it.
pub const REFUSED_HOST: &str = "images.simulated.test";
/// Approximate share of a simulated store's products that is on its first menu.
const SHARE_ON_MENU: f64 = 0.844;

/// Menus to crawl.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Menus {
    pub platform: Platform,
    pub stores: usize,
    /// Approximate number of products on one menu.
    pub products: usize,
    pub latency: Duration,
}

/// Addresses of the site, for a crawler.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Site {
    pub platform: Platform,
    pub base_url: String,
    /// The key that the platform takes.
    pub key: Option<String>,
    /// The newest hash of a menu's query.
    pub query_hash: String,
    /// Host and port.
    pub proxies: Vec<(String, u16)>,
    pub stores: Vec<Store>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Store {
    pub platform_dispensary_id: String,
    pub name: String,
    pub slug: String,
    pub menu_url: String,
    pub api_path: Option<String>,
    pub city: String,
    pub state: String,
    pub timezone: String,
}

#[derive(Serialize, Deserialize)]
enum Command {
    /// Serve menus on which this percentage of the products has other prices, and report the sums of their
    /// rows.
    Serve { repriced: u64 },
    /// Report the number of requests.
    Count,
}

/// Requests that reached the upstream since it began.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Requests {
    pub menu_pages: u64,
    /// Number of whole, right answers.
    pub answered: u64,
    /// Number of requests that went past the proxies.
    pub direct: u64,
}

pub struct Stand {
    pub site: Site,
    child: Child,
}

impl Stand {
    pub async fn start(menus: Menus) -> Result<Stand> {
        let mut child = Child::spawn(&mut Child::of_this_program("stand")?)?;
        child.send(&menus).await?;
        Ok(Stand { site: child.receive().await?, child })
    }

    /// Returns once the pages are rendered.
    pub async fn serve(&mut self, repriced: u64) -> Result<SumsByStore> {
        self.child.send(&Command::Serve { repriced }).await?;
        self.child.receive().await
    }

    pub async fn requests(&mut self) -> Result<Requests> {
        self.child.send(&Command::Count).await?;
        self.child.receive().await
    }

    pub fn pid(&self) -> u32 {
        self.child.pid()
    }
}

/// The process: reads what to simulate, reports its address, and follows commands.
pub fn main() -> Result<()> {
    let mut lines = std::io::stdin().lock().lines();
    let menus: Menus = serde_json::from_str(&lines.next().context("no settings")??)?;
    let sim = Simulator::start(settings(menus))?;
    send_line(&site(menus.platform, &sim))?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for line in lines {
        match serde_json::from_str(&line?)? {
            Command::Serve { repriced } => {
                sim.set_repriced(repriced);
                runtime.block_on(sim.render_menus(PER_PAGE, Coding::Gzip))?;
                send_line(&expected(menus.platform, &sim))?;
            }
            Command::Count => send_line(&requests(&sim))?,
        }
    }
    Ok(())
}

fn settings(menus: Menus) -> Settings {
    let ever = (menus.products as f64 / SHARE_ON_MENU).round() as usize;
    Settings {
        stores: menus.stores,
        products_per_store: ever..=ever,
        latency: menus.latency,
        coding: Some(Coding::Gzip),
        keep_pages: true,
        proxies: PROXIES,
        plain_proxies: true,
        blocked_proxies: 0,
        refused_hosts: vec![REFUSED_HOST.to_owned()],
        ..Settings::default()
    }
}

fn site(platform: Platform, sim: &Simulator) -> Site {
    let proxies = sim.proxies().into_iter().map(|proxy| (proxy.host, proxy.port)).collect();
    Site {
        platform,
        base_url: sim.base_url().to_owned(),
        key: sim.key_of(platform),
        query_hash: sim::history(Operation::FilteredProducts)[0].to_owned(),
        proxies,
        stores: sim.stores_of(platform).iter().map(store).collect(),
    }
}

fn store(seed: &StoreSeed) -> Store {
    Store {
        platform_dispensary_id: seed.platform_dispensary_id.clone(),
        name: seed.name.clone(),
        slug: seed.slug.clone(),
        menu_url: seed.menu_url.clone(),
        api_path: seed.api_path.clone(),
        city: seed.city.clone(),
        state: seed.state.clone(),
        timezone: seed.timezone.clone(),
    }
}

fn expected(platform: Platform, sim: &Simulator) -> SumsByStore {
    let stores = sim.oracle_of(platform, sim.crawl());
    let records = stores.iter().flat_map(|store| {
        store.products.iter().map(|truth| simulated::product_record(&store.platform_dispensary_id, truth))
    });
    sums::of_records(records)
}

fn requests(sim: &Simulator) -> Requests {
    let counts = sim.counts();
    Requests {
        menu_pages: counts.filtered_products,
        answered: counts.answered,
        direct: counts.direct + counts.direct_connections,
    }
}

fn send_line(answer: &impl Serialize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
