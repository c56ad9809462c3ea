//! Many sockets that want nothing, or want it slowly: others are answered meanwhile, and the server holds a
//! bounded number of them.

use std::net::{Ipv4Addr, SocketAddr};
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
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::super::server::{make_token, send};
use testkit::{Child, PATIENCE, TestDatabase, database, drover, until};

const SLOW: usize = 200;
const IDLE: usize = 5_000;
/// Number that is larger than the number of connections.
const FULL: usize = 600;
/// All connections.
const CONNECTIONS: usize = 512;
/// Maximum number of connections from one address, if nothing else is set.
const PER_ADDRESS: usize = 64;
/// Most of them: the server may have closed a few of its other descriptors meanwhile.
const MOST: usize = PER_ADDRESS * 3 / 4;
/// Addresses of clients that want nothing, or want it slowly; the others come from 127.0.0.1.
const CROWD: [Ipv4Addr; 7] = [
    Ipv4Addr::new(127, 0, 0, 2),
    Ipv4Addr::new(127, 0, 0, 3),
    Ipv4Addr::new(127, 0, 0, 4),
    Ipv4Addr::new(127, 0, 0, 5),
    Ipv4Addr::new(127, 0, 0, 6),
    Ipv4Addr::new(127, 0, 0, 7),
    Ipv4Addr::new(127, 0, 0, 8),
];
/// Descriptors of files and other sockets, beside the [`IDLE`] ones.
const OTHERS: u64 = 1_000;
/// Connections at once, the 256 beyond a limit that are being refused, and the descriptors that a process has open anyway.
const MAX_DESCRIPTORS: usize = CONNECTIONS + 256 + 128;
/// Maximum growth with all places of [`CROWD`] taken, and with as many more clients as there are.
const MAX_GROWTH_KIB: usize = 64 * 1024;
const MAX_GROWTH_BEYOND_KIB: usize = 16 * 1024;
/// The time after which an idle client is cut. A request that waits for its place takes longer. A busy machine may hold
/// up one request, and not every twentieth.
const MAX_P95: Duration = Duration::from_secs(10);
/// The time for a head, and some for a machine that is busy.
const MAX_TIME_TO_CUT: Duration = Duration::from_secs(60);
/// Maximum time for all idle clients to be let in.
const MAX_TIME_TO_CONNECT: Duration = Duration::from_secs(30);

struct ApiProcess {
    child: Child,
    address: SocketAddr,
    database: TestDatabase,
    _storage: tempfile::TempDir,
}

impl ApiProcess {
    async fn start() -> ApiProcess {
        ApiProcess::start_with(&[]).await
    }

