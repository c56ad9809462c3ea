//! `product_refresh`: which payload it reads, and what it refuses.

use drover::domain::role::Role;
use drover::handlers::{Outcome, TaskError};
use rstest::rstest;
use serde_json::{Value, json};

use super::desk::{Desk, page};
use super::shelf::at;

async fn refusal(desk: &Desk, payload: Value) -> String {
    match desk.run(Role::ProductRefresh, payload).await {
        Err(TaskError::Permanent { why }) => why,
        Err(other) => panic!("not permanent: {other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[tokio::test]
async fn without_an_id_the_stores_latest_payload_is_refreshed() {
    let desk = Desk::new().await;
    let latest = desk.payload(at(2), &[&page(&["new"])]).await;
    desk.payload(at(1), &[&page(&["old"])]).await;

    let settled = desk.settle(Role::ProductRefresh, json!({})).await;

    assert_eq!(settled.result["payload_id"], latest.id);
    assert_eq!((&settled.result["new"], &settled.result["snapshots"]), (&json!(1), &json!(1)));
    assert!(desk.shelf.row("new").await.is_some());
    assert!(settled.next.is_empty());
}

#[tokio::test]
async fn any_payload_may_be_replayed_by_its_id() {
    let desk = Desk::new().await;
    let old = desk.payload(at(1), &[&page(&["a"])]).await;
    desk.payload(at(2), &[&page(&["a"])]).await;
    desk.settle(Role::ProductRefresh, json!({})).await;

    let settled = desk.settle(Role::ProductRefresh, json!({ "payload_id": old.id })).await;

    assert_eq!((&settled.result["new"], &settled.result["snapshots"]), (&json!(0), &json!(1)));
    assert_eq!(desk.shelf.snapshots(&old).await, 1);
}

#[tokio::test]
async fn pages_that_overlap_make_one_product() {
    let desk = Desk::new().await;
    desk.payload(at(1), &[&page(&["a", "b"]), &page(&["b", "c"])]).await;
    assert_eq!(desk.settle(Role::ProductRefresh, json!({})).await.result["products"], 3);
}

#[tokio::test]
async fn a_store_without_payloads_is_a_permanent_error() {
    let desk = Desk::new().await;
    assert!(refusal(&desk, json!({})).await.starts_with("no_payload: "));
    assert!(refusal(&desk, json!({ "payload_id": 999 })).await.starts_with("no_payload: "));
}

#[tokio::test]
async fn another_stores_payload_is_refused() {
    let desk = Desk::new().await;
    let other = desk.shelf.beside("Another Store").await.payload(1, 1, 1.0).await;
    assert!(refusal(&desk, json!({ "payload_id": other.id })).await.starts_with("no_payload: "));
}

#[rstest]
#[case::changed(Some("not what was written"), "is damaged")]
#[case::gone(None, "is not there")]
#[tokio::test]
async fn a_bad_file_is_a_permanent_error(#[case] content: Option<&str>, #[case] says: &str) {
    let desk = Desk::new().await;
    let payload = desk.payload(at(1), &[&page(&["a"])]).await;
    let file = desk.storage.path().join(&payload.storage_path);
    match content {
        Some(text) => std::fs::write(file, text).unwrap(),
        None => std::fs::remove_file(file).unwrap(),
    }
    let why = refusal(&desk, json!({})).await;
    assert!(why.contains(says) && why.contains(&payload.storage_path), "{why}");
}

#[tokio::test]
async fn a_payload_that_is_no_menu_is_a_permanent_error() {
    let desk = Desk::new().await;
    desk.payload(at(1), &["{}"]).await;
    assert!(refusal(&desk, json!({})).await.contains("is no menu page"));
}

#[rstest]
#[case(Role::ProductRefresh)]
#[case(Role::PayloadFetch)]
#[case(Role::ProductDiscovery)]
#[case(Role::EntryPointDiscovery)]
#[tokio::test]
async fn a_task_of_a_disabled_store_is_cancelled(#[case] role: Role) {
    let desk = Desk::new().await;
    desk.payload(at(1), &[&page(&["a"])]).await;
    desk.shelf.database.raw.batch_execute("UPDATE dispensaries SET crawl_enabled = false").await.unwrap();

    let Ok(Outcome::Cancel { reason }) = desk.run(role, json!({})).await else { panic!("it was not cancelled") };
    assert_eq!(reason, format!("dispensary {} is disabled", desk.store()));
}

#[tokio::test]
async fn a_store_without_a_platform_id_is_not_fetched() {
    let desk = Desk::new().await;
    desk.shelf.database.raw.batch_execute("UPDATE dispensaries SET platform_dispensary_id = NULL").await.unwrap();
    let Ok(Outcome::Cancel { reason }) = desk.run(Role::PayloadFetch, json!({})).await else { panic!("not cancelled") };
    assert_eq!(reason, format!("dispensary {} has no platform id yet", desk.store()));
}

#[rstest]
#[case(Role::PayloadFetch)]
#[case(Role::ProductDiscovery)]
#[case(Role::EntryPointDiscovery)]
#[case(Role::StoreDiscovery)]
#[tokio::test]
async fn without_a_proxy_nobody_is_asked_and_the_task_waits(#[case] role: Role) {
    let desk = Desk::new().await;
    assert!(matches!(desk.run(role, json!({})).await, Err(TaskError::Snooze { .. })));
}

#[tokio::test]
async fn a_wrong_payload_of_the_task_is_a_permanent_error() {
    let desk = Desk::new().await;
    assert!(refusal(&desk, json!({ "payload": 1 })).await.contains("payload"));
}

#[tokio::test]
async fn analytics_see_what_a_refresh_wrote() {
    let desk = Desk::new().await;
    desk.payload(at(1), &[&page(&["a", "b"])]).await;
    desk.settle(Role::ProductRefresh, json!({})).await;

    let settled = desk.settle(Role::AnalyticsRefresh, json!({})).await;

    assert_eq!(settled.result["views"], json!(["mv_store_summary"]));
    assert_eq!(desk.shelf.count("SELECT sum(products)::bigint FROM mv_store_summary").await, 2);
}
