//! `database()`: a fresh migrated database on a private server that all tests of this checkout share.
//!
//! The server outlives a test run by a minute, so that the next one starts warm. The schema is made once, as
//! a template that is named after its content, and copied for each test: hundreds of files, and therefore
//! kept in memory where there is room.

use db::{Db, PoolSizes, schema};
use foundation::digest::sha256_hex;
use nix::sys::statvfs::statvfs;
use private_server::PrivateServer;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;

use super::administration;

/// "test" in ASCII: serialises the making of the template between processes.
const TEMPLATE_LOCK: i64 = 0x7465_7374;
const MARK: &str = "drover_test_";
const TEMPLATE_MARK: &str = "drover_template_";
/// Directory in memory, which Linux has; containers often have little of it.
const IN_MEMORY: &str = "/dev/shm";
/// Maximum space of a test run's servers, doubled.
const ROOM: u64 = 2 << 30;

/// Number of connections of a test's database, beside two for the API.
pub const WORK_CONNECTIONS: usize = 8;

/// Number of sessions of a test's database that wait for a lock, as a statement.
pub const WAITING_FOR_LOCKS: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// A database of one test, dropped with it.
pub struct TestDatabase {
    pub name: String,
    pub url: String,
    pub db: Db,
    /// A plain connection, for statements that the program itself would not make.
    pub raw: tokio_postgres::Client,
}

/// A fresh database with the whole schema.
pub async fn database() -> TestDatabase {
    let template = template().await;
    TestDatabase::create(&copy_of(template)).await
}

/// A fresh database with the whole schema and the rows that the statements of `fill` insert.
pub async fn filled_database(fill: &str) -> TestDatabase {
    let template = make_template(fill).await;
    TestDatabase::create(&copy_of(&template)).await
}

/// A fresh database with nothing in it.
pub async fn empty_database() -> TestDatabase {
    TestDatabase::create("").await
}

/// The product's default deadlines.
pub fn database_settings() -> settings::Database {
    super::config(&[]).database
}

/// How tests start a private server: the built program as its keeper, and no fsync.
pub fn server_options(linger: Duration) -> private_server::Options {
    let settings = [
        "fsync=off",
        "full_page_writes=off",
        "wal_compression=off",
        "min_wal_size=32MB",
        "max_wal_size=256MB",
        "shared_buffers=64MB",
        "max_connections=300",
    ];
    private_server::Options {
        keeper: Some(super::program()),
        linger,
        settings: settings.map(str::to_owned).to_vec(),
        ..private_server::Options::default()
    }
}

/// A directory for one test.
pub fn server_dir() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("drover-pg-").tempdir_in(fast_dir()).unwrap();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

impl TestDatabase {
    async fn create(from: &str) -> TestDatabase {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = server().await;
        let name = format!("{MARK}{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        administration::execute(server.url(), format!("CREATE DATABASE {name} {from}")).await.unwrap();
        let url = url_of(server.url(), &name);
        let db = Db::new(&url, &database_settings(), PoolSizes { work: WORK_CONNECTIONS, api: 2 }).unwrap();
        let raw = connect(&url).await;
        TestDatabase { name, url, db, raw }
    }

    /// Another database with all that is in this one. Ends all connections to this one.
    pub async fn copy(&self) -> TestDatabase {
        self.shut().await;
        let copy = TestDatabase::create(&copy_of(&self.name)).await;
        self.reopen().await;
        copy
    }

    /// Ends all connections and refuses new ones until [`reopen`](Self::reopen).
    pub async fn shut(&self) {
        let other = connect(&url_of(&self.url, "drover")).await;
        other.batch_execute(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS false", self.name)).await.unwrap();
        cut_off(&other, &self.name).await;
    }

    pub async fn reopen(&self) {
        let other = connect(&url_of(&self.url, "drover")).await;
        other.batch_execute(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name)).await.unwrap();
    }
}

/// Ends every connection to a database. A client that closes its own does not wait until the server has done
/// so.
async fn cut_off(other: &tokio_postgres::Client, name: &str) {
    let cut = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1";
    other.execute(cut, &[&name]).await.unwrap();
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let drop_it = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // a database that stays behind is removed by the next run
        administration::execute_within(&url_of(&self.url, "drover"), drop_it, Duration::from_secs(10));
    }
}

