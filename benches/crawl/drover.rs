//! drover as a peer: `drover worker` with its defaults, without back-off and politeness, its info log in a
//! file.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use benches::{connect, processes};
use chrono::{DateTime, TimeDelta};
use db::demo::report::products;
use db::{Db, PoolSizes, proxies, schedules, schema, stores, workers};
use domain::proxy::{ProxyEntry, ProxyProtocol};
use domain::store::{NewStore, Platform};
use foundation::secrets::SecretKeys;
use settings::Config;
use tokio::process::Command;

use crate::stand::{REFUSED_HOST, Site, Store};
use crate::sums::{self, SumsByStore};
use crate::{followed, heartbeats, platform};

const SCHEDULE: &str = "payload_fetch_all";
const WORKERS: usize = 5;
const START_DEADLINE: Duration = Duration::from_secs(60);
const CRAWL_DEADLINE: Duration = Duration::from_secs(900);
/// Time between two looks at the queue.
const POLL: Duration = Duration::from_millis(5);
/// A process is idle once it has used no CPU for this time.
const IDLE: Duration = Duration::from_millis(300);
const IS_OPEN: &str =
    "SELECT EXISTS (SELECT FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running', 'blocked'))";

#[derive(Clone, Copy)]
pub struct Options {
    /// Slots of each worker, where not the default.
    pub slots: Option<u16>,
    pub shows_heartbeats: bool,
    /// Whether it may send changes to a receiver on this machine.
    pub follows_changes: bool,
    /// Whether it downloads images, from a host that the proxies refuse.
    pub downloads_images: bool,
}

pub struct Worker {
    process: tokio::process::Child,
    /// Port of its metrics, when its heartbeats are to be shown.
    metrics: Option<u16>,
    db: Db,
    observer: tokio_postgres::Client,
    platform: Platform,
}

/// Makes the schema, and adds stores, proxies and schedules.
pub async fn seed(url: &str, site: &Site) -> Result<()> {
    let db = open(url)?;
    schema::migrate::up(&db).await?;
    let entries: Vec<ProxyEntry> = site.proxies.iter().map(proxy).collect();
    proxies::import(&db, &entries, &SecretKeys::default()).await?;
    let tx = db.begin_maintenance().await?;
    for store in &site.stores {
        stores::add(&tx, &new_store(site.platform, store), &drover::platforms::menu_key).await?;
    }
    tx.commit().await?;
    schedules::ensure_defaults(&db.client().await?, &drover::platforms::default_schedules()).await?;
    Ok(())
}

impl Worker {
    /// Returns once it is idle.
    pub async fn start(url: &str, site: &Site, dir: &Path, options: Options) -> Result<Worker> {
        let Options { slots, shows_heartbeats, follows_changes, downloads_images } = options;
        let metrics = if shows_heartbeats { Some(heartbeats::port().await?) } else { None };
        let mut command = Command::new(env!("CARGO_BIN_EXE_drover-under-bench"));
        let log = File::create(dir.join("worker.log"))?;
        command.arg("worker").env_clear().envs(settings(url, dir));
        command.envs(platform::settings(site.platform, &site.base_url, site.key.as_deref()));
        command.env("DROVER__IMAGES__DOWNLOAD", downloads_images.to_string());
        command.envs(downloads_images.then_some(("DROVER__PLATFORM__DUTCHIE__IMAGE_HOSTS", REFUSED_HOST)));
        // settings to try, such as DROVER__DATABASE__POOL_WORK=4
        command.envs(std::env::vars().filter(|(key, _)| key.starts_with("DROVER__")));
        command.envs(followed::WORKER_SETTINGS.into_iter().filter(|_| follows_changes));
        command.args(slots.map(|slots| format!("--slots={slots}")));
        // each slot has a session of its own
        let sessions = usize::from(slots.unwrap_or_default()) * WORKERS / site.proxies.len() + 1;
        command.envs(slots.map(|_| ("DROVER__PROXIES__SESSIONS", sessions.to_string())));
        command.envs(metrics.map(|port| ("DROVER__PROBES__LISTEN", format!("127.0.0.1:{port}"))));
        command.envs(metrics.map(|_| ("DROVER__QUEUE__HEARTBEAT", heartbeats::INTERVAL)));
        command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        let process = command.spawn().context("drover worker")?;
        let worker =
            Worker { process, metrics, db: open(url)?, observer: connect(url).await?, platform: site.platform };
        tokio::time::timeout(START_DEADLINE, worker.until_idle()).await.context("drover worker does not start")??;
        Ok(worker)
    }

