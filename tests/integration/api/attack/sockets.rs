//! Many sockets that want nothing, or want it slowly: others are answered meanwhile, and the server holds a bounded number of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http_body_util::Full;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::super::server::send;
use crate::support::{Child, PATIENCE, TestDatabase, database, drover, until};

const SLOW: usize = 200;
const IDLE: usize = 5_000;
/// More than there are connections.
const FULL: usize = 600;
/// Of files and other sockets, beside the [`IDLE`] ones.
const OTHERS: u64 = 1_000;
/// Connections at once, and what a process has open anyway.
const MAX_DESCRIPTORS: usize = 512 + 128;
/// With all connections taken, and with as many more clients as there are.
const MAX_GROWTH_KIB: usize = 64 * 1024;
const MAX_GROWTH_BEYOND_KIB: usize = 16 * 1024;
const MAX_P95: Duration = Duration::from_millis(500);
/// Half of the time after which an idle client would have gone by itself.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// For all idle clients to be let in.
const MAX_TIME_TO_CONNECT: Duration = Duration::from_secs(30);

struct ApiProcess {
    child: Child,
    address: SocketAddr,
    _database: TestDatabase,
    _storage: tempfile::TempDir,
}

impl ApiProcess {
    async fn start() -> ApiProcess {
        let (database, storage) = (database().await, tempfile::tempdir().unwrap());
        let mut command = drover();
        command.arg("api").env("DATABASE_URL", &database.url).env("DROVER__STORAGE__ROOT", storage.path());
        let child = Child::spawn(command.env("DROVER__API__LISTEN", "127.0.0.1:0"));
        let line = child.logged("Listening on http", PATIENCE).await;
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = line["address"].as_str().unwrap().parse().unwrap();
        ApiProcess { child, address, _database: database, _storage: storage }
    }

    /// How long a probe took to be answered, in turn.
    async fn health(&self, times: usize) -> Vec<Duration> {
        let mut took = Vec::new();
        for n in 0..times {
            let path = if n % 2 == 0 { "/livez" } else { "/api/tasks" };
            let request = http::Request::get(path).header("host", self.address.to_string());
            let begun = Instant::now();
            let asked = send(self.address, request.body(Full::default()).unwrap());
            tokio::time::timeout(PATIENCE, asked).await.expect("an answer").expect(200);
            took.push(begun.elapsed());
        }
        took
    }

    /// So many clients that send nothing.
    async fn idle(&self, clients: usize) -> Vec<TcpStream> {
        let mut idle = Vec::new();
        while idle.len() < clients {
            let connecting = (0..100).map(|_| tokio::time::timeout(PATIENCE, TcpStream::connect(self.address)));
            idle.extend(join_all(connecting).await.into_iter().map(|connected| connected.unwrap().unwrap()));
        }
        idle
    }

    fn proc(&self, file: &str) -> PathBuf {
        format!("/proc/{}/{file}", self.child.id().unwrap()).into()
    }

    fn descriptors(&self) -> usize {
        std::fs::read_dir(self.proc("fd")).unwrap().count()
    }

    fn memory_kib(&self) -> usize {
        let status = std::fs::read_to_string(self.proc("status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

#[track_caller]
fn assert_prompt(mut took: Vec<Duration>) {
    took.sort();
    let (p50, p95, worst) = (took[took.len() / 2], took[took.len() * 95 / 100], took[took.len() - 1]);
    println!("health: p50 {p50:?}, p95 {p95:?}, worst {worst:?}");
    assert!(p95 <= MAX_P95 && worst <= MAX_WAIT, "p95 is {p95:?}, the longest {worst:?}");
}

/// A request that comes byte by byte: every other one its head, the rest their bodies.
async fn dribble(address: SocketAddr, n: usize) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let begin = match n % 2 {
        0 => format!("GET /livez HTTP/1.1\r\nhost: {address}\r\nx: "),
        _ => format!("POST /api/session HTTP/1.1\r\nhost: {address}\r\ncontent-length: 4000\r\n\r\n{{\"token\": \""),
    };
    stream.write_all(begin.as_bytes()).await.unwrap();
    let mut ticks = tokio::time::interval(Duration::from_millis(200));
    while stream.write_all(b"x").await.is_ok() {
        ticks.tick().await;
    }
}

#[tokio::test]
async fn two_hundred_slow_clients_delay_nobody() {
    let api = ApiProcess::start().await;
    let before = api.descriptors();
    let mut slow = JoinSet::new();
    for n in 0..SLOW {
        slow.spawn(dribble(api.address, n));
    }
    until("all of them are connected", PATIENCE, async || api.descriptors() >= before + SLOW).await;
    assert_prompt(api.health(100).await);
    assert!(api.descriptors() >= before + SLOW, "they were there all the time");
}

#[tokio::test]
async fn five_thousand_idle_clients_take_a_bounded_share_and_keep_nobody_out() {
    raise_file_limit(IDLE as u64 + OTHERS);
    let api = ApiProcess::start().await;
    let empty = api.memory_kib();
    let mut idle = api.idle(FULL).await;
    let full = api.memory_kib();
    let connecting = tokio::time::timeout(MAX_TIME_TO_CONNECT, api.idle(IDLE - FULL));
    idle.extend(connecting.await.expect("the server lets clients in"));
    assert_prompt(api.health(100).await);
    let (descriptors, beyond) = (api.descriptors(), api.memory_kib());
    println!("idle clients: {descriptors} descriptors; {empty} KiB without, {full} with {FULL}, {beyond} with {IDLE}");
    assert!(descriptors <= MAX_DESCRIPTORS, "{descriptors} descriptors");
    assert!(full - empty <= MAX_GROWTH_KIB && beyond.saturating_sub(full) <= MAX_GROWTH_BEYOND_KIB, "memory grows");
    drop(idle);
    until("they are forgotten", PATIENCE, async || api.descriptors() < 100).await;
}

#[track_caller]
fn raise_file_limit(needed: u64) {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    assert!(hard >= needed, "this test needs {needed} open files, and the hard limit is {hard}: raise it (ulimit -Hn)");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}
