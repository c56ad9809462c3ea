//! `media.use_proxies`: the tools reach their sites through proxies, which are the simulator's.

use domain::task::role::Role;
use drover::stealth::Proxy;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use sim::media::MediaPlan;
use sim::{ProxyFault, Settings, Simulator};

use super::accounts::{has_tool, scrape_of};
use super::harness::MediaHarness;
use crate::handlers::test_sessions::proxies_of;

pub const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";
const USE_PROXIES: [(&str, &str); 1] = [("media.use_proxies", "true")];

/// A proxy that wants a login.
fn proxy(sim: &Simulator, protocol: sim::ProxyProtocol) -> Proxy {
    let is_wanted = |address: &sim::ProxyAddress| address.protocol == protocol && address.password.is_some();
    proxies_of(sim, is_wanted).remove(0)
}

fn connections(sim: &Simulator, proxy: &Proxy) -> u64 {
    sim.counts().proxies[usize::try_from(proxy.id).unwrap() - 1].connections
}

async fn harness(proxies: Vec<Proxy>) -> MediaHarness {
    let harness = MediaHarness::with_proxies(MediaPlan::default(), &USE_PROXIES, proxies).await;
    harness.add_account("alice", json!({})).await;
    harness
}

impl MediaHarness {
    /// An item of the page of a video, not downloaded; returns its id.
    pub async fn know_page(&self) -> i64 {
        let video = self.site.channel(CHANNEL).unwrap().videos.remove(0);
        let page = json!({
            "source": "site", "source_id": video.id, "kind": "page", "url": self.site.watch_address(&video.id), "metadata": {},
        });
        let tx = self.database.db.begin().await.unwrap();
        let ids = db::media::items::insert(&tx, &[serde_json::from_value(page).unwrap()]).await.unwrap();
        tx.commit().await.unwrap();
        ids[0]
    }
}

#[rstest]
#[case::http(sim::ProxyProtocol::Http)]
#[case::socks5(sim::ProxyProtocol::Socks5)]
#[tokio::test]
async fn a_scrape_goes_through_a_proxy_with_its_login(#[case] protocol: sim::ProxyProtocol) {
    if !has_tool() {
        return;
    }
    let sim = Simulator::start(Settings::default()).unwrap();
    let proxy = proxy(&sim, protocol);
    let harness = harness(vec![proxy.clone()]).await;
    harness.settle_task(scrape_of("alice", json!({}))).await;
    harness.assert_like(&harness.files_of_account("alice")).await;
    assert!(connections(&sim, &proxy) > 0);
}

#[rstest]
#[case::http(sim::ProxyProtocol::Http)]
#[case::socks5(sim::ProxyProtocol::Socks5)]
#[tokio::test]
async fn a_page_is_downloaded_through_a_proxy(#[case] protocol: sim::ProxyProtocol) {
    if !has_tool() {
        return;
    }
    let sim = Simulator::start(Settings::default()).unwrap();
    let proxy = proxy(&sim, protocol);
    let harness = harness(vec![proxy.clone()]).await;
    let id = harness.know_page().await;
    let downloaded = harness.settle(Role::DownloadMedia, json!({"media_ids": [id]})).await;
    assert_eq!(downloaded.result["downloaded"], 1, "{:?}", harness.items().await[0].last_error);
    assert!(connections(&sim, &proxy) > 0);
}

#[tokio::test]
async fn an_unreachable_proxy_is_the_reason_and_its_password_is_not_shown() {
    if !has_tool() {
        return;
    }
    let sim = Simulator::start(Settings::default()).unwrap();
    let proxy = proxy(&sim, sim::ProxyProtocol::Http);
    sim.set_proxy_fault(usize::try_from(proxy.id).unwrap() - 1, ProxyFault::Refuse);
    let harness = harness(vec![proxy.clone()]).await;
    let Err(TaskError::Retry { reason, .. }) = harness.run_task(scrape_of("alice", json!({}))).await else {
        panic!("it does not try again");
    };
    assert!(reason.to_lowercase().contains("proxy"), "{reason}");
    assert!(!reason.contains(&proxy.password.unwrap()), "{reason}");
}

#[tokio::test]
async fn a_scrape_waits_while_no_proxy_is_free() {
    let harness = harness(Vec::new()).await;
    let waiting = harness.run_task(scrape_of("alice", json!({}))).await;
    assert!(matches!(waiting, Err(TaskError::Snooze { .. })));
    assert!(harness.site.requests().is_empty());
}
