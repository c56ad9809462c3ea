//! The proxies: they forward, ask for credentials, and show the faults that are switched on.

use std::time::Duration;

use serde_json::json;
use sim::{Operation, ProxyAddress, ProxyFault, ProxyProtocol, Refusal, Settings, Simulator};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{PATIENCE, Way, graphql, menu_variables, small};

const HTTP: usize = 0;
const SOCKS: usize = 1;

async fn fetch(sim: &Simulator, way: &Way) -> anyhow::Result<u16> {
    let store = &sim.stores()[0].platform_dispensary_id;
    let answer = graphql(sim, way, Operation::FilteredProducts, menu_variables(store, 0, 25)).await?;
    Ok(answer.status.as_u16())
}

fn through(sim: &Simulator, proxy: usize) -> Way {
    Way::Through(sim.proxies()[proxy].clone())
}

#[tokio::test]
async fn every_proxy_forwards_and_nothing_counts_as_direct() {
    let sim = Simulator::start(small()).unwrap();
    for (index, proxy) in sim.proxies().into_iter().enumerate() {
        assert_eq!(fetch(&sim, &Way::Through(proxy)).await.unwrap(), 200);
        assert_eq!(sim.counts().proxies[index].requests, 1);
    }
    assert_eq!(fetch(&sim, &Way::Tunnel(sim.proxies()[HTTP].clone())).await.unwrap(), 200);
    let counts = sim.counts();
    assert_eq!(
        (counts.requests, counts.direct, counts.direct_connections, counts.proxies[HTTP].requests),
        (4, 0, 0, 2)
    );
}

#[tokio::test]
async fn a_request_past_the_proxies_counts_as_direct() {
    let sim = Simulator::start(small()).unwrap();
    assert_eq!(fetch(&sim, &Way::Direct).await.unwrap(), 200);
    let counts = sim.counts();
    assert_eq!((counts.direct, counts.direct_connections), (1, 1));
}

#[tokio::test]
async fn wrong_credentials_are_refused() {
    let sim = Simulator::start(small()).unwrap();
    let wrong = |proxy: ProxyAddress| ProxyAddress { password: Some("guess".to_owned()), ..proxy };
    let way = Way::Through(wrong(sim.proxies()[HTTP].clone()));
    assert_eq!(fetch(&sim, &way).await.unwrap(), 407);
    let way = Way::Tunnel(wrong(sim.proxies()[HTTP].clone()));
    assert!(fetch(&sim, &way).await.unwrap_err().to_string().contains("407"));
    let way = Way::Through(wrong(sim.proxies()[SOCKS].clone()));
    assert!(fetch(&sim, &way).await.unwrap_err().to_string().contains("login refused"));
    assert_eq!(sim.counts().requests, 0);
}

#[tokio::test]
async fn a_refusing_proxy_does_not_listen_until_it_is_healed() {
    let sim = Simulator::start(small()).unwrap();
    for proxy in [HTTP, SOCKS] {
        let port = sim.proxies()[proxy].port;
        sim.set_proxy_fault(proxy, ProxyFault::Refuse);
        until_connecting(port, false).await;
        sim.set_proxy_fault(proxy, ProxyFault::None);
        until_connecting(port, true).await;
        assert_eq!(fetch(&sim, &through(&sim, proxy)).await.unwrap(), 200);
    }
}

async fn until_connecting(port: u16, wanted: bool) {
    let attempt = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_ok() != wanted {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, attempt).await.unwrap();
}

#[tokio::test]
async fn a_hanging_proxy_answers_once_it_is_healed() {
    let sim = Simulator::start(small()).unwrap();
    for proxy in [HTTP, SOCKS] {
        sim.set_proxy_fault(proxy, ProxyFault::Hang);
        let way = through(&sim, proxy);
        let (answer, ()) = tokio::join!(fetch(&sim, &way), async {
            sim.until(PATIENCE, |counts| counts.proxies[proxy].connections == 1).await.unwrap();
            assert_eq!(sim.counts().proxies[proxy].requests, 0);
            sim.set_proxy_fault(proxy, ProxyFault::None);
        });
        assert_eq!(answer.unwrap(), 200);
    }
}

