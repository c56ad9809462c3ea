//! The API that the demo serves.

use std::net::SocketAddr;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::Full;
use nix::sys::signal::Signal;

use super::server::{Answer, send};
use testkit::{Child, PATIENCE, connect, drover, until};

async fn get(address: SocketAddr, path: &str) -> Answer {
    let request = Request::builder().method(Method::GET).uri(path).header("host", address.to_string());
    send(address, request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn tasks_that_a_request_generates_meanwhile_do_not_end_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command
        .args(["demo", "--stores", "2", "--every", "0", "--dir"])
        .arg(dir.path())
        .env("DROVER__API__LISTEN", "127.0.0.1:0");
    let mut demo = Child::spawn(&mut command);
    let crawls = || demo.stdout().iter().filter(|line| line.starts_with("Oracle")).count();
    until("a crawl has ended", PATIENCE, async || crawls() > 0).await;

    let url = drover().args(["db", "url", "--dir"]).arg(dir.path()).output().await.unwrap();
    let request = connect(String::from_utf8(url.stdout).unwrap().trim()).await;
    request.execute("SELECT pg_advisory_lock(7343, hashtext('payload_fetch'))", &[]).await.unwrap();
    let refused = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    let refused = async || request.query_one(refused, &[]).await.unwrap().get::<_, i64>(0);
    let before = refused().await;
    until("the demo is refused", PATIENCE, async || refused().await > before + 1).await;
    request.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();

    let before = crawls();
    until("it crawls again", PATIENCE, async || crawls() > before).await;
    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE).await.code(), Some(130));
}

#[tokio::test]
async fn the_demos_payloads_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command
        .args(["demo", "--stores", "2", "--every", "0", "--dir"])
        .arg(dir.path())
        .env("DROVER__API__LISTEN", "127.0.0.1:0");
    let mut demo = Child::spawn(&mut command);
    let announced = || demo.stdout().into_iter().find(|line| line.starts_with("API"));
    until("the demo says where the API is", PATIENCE, async || announced().is_some()).await;
    let line = announced().unwrap();
    let address: SocketAddr = line.split("http://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    let payloads = async || get(address, "/api/payloads").await.expect(200)["payloads"].clone();
    until("a payload is there", PATIENCE, async || payloads().await[0].is_object()).await;
    let payload = payloads().await[0]["id"].clone();
    let data = get(address, &format!("/api/payloads/{payload}/data?raw=true")).await;
    assert_eq!(data.status, 200, "{}", data.text());
    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE).await.code(), Some(130));
}

#[tokio::test]
async fn a_demo_whose_port_is_taken_takes_a_free_one_and_ends_soon_after_ctrl_c() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command.args(["demo", "--stores", "2", "--dir"]).arg(dir.path()).env("DROVER__API__LISTEN", &address);
    let mut demo = Child::spawn(&mut command);
    let said = |text: &str| demo.stdout().iter().any(|line| line.starts_with(text));
    until("a crawl has ended", PATIENCE, async || said("Starting the next crawl in ")).await;
    let api = demo.stdout().into_iter().find(|line| line.starts_with("API")).unwrap();
    assert!(!api.contains(&address), "{api}");
    assert!(demo.stderr().iter().any(|line| line.contains("the demo takes a free port")));

    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(Duration::from_secs(10)).await.code(), Some(130));
    assert!(demo.stdout().iter().any(|line| line.starts_with("Stopping: ")));
}
