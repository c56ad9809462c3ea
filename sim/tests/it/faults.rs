//! Each fault breaks exactly what its name says, for the requests it is meant for, as often as it is meant
//! to.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;
use sim::{Fault, FaultKind, Operation, Refusal, Settings, Simulator};

use crate::support::{Answer, PATIENCE, Way, get, graphql, menu_variables, send, small};

const RETRY: Option<Duration> = Some(Duration::from_secs(7));

async fn page(sim: &Simulator, page: usize) -> Result<Answer> {
    let store = &sim.stores()[0].platform_dispensary_id;
    graphql(sim, &Way::Direct, Operation::FilteredProducts, menu_variables(store, page, 50)).await
}

/// The answer to one request that meets `kind`, after which all is well again.
async fn once(kind: FaultKind) -> Result<Answer> {
    let sim = Simulator::start(small())?;
    sim.add_fault(Fault::new(kind).times(1));
    let answer = page(&sim, 0).await;
    let next = page(&sim, 0).await?;
    assert_eq!((next.status.as_u16(), next.products().len(), sim.counts().faults), (200, 50, 1));
    answer
}

#[tokio::test]
async fn refusals_have_their_status_and_form() {
    let cases = [
        (FaultKind::Blocked(Refusal::Forbidden), 403, "application/json"),
        (FaultKind::Blocked(Refusal::ChallengeForbidden), 403, "text/html"),
        (FaultKind::Blocked(Refusal::ChallengeOk), 200, "text/html"),
        (FaultKind::Throttled { retry_after: RETRY }, 429, "application/json"),
        (FaultKind::Unavailable { retry_after: RETRY }, 503, "application/json"),
        (FaultKind::ServerError(500), 500, "text/plain"),
    ];
    for (kind, status, content_type) in cases {
        let answer = once(kind.clone()).await.unwrap();
        assert_eq!(answer.status.as_u16(), status, "{kind:?}");
        assert!(answer.headers["content-type"].to_str().unwrap().starts_with(content_type), "{kind:?}");
    }
}

