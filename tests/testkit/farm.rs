//! `Farm`: a simulated world, a database that knows its stores and proxies, and drover processes that crawl
//! it.
//!
//! Times are short: leases of two seconds, ticks of half a second, small menus.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use db::demo::report::products;
use db::demo::report::products::ProductRecord;
use db::tasks::{self, NewTask};
use db::{Db, PoolSizes, proxies, schema, stores};
use domain::proxy::ProxyEntry;
use domain::store::Platform;
use domain::task::role::Role;
use drover::simulated;
use foundation::secrets::SecretKeys;
use serde_json::json;
use sim::{Settings, Simulator};
use tokio::process::Command;

use super::database::{TestDatabase, block_on_thread, connect, database, database_settings};
use super::process::drover;
use super::wait::until;

/// Lease of workers whose runs are counted: a worker that a busy machine suspends for some seconds keeps its tasks.
pub const LONG_LEASE: &str = "20s";
/// Maximum wait, long enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Products by the platform's ids of store and product.
pub type Products = BTreeMap<(String, String), ProductRecord>;

/// Its end fails the test when a task is still open, unless the test [says why](Farm::leaves_open_tasks).
pub struct Farm {
    pub sim: Simulator,
    pub db: Db,
    pub stores: Vec<i64>,
    url: String,
    storage: tempfile::TempDir,
    leaves_open_tasks: AtomicBool,
    _database: Option<TestDatabase>,
}

impl Farm {
    pub async fn with_stores(stores: usize) -> Farm {
        let database = database().await;
        Farm::build(small(stores), database.url.clone(), Some(database)).await
    }

    /// A small world with the test's changes.
    pub async fn changed(stores: usize, change: impl FnOnce(Settings) -> Settings) -> Farm {
        let database = database().await;
        Farm::build(change(small(stores)), database.url.clone(), Some(database)).await
    }

    /// Starts a farm on a server of the test's own, which it may kill.
    pub async fn on(url: &str, stores: usize) -> Farm {
        Farm::build(small(stores), url.to_owned(), None).await
    }