#[tokio::test]
async fn http_proxies_answer_407_and_502_on_demand() {
    let sim = Simulator::start(small()).unwrap();
    for (fault, status) in [(ProxyFault::AuthRequired, 407), (ProxyFault::BadGateway, 502)] {
        sim.set_proxy_fault(HTTP, fault);
        assert_eq!(fetch(&sim, &through(&sim, HTTP)).await.unwrap(), status);
        let tunnel = Way::Tunnel(sim.proxies()[HTTP].clone());
        assert!(fetch(&sim, &tunnel).await.unwrap_err().to_string().contains(&status.to_string()));
    }
    assert_eq!(sim.counts().proxies[HTTP].refused, 4);
}

#[tokio::test]
async fn socks_proxies_refuse_login_and_fail_on_demand() {
    let sim = Simulator::start(small()).unwrap();
    for (fault, message) in [(ProxyFault::AuthRequired, "login refused"), (ProxyFault::BadGateway, "socks reply 1")] {
        sim.set_proxy_fault(SOCKS, fault);
        let error = fetch(&sim, &through(&sim, SOCKS)).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[tokio::test]
async fn the_origin_refuses_what_comes_through_a_disliked_proxy_only() {
    let sim = Simulator::start(small()).unwrap();
    let refusals = [
        (ProxyFault::Blocked(Refusal::Forbidden), 403),
        (ProxyFault::Blocked(Refusal::ChallengeForbidden), 403),
        (ProxyFault::Blocked(Refusal::ChallengeOk), 200),
    ];
    for (fault, status) in refusals {
        sim.set_proxy_fault(SOCKS, fault);
        let variables = menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25);
        let answer = graphql(&sim, &through(&sim, SOCKS), Operation::FilteredProducts, variables).await.unwrap();
        assert_eq!(answer.status.as_u16(), status);
        assert_eq!(answer.body.starts_with(b"<!DOCTYPE html>"), fault != ProxyFault::Blocked(Refusal::Forbidden));
        assert_eq!(fetch(&sim, &through(&sim, HTTP)).await.unwrap(), 200);
    }
    assert_eq!(sim.counts().proxies[SOCKS].blocked, 3);
}

#[tokio::test]
async fn a_blocked_proxy_works_until_the_origin_has_seen_enough_of_it() {
    let sim = Simulator::start(Settings { blocked_proxies: 1, block_after: 2, ..small() }).unwrap();
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(fetch(&sim, &through(&sim, 0)).await.unwrap());
    }
    assert_eq!(seen, [200, 200, 403, 403]);
    assert_eq!(fetch(&sim, &through(&sim, 1)).await.unwrap(), 200);
}