    pub fn pid(&self) -> u32 {
        self.process.id().unwrap_or_default()
    }

    /// Runs the schedule for the n-th time, and returns when another connection sees no open task.
    pub async fn crawl(&self, nth: usize) -> Result<()> {
        let due_at = DateTime::UNIX_EPOCH + TimeDelta::hours(nth as i64);
        let run = schedules::run_for(&self.db, SCHEDULE, due_at).await?;
        anyhow::ensure!(run.tasks > 0, "the schedule made no task");
        tokio::time::timeout(CRAWL_DEADLINE, self.until_done()).await.context("the crawl does not end")?
    }

    pub async fn stop(mut self) -> Result<()> {
        if let Some(port) = self.metrics {
            heartbeats::print(port).await?;
        }
        let pid = nix::unistd::Pid::from_raw(self.pid() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM)?;
        let status = tokio::time::timeout(START_DEADLINE, self.process.wait()).await??;
        anyhow::ensure!(status.success(), "drover worker ended with {status}");
        Ok(())
    }

    /// Content of the tables, and the number of snapshots.
    pub async fn rows(&self) -> Result<(SumsByStore, i64)> {
        let client = self.db.maintenance_client().await?;
        let records = products::all(&client, self.platform).await?;
        let count = "SELECT count(*) FROM store_product_snapshots";
        let snapshots = self.observer.query_one(count, &[]).await?.try_get(0)?;
        Ok((sums::of_records(records.into_iter()), snapshots))
    }

    async fn until_idle(&self) -> Result<()> {
        while workers::list(&self.db.client().await?).await?.len() < WORKERS {
            tokio::time::sleep(POLL).await;
        }
        let mut used = processes::cpu(self.pid())?;
        loop {
            tokio::time::sleep(IDLE).await;
            let now = processes::cpu(self.pid())?;
            if now == used {
                return Ok(());
            }
            used = now;
        }
    }

    async fn until_done(&self) -> Result<()> {
        let is_open = self.observer.prepare(IS_OPEN).await?;
        while self.observer.query_one(&is_open, &[]).await?.try_get(0)? {
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }
}

fn open(url: &str) -> Result<Db> {
    let config = Config::with(&[])?;
    Ok(Db::new(url, &config.database, PoolSizes { work: 2, api: 1 })?)
}

fn settings(url: &str, dir: &Path) -> Vec<(&'static str, String)> {
    let fixed = [
        ("DROVER_ENV", "production"),
        ("RUST_LOG", "info"),
        ("DROVER__HTTP__HOST_ALLOWLIST", "127.0.0.1"),
        ("DROVER__WORKER__MEMORY_BACKOFF_THRESHOLD", "0"),
        ("DROVER__WORKER__CPU_BACKOFF_THRESHOLD", "0"),
        ("DROVER__POLITENESS__REQUESTS_PER_SECOND", "0"),
        ("DROVER__POLITENESS__CONCURRENCY", "0"),
        ("DROVER__POLITENESS__PAGE_PAUSE_MIN", "0s"),
        ("DROVER__POLITENESS__PAGE_PAUSE_MAX", "0s"),
        ("DROVER__POLITENESS__ROBOTS", "ignore"),
    ];
    let made = [("DATABASE_URL", url.to_owned()), ("DROVER__STORAGE__ROOT", dir.join("storage").display().to_string())];
    fixed.into_iter().map(|(key, value)| (key, value.to_owned())).chain(made).collect()
}

fn proxy((host, port): &(String, u16)) -> ProxyEntry {
    ProxyEntry {
        protocol: ProxyProtocol::Http,
        host: host.clone(),
        port: *port,
        username: None,
        password: None,
        state_code: None,
        timezone: None,
    }
}

fn new_store(platform: Platform, store: &Store) -> NewStore {
    NewStore {
        name: store.name.clone(),
        platform,
        platform_dispensary_id: Some(store.platform_dispensary_id.clone()),
        slug: Some(store.slug.clone()),
        menu_url: Some(store.menu_url.clone()),
        api_host: None,
        api_path: store.api_path.clone(),
        city: Some(store.city.clone()),
        state: Some(store.state.clone()),
        timezone: Some(store.timezone.clone()),
        groups: Vec::new(),
    }
}
