//! An origin that breaks HTTP and content codings: its answer is requested again or refused, never parsed as
//! something else, and leaves no payload unless it is a whole menu.

use std::sync::Mutex;
use std::time::Duration;

use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use sim::{CodingFault, Fault, FaultKind, ProxyProtocol, Settings, Simulator, Transmission};

use super::harness::HandlerHarness;
use super::simulated::{become_store, crawl, expected, records};
use super::test_sessions;

const PAGES: u64 = 3;

const AT_ONCE: usize = 4;

/// A store of three pages, reached through proxies that pass bytes on as they come.
async fn world(rotations: u32) -> (Simulator, HandlerHarness) {
    let settings = Settings {
        stores: 1,
        products_per_store: 260..=260,
        proxies: 6,
        blocked_proxies: 0,
        client_timeout: Duration::from_secs(8),
        ..Settings::default()
    };
    let sim = Simulator::start(settings).unwrap();
    let mut config = test_sessions::test_config(sim.base_url());
    // some faults are waited out; a good answer comes within them, on a busy machine too
    config.http.first_byte_timeout = Duration::from_secs(3);
    config.http.idle_timeout = Duration::from_secs(3);
    config.http.whole_timeout = Duration::from_secs(6);
    config.proxies.rotations_per_request = rotations;
    let passing_bytes_on = test_sessions::proxies_of(&sim, |proxy| proxy.protocol == ProxyProtocol::Socks5);
    let harness = HandlerHarness::configured(&config, passing_bytes_on).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    (sim, harness)
}

async fn payloads(harness: &HandlerHarness) -> (i64, usize) {
    let rows = harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await;
    (rows, harness.files())
}

#[test]
fn a_page_that_breaks_http_once_costs_at_most_one_request_and_no_product() {
    for_each(Transmission::ALL, async |how| {
        let (sim, harness) = world(3).await;
        sim.add_fault(Fault::new(FaultKind::Sent(how)).on_page(1).times(1));

        crawl(&harness).await;

        assert_eq!(records(&harness).await, expected(&sim, 1), "{how:?}");
        assert_eq!(payloads(&harness).await, (1, 1), "{how:?}");
        let (counts, further) = (sim.counts(), u64::from(!how.is_whole_answer()));
        assert_eq!((counts.faults, counts.filtered_products), (1, PAGES + further), "{how:?}");
        assert_eq!((counts.trusted_broken, counts.direct_connections), (0, 0), "{how:?}");
    });
}

#[test]
fn a_page_that_always_breaks_http_leaves_nothing() {
    for_each(Transmission::ALL.into_iter().filter(|how| !how.is_whole_answer()), async |how| {
        let (sim, harness) = world(1).await;
        sim.add_fault(Fault::new(FaultKind::Sent(how)).on_page(1));

        let ended = harness.run(Role::PayloadFetch, json!({})).await;

        let is_put_off = matches!(ended, Err(TaskError::Retry { .. } | TaskError::Snooze { .. }));
        assert!(is_put_off, "{how:?}: {:?}", ended.err());
        assert_eq!(payloads(&harness).await, (0, 0), "{how:?}");
        // two tries; the first of them on a kept connection, which is replaced once
        let counts = sim.counts();
        assert!((2..=3).contains(&counts.faults) && counts.trusted_broken == 0, "{how:?}: {counts:?}");
    });
}

/// The connection breaks after the request was sent: a kept one may have been closed before, and is opened
/// again; a new one was not.
#[rstest]
#[case::once(1, 0)]
#[case::twice(2, 1)]
#[tokio::test]
async fn a_kept_connection_that_breaks_is_replaced_once_and_is_no_try(#[case] resets: u64, #[case] further_tries: u64) {
    let (sim, harness) = world(3).await;
    sim.add_fault(Fault::new(FaultKind::Reset).on_page(1).times(resets));
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let context = harness.context(&task);

    drover::handlers::run(&context, task.role, &task.payload, None).await.unwrap();

    assert_eq!(sim.counts().filtered_products, PAGES + resets);
    assert_eq!(context.run_trace().detail()["requests"], PAGES + further_tries);
}

#[test]
fn a_coding_that_is_a_lie_is_never_read_as_a_menu() {
    for_each(CodingFault::ALL.into_iter().filter(|fault| !fault.is_readable()), async |lie| {
        let (sim, harness) = world(1).await;
        let fault = sim.add_fault(Fault::new(FaultKind::Coded(lie)).on_page(1));
        let ended = harness.run(Role::PayloadFetch, json!({})).await;
        assert!(matches!(ended, Err(TaskError::Retry { .. })), "{lie:?}: {:?}", ended.err());
        assert_eq!(payloads(&harness).await, (0, 0), "{lie:?}");

        sim.remove_fault(fault);
        crawl(&harness).await;
        assert_eq!(records(&harness).await, expected(&sim, 1), "{lie:?}");
        assert_eq!(payloads(&harness).await, (1, 1), "{lie:?}");
    });
}

#[test]
fn a_coding_that_browsers_read_is_read() {
    for_each(CodingFault::READABLE, async |fault| {
        let (sim, harness) = world(1).await;
        sim.add_fault(Fault::new(FaultKind::Coded(fault)).on_page(1));
        crawl(&harness).await;
        assert_eq!(records(&harness).await, expected(&sim, 1), "{fault:?}");
        assert_eq!(payloads(&harness).await, (1, 1), "{fault:?}");
    });
}

/// Each in a world and a thread of its own, a few at a time: most of them only wait.
fn for_each<T: Send>(faults: impl IntoIterator<Item = T, IntoIter: Send>, test: impl AsyncFn(T) + Sync) {
    let faults = Mutex::new(faults.into_iter());
    let next = || faults.lock().unwrap().next();
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        while let Some(fault) = next() {
            runtime.block_on(test(fault));
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
}
