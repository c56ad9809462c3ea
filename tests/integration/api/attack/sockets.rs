//! Many sockets that want nothing, or want it slowly: others are answered meanwhile, and the server holds a
//! bounded number of them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use api::Bounds;
use api::server;
use axum::Router;
use futures_util::future::join_all;
use http_body_util::Full;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::super::server::send;
use testkit::{Child, PATIENCE, TestDatabase, database, drover, until};

const SLOW: usize = 200;
const IDLE: usize = 5_000;
/// More than there are connections.
const FULL: usize = 600;
/// All connections.
const CONNECTIONS: usize = 512;
/// Descriptors of files and other sockets, beside the [`IDLE`] ones.
const OTHERS: u64 = 1_000;
/// Connections at once, and the descriptors that a process has open anyway.
const MAX_DESCRIPTORS: usize = CONNECTIONS + 128;
/// With all connections taken, and with as many more clients as there are.
const MAX_GROWTH_KIB: usize = 64 * 1024;
const MAX_GROWTH_BEYOND_KIB: usize = 16 * 1024;
/// After which a connection may be closed for another client.
const IDLE_TIME: Duration = Duration::from_millis(300);
const MAX_P95: Duration = Duration::from_millis(500);
/// Half of the time after which an idle client would have gone by itself.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// For all idle clients to be let in.
const MAX_TIME_TO_CONNECT: Duration = Duration::from_secs(30);

struct ApiProcess {
    child: Child,
    address: SocketAddr,
    database: TestDatabase,
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
        ApiProcess { child, address, database, _storage: storage }
    }

    /// How long a probe took to be answered, in turn.
    async fn health(&self, times: usize) -> Vec<Duration> {
        self.health_for(times, None).await
    }

    async fn health_for(&self, times: usize, token: Option<&str>) -> Vec<Duration> {
        let mut took = Vec::new();
        for n in 0..times {
            let path = if n % 2 == 0 { "/livez" } else { "/api/tasks" };
            let mut request = http::Request::get(path).header("host", self.address.to_string());
            if let Some(token) = token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            let begun = Instant::now();
            let asked = send(self.address, request.body(Full::default()).unwrap());
            tokio::time::timeout(PATIENCE, asked).await.expect("an answer").expect(200);
            took.push(begun.elapsed());
        }
        took
    }

    /// The text of a new token with this access role.
    async fn token(&self, role: &str) -> String {
        let mut command = drover();
        command
            .env("DATABASE_URL", &self.database.url)
            .args(["token", "create", "--role", role, "--name", role, "--json"]);
        let made: serde_json::Value = serde_json::from_slice(&command.output().await.unwrap().stdout).unwrap();
        made["token"].as_str().unwrap().to_owned()
    }

    /// This many clients that send nothing.
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
    match n % 2 {
        0 => dribble_after(address, &format!("GET /livez HTTP/1.1\r\nhost: {address}\r\nx: ")).await,
        _ => dribble_body(address, "/api/session").await,
    }
}

/// The body of a login, which needs no token.
async fn dribble_body(address: SocketAddr, path: &str) {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n"
    );
    dribble_after(address, &format!("{head}{{\"token\": \"")).await;
}

async fn dribble_after(address: SocketAddr, begin: &str) {
    let Ok(mut stream) = TcpStream::connect(address).await else { return };
    if stream.write_all(begin.as_bytes()).await.is_err() {
        return;
    }
    let mut ticks = tokio::time::interval(Duration::from_millis(200));
    while stream.write_all(b"x").await.is_ok() {
        ticks.tick().await;
    }
}

#[tokio::test]
async fn two_hundred_slow_clients_delay_nobody() {
    let api = ApiProcess::start().await;
    let mut slow = JoinSet::new();
    for n in 0..SLOW {
        slow.spawn(dribble(api.address, n));
    }
    until("all of them are connected", PATIENCE, async || api.descriptors() >= SLOW).await;
    assert_prompt(api.health(100).await);
    assert!(api.descriptors() >= SLOW, "they were there all the time");
}