/// Runs work at the end of a test, when the test's own runtime is ending too.
pub fn block_on_thread<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let thread = std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    });
    thread.join().unwrap()
}

/// A plain connection, polled by a task of its own.
pub async fn connect(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn server() -> &'static PrivateServer {
    static SERVER: OnceCell<PrivateServer> = OnceCell::const_new();
    SERVER.get_or_init(start_server).await
}

async fn start_server() -> PrivateServer {
    let server = private_server::start_with(&shared_dir(), server_options(Duration::from_secs(60))).await.unwrap();
    remove_leftovers(&connect(server.url()).await).await;
    server
}

/// Checkouts keep out of each other's way.
fn shared_dir() -> PathBuf {
    let digest = sha256_hex(env!("CARGO_MANIFEST_DIR"));
    fast_dir().join(format!("drover-tests-{}-{}", nix::unistd::Uid::effective(), &digest[..8]))
}

/// Directory for many short-lived files, in memory where that has room. Other than cargo's target directory, it is open to
/// the account that runs the server.
pub fn fast_dir() -> &'static Path {
    let free = statvfs(IN_MEMORY).map_or(0, |system| system.blocks_available() * system.fragment_size());
    Path::new(if free >= ROOM { IN_MEMORY } else { "/tmp" })
}

/// Databases whose process was killed before it could drop them, and templates of other migrations.
async fn remove_leftovers(client: &tokio_postgres::Client) {
    let all =
        "SELECT datname FROM pg_database WHERE datname LIKE $1 OR datname LIKE $2 AND NOT starts_with(datname, $3)";
    let names = [format!("{MARK}%"), format!("{TEMPLATE_MARK}%"), template_name("")];
    let [tests, templates, ours] = &names;
    for row in client.query(all, &[tests, templates, ours]).await.unwrap() {
        let name: String = row.get(0);
        if !is_alive(owner_of(&name)) {
            let _ = client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await;
        }
    }
}

fn owner_of(name: &str) -> Option<i32> {
    name.strip_prefix(MARK)?.split('_').next()?.parse().ok()
}

fn is_alive(pid: Option<i32>) -> bool {
    pid.is_some_and(|pid| nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None).is_ok())
}

async fn template() -> &'static str {
    static TEMPLATE: OnceCell<String> = OnceCell::const_new();
    TEMPLATE.get_or_init(|| make_template("")).await
}

/// Other processes may want the same one; it gets its name when it is complete.
async fn make_template(fill: &str) -> String {
    let server = server().await;
    let client = connect(server.url()).await;
    let name = template_name(fill);
    client.execute("SELECT pg_advisory_lock($1)", &[&TEMPLATE_LOCK]).await.unwrap();
    let known = client.query_opt("SELECT FROM pg_database WHERE datname = $1", &[&name]).await.unwrap();
    if known.is_some() {
        return name;
    }
    let half = format!("{name}_half");
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {half} WITH (FORCE)")).await.unwrap();
    client.batch_execute(&format!("CREATE DATABASE {half}")).await.unwrap();
    let url = url_of(server.url(), &half);
    let db = Db::new(&url, &database_settings(), PoolSizes { work: 1, api: 1 }).unwrap();
    schema::migrate::up(&db).await.unwrap();
    drop(db);
    let raw = connect(&url).await;
    for statement in fill.split_inclusive(';') {
        raw.batch_execute(statement).await.unwrap();
    }
    // a template must have no connections
    cut_off(&client, &half).await;
    client.batch_execute(&format!("ALTER DATABASE {half} RENAME TO {name}")).await.unwrap();
    name
}

/// Copies files: half the processor time of the default, which writes each page to the WAL, too.
fn copy_of(name: &str) -> String {
    format!("TEMPLATE {name} STRATEGY file_copy")
}

fn template_name(fill: &str) -> String {
    let schema = &schema::migrate::digest()[..16];
    match fill {
        "" => format!("{TEMPLATE_MARK}{schema}"),
        fill => format!("{TEMPLATE_MARK}{schema}_{}", &sha256_hex(fill)[..16]),
    }
}

fn url_of(server_url: &str, database: &str) -> String {
    let (_, query) = server_url.split_once('?').unwrap();
    format!("postgresql:///{database}?{query}")
}
