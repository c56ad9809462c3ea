//! The API that the demo serves.

use std::net::SocketAddr;

use http::{Method, Request};
use http_body_util::Full;
use nix::sys::signal::Signal;

use super::server::{Answer, send};
use crate::support::{Child, PATIENCE, drover, until};

async fn get(address: SocketAddr, path: &str) -> Answer {
    let request = Request::builder().method(Method::GET).uri(path).header("host", address.to_string());
    send(address, request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn the_demos_payloads_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command.args(["demo", "--stores", "2", "--dir"]).arg(dir.path()).env("DROVER__API__LISTEN", "127.0.0.1:0");
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