    /// One with these variables in its environment.
    async fn start_with(variables: &[(&str, &str)]) -> ApiProcess {
        let (database, storage) = (database().await, tempfile::tempdir().unwrap());
        let mut command = drover();
        command.arg("api").env("DATABASE_URL", &database.url).env("DROVER__STORAGE__ROOT", storage.path());
        command.envs(variables.iter().copied());
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

    /// This many clients that send nothing, from these addresses in turn.
    async fn idle(&self, clients: usize, from: &[Ipv4Addr]) -> Vec<TcpStream> {
        let mut idle = Vec::new();
        while idle.len() < clients {
            let connecting = from.iter().cycle().take(100);
            let connecting = connecting.map(|from| tokio::time::timeout(PATIENCE, connect_from(*from, self.address)));
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
    assert!(p95 <= MAX_P95, "p95 is {p95:?}, the longest {worst:?}");
}

async fn connect_from(from: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Half the head of a request.
fn half_a_head(address: SocketAddr) -> String {
    format!("GET /livez HTTP/1.1\r\nhost: {address}\r\nx: ")
}

/// A request that comes byte by byte: every other one its head, the rest their bodies.
async fn dribble(address: SocketAddr, n: usize) {
    match n % 2 {
        0 => dribble_after(address, &half_a_head(address)).await,
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
    let Ok(mut stream) = connect_from(CROWD[0], address).await else { return };
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
    let api = ApiProcess::start_with(&[("DROVER__API__CONNECTIONS_PER_ADDRESS", "0")]).await;
    let mut slow = JoinSet::new();
    let address = api.address;
    for n in 0..SLOW {
        // it comes again when it is cut: on a busy machine the probes last longer than a head may
        slow.spawn(async move {
            let mut again = tokio::time::interval(Duration::from_millis(200));
            loop {
                again.tick().await;
                dribble(address, n).await;
            }
        });
    }
    until("all of them are connected", PATIENCE, async || api.descriptors() >= SLOW).await;
    assert_prompt(api.health(100).await);
    until("they were there all the time", PATIENCE, async || api.descriptors() >= SLOW).await;
}

#[tokio::test]
async fn six_hundred_slow_clients_of_one_address_leave_a_token_holder_served_and_are_cut() {
    let api = ApiProcess::start().await;
    let token = make_token(&api.database.db, "viewer").await;
    let empty = api.descriptors();
    let mut slow = api.idle(FULL, &CROWD[..1]).await;
    for stream in &mut slow {
        // is closed already where its address had no place left
        let _ = stream.write_all(half_a_head(api.address).as_bytes()).await;
    }
    let begun = Instant::now();
    until("their address has its places", PATIENCE, async || api.descriptors() >= empty + MOST).await;
    assert_prompt(api.health_for(20, Some(&token)).await);
    assert!(api.descriptors() >= empty + MOST, "they were there all the time");
    let left = MAX_TIME_TO_CUT.saturating_sub(begun.elapsed());
    tokio::time::timeout(left, join_all(slow.iter_mut().map(closed))).await.expect("all of them are cut");
}

/// Waits until the server has closed the connection.
async fn closed(stream: &mut TcpStream) {
    let mut answer = [0; 4096];
    while stream.read(&mut answer).await.is_ok_and(|bytes| bytes > 0) {}
}

/// They come again when they are cut.
#[rstest]
#[case::where_there_are_tokens(true, "/api/session")]
#[case::before_the_first_token(false, "/api/tasks")]
#[tokio::test]
async fn slow_bodies_from_one_address_keep_nobody_of_another_out(#[case] has_tokens: bool, #[case] path: &'static str) {
    let api = ApiProcess::start().await;
    let token = if has_tokens { Some(make_token(&api.database.db, "viewer").await) } else { None };
    let (address, empty) = (api.address, api.descriptors());
    let mut slow = JoinSet::new();
    for _ in 0..FULL {
        slow.spawn(async move {
            let mut again = tokio::time::interval(Duration::from_secs(1));
            loop {
                again.tick().await;
                dribble_body(address, path).await;
            }
        });
    }
    until("their address has its places", PATIENCE, async || api.descriptors() >= empty + MOST).await;
    assert_prompt(api.health_for(100, token.as_deref()).await);
    assert!(api.descriptors() >= empty + MOST / 2, "they were there all the time");
}

/// Requests without a token whose answers are not read.
#[tokio::test]
async fn answers_that_one_address_does_not_read_keep_nobody_of_another_out() {
    let api = ApiProcess::start().await;
    let token = make_token(&api.database.db, "viewer").await;
    let empty = api.descriptors();
    let request = format!("GET /api/openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", api.address).repeat(4);
    let mut silent = api.idle(FULL, &CROWD[..1]).await;
    for stream in &mut silent {
        // is closed already where its address had no place left
        let _ = stream.write_all(request.as_bytes()).await;
    }
    until("their address has its places", PATIENCE, async || api.descriptors() >= empty + MOST).await;
    // on a busy core that takes longer than a head may
    let answers = async || answered(Ipv4Addr::LOCALHOST, api.address, "/livez").await.is_some();
    until("the answers that nothing reads are made", PATIENCE, answers).await;
    assert_prompt(api.health_for(100, Some(&token)).await);
}

#[tokio::test]
async fn five_thousand_idle_clients_take_a_bounded_share_and_keep_no_others_out() {
    raise_file_limit(IDLE as u64 + OTHERS);
    let api = ApiProcess::start().await;
    let empty = api.memory_kib();
    let mut idle = api.idle(FULL, &CROWD).await;
    let taken = CROWD.len() * PER_ADDRESS;
    until("all their places are taken", PATIENCE, async || api.descriptors() > taken).await;
    let full = api.memory_kib();
    let connecting = tokio::time::timeout(MAX_TIME_TO_CONNECT, api.idle(IDLE - FULL, &CROWD));
    idle.extend(connecting.await.expect("the server lets clients in"));
    assert_prompt(api.health(100).await);
    let (descriptors, beyond) = (api.descriptors(), api.memory_kib());
    println!("idle clients: {descriptors} descriptors; {empty} KiB without, {full} with {FULL}, {beyond} with {IDLE}");
    assert!(descriptors <= MAX_DESCRIPTORS, "{descriptors} descriptors");
    assert!(full - empty <= MAX_GROWTH_KIB && beyond.saturating_sub(full) <= MAX_GROWTH_BEYOND_KIB, "memory grows");
    drop(idle);
    until("they are forgotten", PATIENCE, async || api.descriptors() < 100).await;
}

#[tokio::test]
async fn an_address_has_its_number_of_connections_and_another_for_each_that_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let bounds = Bounds { connections: 8, connections_per_address: 1, write_idle: PATIENCE };
    let router = Router::new().fallback(async || "answered");
    let serving = tokio::spawn(server::serve(listener, router, bounds, stop.clone()));
    let kept = answered(CROWD[0], address, "/").await.expect("the first has a place");
    assert!(answered(CROWD[0], address, "/").await.is_none(), "the address has no other");
    assert!(answered(CROWD[1], address, "/").await.is_some(), "another address has its own");
    drop(kept);
    until("the place is free again", PATIENCE, async || answered(CROWD[0], address, "/").await.is_some()).await;
    stop.cancel();
    serving.await.unwrap();
}

/// A connection on which a request was answered; None where the server closes it instead.
async fn answered(from: Ipv4Addr, to: SocketAddr, path: &str) -> Option<TcpStream> {
    let mut stream = connect_from(from, to).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {to}\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = vec![0; 4096];
    let bytes = tokio::time::timeout(PATIENCE, stream.read(&mut answer)).await.expect("an answer or an end").ok()?;
    answer[..bytes].starts_with(b"HTTP/1.1 200").then_some(stream)
}

#[track_caller]
fn raise_file_limit(needed: u64) {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    assert!(hard >= needed, "this test needs {needed} open files, and the hard limit is {hard}: raise it (ulimit -Hn)");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}
