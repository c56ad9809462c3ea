//! The memory that a process takes for a careless or hostile platform's answers. The crawls run in a process
//! of their own, so that nothing else moves its peak; the origin is in this one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_compression::tokio::bufread::GzipEncoder;
use domain::payload::FetchStart;
use domain::store::{Platform, Store};
use drover::platforms::{self, CrawlLimits, Crawler, QueryHashes};
use drover::stealth::{AllowList, Identities, Proxy, ProxyProtocol, SessionAsk, SessionConfig, Sessions, States};
use foundation::clock::Clock;
use rstest::rstest;
use storage::{PayloadContent, Payloads};
use testkit::memory_of_test;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::support::{ForwardProxy, HOST, Manner, read_head};
use crate::handlers::test_sessions::{RoundRobinProxies, test_config};

const MIB: usize = 1 << 20;
const STORE: &str = "6405ef617056e8014d79101b";
/// Number of crawls at once, as many as a pod has slots.
const SLOTS: usize = 15;

/// A page of a menu of four pages with one product, filled to this length by a field that is not read.
fn page(bytes: usize) -> Vec<u8> {
    let head = format!(
        r#"{{"data":{{"filteredProducts":{{"queryInfo":{{"totalCount":1,"totalPages":4}},"products":[{{"_id":"a","DispensaryID":"{STORE}","description":""#
    );
    [head.as_bytes(), "x".repeat(bytes).as_bytes(), br#""}]}}}"#].concat()
}

/// Makes more elements than any page has, each of which costs more to keep than it has bytes.
fn bomb() -> Vec<u8> {
    [r#"{"data":{"filteredProducts":{"products":["#, &"0,".repeat(31 * MIB / 2), "0]}}}"].concat().into_bytes()
}

async fn gzipped(body: Vec<u8>) -> Vec<u8> {
    let mut coded = Vec::new();
    GzipEncoder::new(body.as_slice()).read_to_end(&mut coded).await.unwrap();
    coded
}

#[rstest]
#[case::a_bomb_of_32_kilobytes(1, bomb(), true, 64, "decode")]
#[case::pages_of_30_megabytes(SLOTS, page(30 * MIB), false, 250, "too_large")]
#[case::pages_of_30_megabytes_gzipped(SLOTS, page(30 * MIB), true, 250, "too_large")]
#[case::menus_of_28_megabytes(SLOTS, page(7 * MIB), false, 250, "kept")]
#[tokio::test]
async fn what_a_platform_sends_takes_a_bounded_share_of_memory(
    #[case] crawls: usize,
    #[case] body: Vec<u8>,
    #[case] is_gzip: bool,
    #[case] most: usize,
    #[case] end: &str,
) {
    let body = if is_gzip { gzipped(body).await } else { body };
    let coding = if is_gzip { "Content-Encoding: gzip\r\n" } else { "" };
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{coding}Content-Length: {}\r\n\r\n", body.len());
    let origin = serve([head.into_bytes(), body].concat()).await;
    let proxy = ForwardProxy::socks5(origin, Manner::Willing).await.as_row(1);
    let variables = [("CRAWLS", &*crawls.to_string()), ("PROXY_PORT", &*proxy.port.to_string())];
    let (line, more) = memory_of_test("stealth::memory::crawling", &variables).await;
    assert!(more < most, "{line}");
    // concurrent readers that find no memory in time read nothing
    let mut ends: Vec<&str> = line.split_once("ends: ").unwrap().1.split("; ").collect();
    ends.retain(|end| *end != "no_memory");
    assert_eq!(ends, [end], "{line}");
}

/// Answers every request with the same bytes.
async fn serve(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_all(stream, Arc::clone(&answer)));
        }
    });
    address
}

async fn answer_all(mut stream: TcpStream, answer: Arc<Vec<u8>>) {
    while read_head(&mut stream).await.is_some() {
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test above, in a process of its own"]
async fn crawling() {
    let number = |name: &str| -> usize { std::env::var(name).unwrap().parse().unwrap() };
    let sessions = sessions(number("PROXY_PORT") as u16);
    let root = tempfile::tempdir().unwrap();
    let payloads = Payloads::new(root.path(), "a test");
    payloads.register_owner().await.unwrap();
    let before = memory("VmRSS:");
    let crawls = (0..number("CRAWLS")).map(|nth| tokio::spawn(crawl(sessions.clone(), payloads.clone(), nth as i64)));
    let ends = futures_util::future::join_all(crawls).await;
    let more = (memory("VmHWM:") - before) / 1024;
    let mut ends: Vec<String> = ends.into_iter().map(Result::unwrap).collect();
    ends.sort();
    ends.dedup();
    println!("{more} MiB more; ends: {}", ends.join("; "));
}

fn memory(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
    value.trim().trim_end_matches(" kB").parse().unwrap()
}

fn sessions(proxy_port: u16) -> Sessions {
    let config = test_config("http://menu.test");
    let proxy = Proxy {
        id: 1,
        protocol: ProxyProtocol::Socks5,
        host: "127.0.0.1".to_owned(),
        port: proxy_port,
        username: None,
        password: None,
    };
    Sessions::new(SessionConfig {
        proxies: Arc::new(RoundRobinProxies::new(vec![proxy])),
        identities: Identities::load(None).unwrap(),
        states: States::load(None).unwrap(),
        allowed_hosts: AllowList::new([HOST.to_owned()]),
        http: settings::Http { whole_timeout: Duration::from_secs(120), ..config.http },
        proxy_config: config.proxies.into(),
        politeness: config.politeness.into(),
        host_table: None,
        robots_table: None,
        clock: Clock::system(),
    })
    .unwrap()
}

/// Crawls as a task does, up to the payload file. Says how it ended.
async fn crawl(sessions: Sessions, payloads: Payloads, store: i64) -> String {
    let adapter = platforms::adapter(Platform::Dutchie, &test_config("http://menu.test")).unwrap();
    let mut hashes = QueryHashes::new(adapter.persisted().unwrap().shipped_hashes().to_vec());
    let store = Store {
        id: store,
        name: "A Store".to_owned(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some(STORE.to_owned()),
        slug: Some("a-store".to_owned()),
        menu_url: None,
        api_host: None,
        api_path: None,
        state: None,
        timezone: None,
        crawl_enabled: true,
    };
    let start =
        FetchStart { at: Clock::system().utc(), products: 1, expects_empty: false, small_menu_proxies: Vec::new() };
    let mut session = sessions.open(SessionAsk::default());
    let limits = CrawlLimits { max_pages: 40, min_coverage: 0.995 };
    let mut crawler = Crawler { adapter: &adapter, session: &mut session, hashes: &mut hashes, keys: None, limits };
    let menu = match crawler.fetch_menu(&store, &start, &|_| ()).await {
        Ok(menu) => menu,
        Err(error) => return error.label().to_owned(),
    };
    drop(session);
    payloads.write(PayloadContent::from(&menu)).await.unwrap();
    "kept".to_owned()
}
