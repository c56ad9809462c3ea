//! An origin that breaks HTTP and content codings: what it sends is asked for again or refused, never parsed as something it is not,
//! and leaves no payload unless it is a whole menu.

use std::time::Duration;

use drover::domain::role::Role;
use drover::handlers::TaskError;
use rstest::rstest;
use serde_json::json;
use sim::Transmission::{self, *};
use sim::{CodingFault, Fault, FaultKind, ProxyProtocol, Settings, Simulator};

use super::harness::HandlerHarness;
use super::simulated::{become_store, crawl, expected, records};
use super::test_sessions;

const PAGES: u64 = 3;

/// A store of three pages, reached through proxies that pass bytes on as they come.
async fn world(rotations: u32) -> (Simulator, HandlerHarness) {
    let settings = Settings {
        stores: 1,
        products_per_store: 260..=260,
        proxies: 6,
        blocked_proxies: 0,
        client_timeout: Duration::from_secs(5),
        ..Settings::default()
    };
    let sim = Simulator::start(settings).unwrap();
    let mut config = test_sessions::test_config(sim.base_url());
    config.http.first_byte_timeout = Duration::from_secs(2);
    config.http.idle_timeout = Duration::from_secs(2);
    config.http.whole_timeout = Duration::from_secs(4);
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

/// `further`: requests beyond one a page.
#[rstest]
#[case::a_head_that_drips(SlowHead, 1)]
#[case::a_body_that_drips(SlowBody, 1)]
#[case::a_body_that_stalls(Stalled, 1)]
#[case::a_length_that_is_too_short(ShortLength, 1)]
#[case::a_chunk_without_a_size(BrokenChunks, 1)]
#[case::chunks_without_an_end(UnendedChunks, 1)]
#[case::a_huge_head(HugeHead, 1)]
#[case::a_head_of_many_fields(ManyFields, 1)]
#[case::another_protocol(Garbage, 1)]
#[case::two_lengths(TwoLengths, 1)]
#[case::no_content(Status { status: 204, with_body: false }, 1)]
#[case::no_content_with_a_body(Status { status: 204, with_body: true }, 1)]
#[case::reset_content(Status { status: 205, with_body: false }, 1)]
#[case::reset_content_with_a_body(Status { status: 205, with_body: true }, 1)]
#[case::partial_content(Status { status: 206, with_body: false }, 1)]
#[case::partial_content_with_a_body(Status { status: 206, with_body: true }, 1)]
#[case::not_modified(Status { status: 304, with_body: false }, 1)]
#[case::not_modified_with_a_body(Status { status: 304, with_body: true }, 1)]
#[case::from_somebody_else(Status { status: 203, with_body: true }, 1)]
// whole answers, by rules that HTTP has for them
#[case::a_length_beside_chunks(LengthAndChunks, 0)]
#[case::a_second_answer_that_nobody_asked_for(UnaskedAnswer, 0)]
#[case::a_kept_connection_that_ends(ThenClosed, 0)]
#[tokio::test]
async fn a_page_that_breaks_http_once_costs_at_most_one_request_and_no_product(
    #[case] how: Transmission,
    #[case] further: u64,
) {
    let (sim, harness) = world(3).await;
    sim.add_fault(Fault::new(FaultKind::Sent(how)).on_page(1).times(1));

    crawl(&harness).await;

    assert_eq!(records(&harness).await, expected(&sim, 1));
    assert_eq!(payloads(&harness).await, (1, 1));
    let counts = sim.counts();
    assert_eq!((counts.faults, counts.filtered_products), (1, PAGES + further));
    assert_eq!((counts.trusted_broken, counts.direct_connections), (0, 0));
}

#[rstest]
#[tokio::test]
async fn a_page_that_always_breaks_http_leaves_nothing(
    #[values(
        SlowHead,
        SlowBody,
        Stalled,
        ShortLength,
        BrokenChunks,
        UnendedChunks,
        HugeHead,
        ManyFields,
        Garbage,
        TwoLengths,
        Status { status: 204, with_body: true },
        Status { status: 205, with_body: true },
        Status { status: 206, with_body: true },
        Status { status: 304, with_body: true }
    )]
    how: Transmission,
) {
    let (sim, harness) = world(1).await;
    sim.add_fault(Fault::new(FaultKind::Sent(how)).on_page(1));

    let ended = harness.run(Role::PayloadFetch, json!({})).await;

    assert!(matches!(ended, Err(TaskError::Retry { .. } | TaskError::Snooze { .. })), "{:?}", ended.err());
    assert_eq!(payloads(&harness).await, (0, 0));
    // two tries; the first of them on a kept connection, which is replaced once
    let counts = sim.counts();
    assert!((2..=3).contains(&counts.faults) && counts.trusted_broken == 0, "{counts:?}");
}

/// The connection breaks after the request was sent: a kept one may have been closed before, and is opened again; a new one was not.
#[rstest]
#[case::once(1, 0)]
#[case::twice(2, 1)]
#[tokio::test]
async fn a_kept_connection_that_breaks_is_replaced_once_and_is_no_try(#[case] resets: u64, #[case] further_tries: u64) {
    let (sim, harness) = world(3).await;
    sim.add_fault(Fault::new(FaultKind::Reset).on_page(1).times(resets));
    let task = harness.task(Role::PayloadFetch, json!({})).await;
    let context = harness.context(&task);

    drover::handlers::run(&context, task.role, &task.payload).await.unwrap();

    assert_eq!(sim.counts().filtered_products, PAGES + resets);
    assert_eq!(context.run_trace().detail()["requests"], PAGES + further_tries);
}

#[rstest]
#[tokio::test]
async fn a_coding_that_is_a_lie_is_never_read_as_a_menu(
    #[values(
        CodingFault::NamedOnly,
        CodingFault::Unnamed,
        CodingFault::Misnamed,
        CodingFault::Doubled,
        CodingFault::DoubledUnnamed,
        CodingFault::Corrupt,
        CodingFault::Truncated,
        CodingFault::Trailing,
        CodingFault::Unheard
    )]
    lie: CodingFault,
) {
    let (sim, harness) = world(1).await;
    let fault = sim.add_fault(Fault::new(FaultKind::Coded(lie)).on_page(1));
    let ended = harness.run(Role::PayloadFetch, json!({})).await;
    assert!(matches!(ended, Err(TaskError::Retry { .. })), "{:?}", ended.err());
    assert_eq!(payloads(&harness).await, (0, 0));

    sim.remove_fault(fault);
    crawl(&harness).await;
    assert_eq!(records(&harness).await, expected(&sim, 1));
    assert_eq!(payloads(&harness).await, (1, 1));
}