#[tokio::test]
async fn retry_after_is_in_seconds_or_absent() {
    let answer = once(FaultKind::Throttled { retry_after: RETRY }).await.unwrap();
    assert_eq!(answer.headers["retry-after"], "7");
    let answer = once(FaultKind::Throttled { retry_after: Some(Duration::from_millis(300)) }).await.unwrap();
    assert_eq!(answer.headers["retry-after"], "1");
    let answer = once(FaultKind::Throttled { retry_after: None }).await.unwrap();
    assert!(!answer.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn broken_bodies_cannot_be_read() {
    for kind in [FaultKind::Truncated, FaultKind::CutShort, FaultKind::Reset] {
        assert!(once(kind.clone()).await.is_err(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_hanging_origin_leaves_when_its_client_does() {
    let sim = Simulator::start(small()).unwrap();
    sim.add_fault(Fault::new(FaultKind::Hang));
    tokio::select! {
        _ = page(&sim, 0) => panic!("answered"),
        counts = sim.until(PATIENCE, |counts| counts.in_flight == 1) => assert_eq!(counts.unwrap().answered, 0),
    }
    sim.until(PATIENCE, |counts| counts.in_flight == 0).await.unwrap();
}

#[tokio::test]
async fn an_empty_first_page_is_full_the_next_time() {
    let sim = Simulator::start(small()).unwrap();
    sim.add_fault(Fault::new(FaultKind::EmptyPage).on_page(0).times(1));
    assert_eq!(page(&sim, 1).await.unwrap().products().len(), 50);
    let empty = page(&sim, 0).await.unwrap();
    assert_eq!((empty.status.as_u16(), empty.products().len()), (200, 0));
    assert!(page(&sim, 0).await.unwrap().products().len() >= 50);
}

#[tokio::test]
async fn an_empty_menu_announces_nothing() {
    let answer = once(FaultKind::EmptyMenu).await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.products().len(), answer.total()), (200, 0, 0));
}

#[tokio::test]
async fn unstable_ties_keep_the_size_of_pages_and_the_total_and_lose_a_product_at_each_border() {
    let sim = Simulator::start(Settings { products_per_store: 140..=140, ..small() }).unwrap();
    let total = page(&sim, 0).await.unwrap().total();
    sim.add_fault(Fault::new(FaultKind::LostToTies));
    let (mut rows, mut ids) = (0, HashSet::new());
    for number in 0..total.div_ceil(50) {
        let answer = page(&sim, number).await.unwrap();
        assert_eq!(answer.total(), total);
        rows += answer.products().len();
        ids.extend(answer.products().iter().map(|product| product["_id"].as_str().unwrap().to_owned()));
    }
    assert_eq!((rows, ids.len()), (total, total - (total.div_ceil(50) - 1)));
}

#[tokio::test]
async fn a_growing_total_grows_with_every_page() {
    let sim = Simulator::start(small()).unwrap();
    let truth = page(&sim, 0).await.unwrap().total();
    sim.add_fault(Fault::new(FaultKind::GrowingTotal));
    let totals = [page(&sim, 0).await.unwrap().total(), page(&sim, 1).await.unwrap().total()];
    assert_eq!(totals, [truth, truth + 50]);
}

#[tokio::test]
async fn a_fault_waits_for_a_request_that_can_show_it() {
    let sim = Simulator::start(small()).unwrap();
    sim.add_fault(Fault::new(FaultKind::EmptyPage).times(1));
    let store = &sim.stores()[0].platform_dispensary_id;
    let of_store = json!({ "dispensaryFilter": { "cNameOrID": store } });
    graphql(&sim, &Way::Direct, Operation::ConsumerDispensaries, of_store).await.unwrap();
    let stale = get(&sim, "/graphql", Operation::FilteredProducts, menu_variables(store, 0, 50), "f00d");
    assert!(send(&sim, &Way::Direct, stale).await.unwrap().error_code().is_some());
    assert_eq!(sim.counts().faults, 0);
    assert_eq!(page(&sim, 0).await.unwrap().products().len(), 0);
}

#[tokio::test]
async fn a_drifting_total_stays_within_half_a_percent_or_one() {
    let sim = Simulator::start(small()).unwrap();
    let truth = page(&sim, 0).await.unwrap().total();
    sim.add_fault(Fault::new(FaultKind::DriftingTotal));
    let totals = [page(&sim, 0).await.unwrap().total(), page(&sim, 1).await.unwrap().total()];
    let drift = (truth / 200).max(1);
    assert_eq!(totals, [truth + drift, truth - drift]);
}

#[tokio::test]
async fn graphql_errors_come_with_data_and_without() {
    let without = once(FaultKind::GraphqlErrors { with_data: false }).await.unwrap();
    assert_eq!(without.error_code().as_deref(), Some("INTERNAL_SERVER_ERROR"));
    assert!(without.json().get("data").is_none());
    let with = once(FaultKind::GraphqlErrors { with_data: true }).await.unwrap();
    assert_eq!((with.error_code().as_deref(), with.products().len()), (Some("INTERNAL_SERVER_ERROR"), 25));
}

#[tokio::test]
async fn an_unknown_dispensary_has_no_products() {
    let answer = once(FaultKind::UnknownDispensary).await.unwrap();
    assert_eq!((answer.products().len(), answer.total()), (0, 0));
}

#[tokio::test]
async fn a_fault_meets_only_whom_it_names() {
    let sim = Simulator::start(small()).unwrap();
    let other = sim.stores()[1].platform_dispensary_id.clone();
    let id = sim.add_fault(
        Fault::new(FaultKind::Blocked(Refusal::Forbidden)).at_store(&other).on_operation(Operation::FilteredProducts),
    );
    sim.add_fault(Fault::new(FaultKind::Blocked(Refusal::Forbidden)).on_path("/api-4/graphql"));
    assert_eq!(page(&sim, 0).await.unwrap().status, 200);
    let named = || graphql(&sim, &Way::Direct, Operation::FilteredProducts, menu_variables(&other, 0, 25));
    assert_eq!(named().await.unwrap().status, 403);
    sim.remove_fault(id);
    assert_eq!(named().await.unwrap().status, 200);
    assert_eq!(sim.counts().blocked, 1);
}