    async fn build(settings: Settings, url: String, database: Option<TestDatabase>) -> Farm {
        let sim = Simulator::start(settings).unwrap();
        let db = Db::new(&url, &database_settings(), PoolSizes { work: 4, api: 1 }).unwrap();
        schema::migrate::up(&db).await.unwrap();
        let ids = add_stores(&db, &sim).await;
        let storage = tempfile::tempdir().unwrap();
        let leaves_open_tasks = AtomicBool::new(false);
        let farm = Farm { sim, db, stores: ids, url, storage, leaves_open_tasks, _database: database };
        farm.import_proxies().await;
        farm
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Permits a test to end before its tasks do.
    pub fn leaves_open_tasks(&self, _reason: &str) {
        self.leaves_open_tasks.store(true, Ordering::Relaxed);
    }

    pub async fn import_proxies(&self) {
        let entries: Vec<ProxyEntry> = self.sim.proxies().into_iter().map(simulated::proxy).collect();
        proxies::import(&self.db, &entries, &SecretKeys::default()).await.unwrap();
    }

    /// Files of payloads, half-written ones included.
    pub fn files(&self) -> Vec<PathBuf> {
        files_below(&self.storage.path().join("payloads"))
    }

    /// Lists the files below `images`, half-written ones included.
    pub fn image_files(&self) -> Vec<PathBuf> {
        files_below(&self.storage.path().join("images"))
    }

    /// Directory at which paths of stored files begin.
    pub fn storage(&self) -> &Path {
        self.storage.path()
    }

    /// A `drover` command that works on this farm.
    pub fn drover(&self, args: &[&str]) -> Command {
        let mut command = drover();
        let settings = [
            ("DATABASE_URL", self.url.as_str()),
            ("DROVER__PLATFORM__DUTCHIE__BASE_URL", self.sim.base_url()),
            ("DROVER__HTTP__HOST_ALLOWLIST", "127.0.0.1"),
            ("DROVER__PLATFORM__DUTCHIE__IMAGE_HOSTS", "images.simulated.test"),
            ("DROVER__IMAGES__DOWNLOAD", "false"),
            ("DROVER__STORAGE__ROOT", self.storage.path().to_str().unwrap()),
            ("DROVER__API__LISTEN", "127.0.0.1:0"),
            ("DROVER__PROBES__LISTEN", "127.0.0.1:0"),
            ("DROVER__QUEUE__LEASE", "2s"),
            ("DROVER__QUEUE__RECOVERY_TICK", "500ms"),
            ("DROVER__QUEUE__POLL_INTERVAL", "500ms"),
            ("DROVER__QUEUE__SWEEP_DUE", "500ms"),
            ("DROVER__QUEUE__RETRY_BASE", "100ms"),
            ("DROVER__WORKER__MEMORY_BACKOFF_THRESHOLD", "0"),
            ("DROVER__WORKER__CPU_BACKOFF_THRESHOLD", "0"),
            ("DROVER__WORKER__GRACE", "5s"),
            ("DROVER__TOPOLOGY__PODS", "1"),
            ("DROVER__TOPOLOGY__WORKERS_PER_POD", "2"),
            ("DROVER__TOPOLOGY__SLOTS", "2"),
            ("DROVER__POLITENESS__REQUESTS_PER_SECOND", "0"),
            ("DROVER__POLITENESS__CONCURRENCY", "0"),
            ("DROVER__POLITENESS__PAGE_PAUSE_MIN", "0s"),
            ("DROVER__POLITENESS__PAGE_PAUSE_MAX", "0s"),
            ("DROVER__POLITENESS__BREAKER_SHARE", "0"),
            ("DROVER__POLITENESS__ROBOTS", "ignore"),
        ];
        command.args(args).envs(settings).env_remove("FAILPOINTS");
        command
    }

    /// One task of `role` for each store.
    pub async fn enqueue(&self, role: Role) -> Vec<i64> {
        let task = |store: &i64| NewTask {
            dispensary_id: Some(*store),
            platform: Some(Platform::Dutchie.name().to_owned()),
            ..NewTask::new(role)
        };
        let new: Vec<NewTask> = self.stores.iter().map(task).collect();
        tasks::enqueue(&self.db.client().await.unwrap(), &new).await.unwrap()
    }

    /// One discovery for each state that has stores.
    pub async fn discover(&self) {
        let states: BTreeSet<&str> = self.sim.stores().iter().map(|store| store.state.as_str()).collect();
        let task = |state: &&str| NewTask {
            platform: Some(Platform::Dutchie.name().to_owned()),
            payload: json!({ "state_code": state }),
            ..NewTask::new(Role::StoreDiscovery)
        };
        let new: Vec<NewTask> = states.iter().map(task).collect();
        tasks::enqueue(&self.db.client().await.unwrap(), &new).await.unwrap();
    }

    /// Content of the tables.
    pub async fn products(&self) -> Products {
        let all = products::all(&self.db.client().await.unwrap(), Platform::Dutchie).await.unwrap();
        all.into_iter().map(|record| (key(&record), record)).collect()
    }

    /// Expected content of the tables after that crawl of every store.
    pub fn expected_products(&self, crawl: u32) -> Products {
        let mut expected = Products::new();
        for store in self.sim.oracle(crawl) {
            let records =
                store.products.iter().map(|truth| simulated::product_record(&store.platform_dispensary_id, truth));
            expected.extend(records.map(|record| (key(&record), record)));
        }
        expected
    }

    pub async fn count(&self, sql: &str) -> i64 {
        self.db.client().await.unwrap().query_one(sql, &[]).await.unwrap().get(0)
    }

    pub async fn execute(&self, sql: &str) {
        self.db.client().await.unwrap().execute(sql, &[]).await.unwrap();
    }

    /// The default schedules make no tasks: what its services run is what the test enqueues.
    pub async fn without_schedules(self) -> Farm {
        db::schedules::ensure_defaults(&self.db.client().await.unwrap(), &drover::platforms::default_schedules())
            .await
            .unwrap();
        self.execute("UPDATE task_schedules SET enabled = false").await;
        self
    }

    /// Waits until that many rows answer `sql`, an outage of the database included.
    pub async fn until_counted(&self, what: &str, sql: &str, wanted: i64) {
        until(what, PATIENCE, async || {
            let Ok(client) = self.db.client().await else { return false };
            client.query_one(sql, &[]).await.is_ok_and(|row| row.get::<_, i64>(0) == wanted)
        })
        .await;
    }

    /// Waits until every store was fetched and refreshed, exactly once each.
    pub async fn until_crawled(&self) {
        let done = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'";
        self.until_counted("every store was crawled", done, self.stores.len() as i64).await;
        self.assert_nothing_twice().await;
    }

    pub async fn assert_nothing_twice(&self) {
        let twice = "SELECT count(*) FROM (SELECT FROM task_attempts WHERE outcome = 'completed' GROUP BY task_id HAVING count(*) > 1) t";
        assert_eq!(self.count(twice).await, 0, "tasks completed twice");
        let doubles = "SELECT count(*) FROM (SELECT FROM store_product_snapshots GROUP BY store_product_id, crawl_id HAVING count(*) > 1) s";
        assert_eq!(self.count(doubles).await, 0, "snapshots written twice");
        assert_eq!(self.count("SELECT count(*) FROM worker_tasks WHERE status = 'failed'").await, 0, "failed tasks");
    }
}

impl Drop for Farm {
    fn drop(&mut self) {
        if self.leaves_open_tasks.load(Ordering::Relaxed) || std::thread::panicking() {
            return;
        }
        let url = self.url.clone();
        let open = block_on_thread(async move { open_tasks(&url).await });
        assert!(open.is_empty(), "the test leaves open tasks:\n{}", open.join("\n"));
    }
}

/// Tasks that no schedule made and that are not at an end, for people.
async fn open_tasks(url: &str) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', 'task', id, role, status, worker_id, error_message) FROM worker_tasks
                WHERE status IN ('pending', 'claimed', 'running') AND schedule_id IS NULL ORDER BY id";
    connect(url).await.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

fn small(stores: usize) -> Settings {
    Settings { stores, products_per_store: 5..=20, proxies: 3, blocked_proxies: 0, ..Settings::default() }
}

fn key(record: &ProductRecord) -> (String, String) {
    (record.platform_dispensary_id.clone(), record.provider_product_id.clone())
}

/// Lists the files except the one that names the database.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.flat_map(below).filter(|path| !path.ends_with(".database")).collect()
}

async fn add_stores(db: &Db, sim: &Simulator) -> Vec<i64> {
    let tx = db.begin().await.unwrap();
    let mut ids = Vec::new();
    for seed in sim.stores() {
        ids.push(
            stores::add(&tx, &simulated::store(Platform::Dutchie, seed), &drover::platforms::menu_key).await.unwrap(),
        );
    }
    tx.commit().await.unwrap();
    ids
}