/// They come again as soon as they are cut.
#[rstest]
#[case::where_there_are_tokens(true, "/api/session")]
#[case::before_the_first_token(false, "/api/tasks")]
#[tokio::test]
async fn slow_bodies_from_clients_without_a_token_keep_nobody_out(
    #[case] has_tokens: bool,
    #[case] path: &'static str,
) {
    let api = ApiProcess::start().await;
    let token = if has_tokens { Some(api.token("viewer").await) } else { None };
    let address = api.address;
    let mut slow = JoinSet::new();
    for _ in 0..FULL {
        slow.spawn(async move {
            loop {
                dribble_body(address, path).await;
            }
        });
    }
    until("all connections are taken", PATIENCE, async || api.descriptors() >= CONNECTIONS).await;
    assert_prompt(api.health_for(100, token.as_deref()).await);
    assert!(api.descriptors() >= CONNECTIONS / 2, "they were there all the time");
}

/// Requests without a token whose answers are not read.
#[tokio::test]
async fn answers_that_clients_without_a_token_do_not_read_keep_nobody_out() {
    let api = ApiProcess::start().await;
    let token = api.token("viewer").await;
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", api.address).repeat(4);
    let mut silent = api.idle(FULL).await;
    for stream in &mut silent {
        // may be cut for the next
        let _ = stream.write_all(request.as_bytes()).await;
    }
    until("all connections are taken", PATIENCE, async || api.descriptors() >= CONNECTIONS).await;
    api.health_for(2, Some(&token)).await; // by then the answers are made, which takes the processor some time
    assert_prompt(api.health_for(100, Some(&token)).await);
}

#[tokio::test]
async fn five_thousand_idle_clients_take_a_bounded_share_and_keep_no_others_out() {
    raise_file_limit(IDLE as u64 + OTHERS);
    let api = ApiProcess::start().await;
    let empty = api.memory_kib();
    let mut idle = api.idle(FULL).await;
    until("all places are taken", PATIENCE, async || api.descriptors() > CONNECTIONS).await;
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

/// A request and a new client arrive while all connections are taken, before the server has seen either.
#[tokio::test]
async fn a_request_that_comes_when_its_connection_is_to_be_closed_is_answered() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let bounds = Bounds { connections: 1, write_idle: PATIENCE };
    let router = Router::new().fallback(async || {
        tokio::task::yield_now().await;
        "answered"
    });
    let serving = tokio::spawn(server::serve(listener, router, bounds, stop.clone()));
    let request = format!("GET / HTTP/1.1\r\nhost: {address}\r\n\r\n");
    let mut kept = answered(TcpStream::connect(address).await.unwrap(), &request).await;
    tokio::time::sleep(IDLE_TIME).await; // not a wait for something: as long the connection is idle

    // this test and the server have one thread, which these calls do not leave
    let new = std::net::TcpStream::connect(address).unwrap();
    new.set_nonblocking(true).unwrap();
    assert_eq!(kept.try_write(request.as_bytes()).unwrap(), request.len());
    let mut answer = String::new();
    tokio::time::timeout(PATIENCE, kept.read_to_string(&mut answer)).await.expect("an end").expect("no reset");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
    answered(TcpStream::from_std(new).unwrap(), &request).await;
    stop.cancel();
    serving.await.unwrap();
}

/// The stream, once a request on it is answered.
async fn answered(mut stream: TcpStream, request: &str) -> TcpStream {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let bytes = tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer").unwrap();
    assert!(answer[..bytes].starts_with(b"HTTP/1.1 200"), "{:?}", String::from_utf8_lossy(&answer[..bytes]));
    stream
}

#[track_caller]
fn raise_file_limit(needed: u64) {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    assert!(hard >= needed, "this test needs {needed} open files, and the hard limit is {hard}: raise it (ulimit -Hn)");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}