#[tokio::test]
async fn a_blocked_proxy_that_is_healed_works_for_good() {
    let sim = Simulator::start(Settings { blocked_proxies: 1, block_after: 0, ..small() }).unwrap();
    assert_eq!(fetch(&sim, &through(&sim, 0)).await.unwrap(), 403);
    sim.set_proxy_fault(0, ProxyFault::None);
    for _ in 0..2 {
        assert_eq!(fetch(&sim, &through(&sim, 0)).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn blocked_proxies_meet_every_kind_of_refusal() {
    let sim =
        Simulator::start(Settings { stores: 1, blocked_proxies: 3, block_after: 0, ..Settings::default() }).unwrap();
    let mut seen = Vec::new();
    for proxy in 0..4 {
        let variables = menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25);
        let answer = graphql(&sim, &through(&sim, proxy), Operation::FilteredProducts, variables).await.unwrap();
        seen.push((answer.status.as_u16(), answer.body.starts_with(b"<!DOCTYPE html>")));
    }
    assert_eq!(seen, [(403, true), (200, true), (403, false), (200, false)]);
}

#[tokio::test]
async fn socks_and_http_proxies_come_with_a_login_and_without() {
    let sim = Simulator::start(Settings { proxies: 8, ..small() }).unwrap();
    let mut kinds: Vec<_> = sim.proxies().iter().map(|proxy| (proxy.protocol, proxy.username.is_some())).collect();
    kinds.dedup();
    for kind in [ProxyProtocol::Http, ProxyProtocol::Socks5].into_iter().flat_map(|kind| [(kind, true), (kind, false)])
    {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    let open = sim.proxies().iter().position(|p| p.protocol == ProxyProtocol::Socks5 && p.username.is_none()).unwrap();
    assert_eq!(fetch(&sim, &through(&sim, open)).await.unwrap(), 200);
}

#[tokio::test]
async fn an_address_that_was_looked_up_past_a_socks_proxy_is_refused() {
    let sim = Simulator::start(Settings { proxies: 8, ..small() }).unwrap();
    let open = sim.proxies().into_iter().find(|p| p.protocol == ProxyProtocol::Socks5 && p.username.is_none()).unwrap();
    let mut stream = TcpStream::connect((open.host.as_str(), open.port)).await.unwrap();
    stream.write_all(&[5, 1, 0, 5, 1, 0, 1, 203, 0, 113, 7, 0, 80]).await.unwrap();
    let mut answer = [0; 4];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, [5, 0, 5, 2]);
}

#[tokio::test]
async fn a_client_that_says_nothing_is_hung_up_on() {
    let sim = Simulator::start(Settings { client_timeout: Duration::from_millis(50), ..small() }).unwrap();
    let origin = sim.base_url().trim_start_matches("http://").to_owned();
    let proxies = [HTTP, SOCKS].map(|proxy| format!("127.0.0.1:{}", sim.proxies()[proxy].port));
    for address in proxies.into_iter().chain([origin]) {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let ended = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 1])).await;
        assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{address}: {ended:?}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_this_machine_leads_to_the_origin() {
    let sim = Simulator::start(small()).unwrap();
    let mut request = crate::support::get(
        &sim,
        "/graphql",
        Operation::ConsumerDispensaries,
        json!({ "dispensaryFilter": { "cNameOrID": sim.stores()[0].slug } }),
        sim::history(Operation::ConsumerDispensaries)[0],
    );
    let path = request.uri().path_and_query().unwrap().to_string();
    *request.uri_mut() = format!("http://menus.example{path}").parse().unwrap();
    let answer = crate::support::send(&sim, &through(&sim, HTTP), request).await.unwrap();
    assert_eq!(answer.json()["data"]["filteredDispensaries"][0]["id"], sim.stores()[0].platform_dispensary_id.as_str());
}

#[tokio::test]
async fn a_restarted_world_keeps_its_ports() {
    let first = Simulator::start(small()).unwrap();
    let port = first.base_url().rsplit(':').next().unwrap().parse().unwrap();
    let proxy_ports: Vec<u16> = first.proxies().iter().map(|proxy| proxy.port).collect();
    assert_eq!(fetch(&first, &through(&first, HTTP)).await.unwrap(), 200);
    drop(first);
    let second = Simulator::start(Settings { port, proxy_ports: proxy_ports.clone(), ..small() }).unwrap();
    assert_eq!(second.proxies().iter().map(|proxy| proxy.port).collect::<Vec<_>>(), proxy_ports);
    assert_eq!(fetch(&second, &through(&second, SOCKS)).await.unwrap(), 200);
}

#[tokio::test]
async fn passwords_are_not_shown() {
    let sim = Simulator::start(small()).unwrap();
    let shown = format!("{:?}", sim.proxies());
    assert!(!shown.contains("p@ss") && sim.proxies()[HTTP].protocol == ProxyProtocol::Http);
}

#[tokio::test]
async fn a_late_proxy_works_and_brings_answers_later() {
    const LATENESS: Duration = Duration::from_millis(60);
    let sim = Simulator::start(small()).unwrap();
    for proxy in [HTTP, SOCKS] {
        sim.set_proxy_fault(proxy, ProxyFault::Late(LATENESS));
        let started = std::time::Instant::now();
        assert_eq!(fetch(&sim, &through(&sim, proxy)).await.unwrap(), 200);
        assert!(started.elapsed() >= LATENESS);
    }
    let started = std::time::Instant::now();
    assert_eq!(fetch(&sim, &Way::Tunnel(sim.proxies()[HTTP].clone())).await.unwrap(), 200);
    assert!(started.elapsed() >= LATENESS);
}
