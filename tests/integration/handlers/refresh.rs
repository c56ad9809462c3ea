//! `product_refresh`: the payload it reads, and its refusals.

use chrono::TimeDelta;
use domain::task::role::Role;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::{Value, json};

use super::harness::HandlerHarness;
use super::product_fields::FIELDS;
use super::test_store::{TestStore, at, product};
use testkit::page;

async fn refusal(harness: &HandlerHarness, payload: Value) -> String {
    match harness.run(Role::ProductRefresh, payload).await {
        Err(TaskError::Permanent { reason }) => reason,
        Err(other) => panic!("not permanent: {other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[tokio::test]
async fn without_an_id_the_stores_latest_payload_is_refreshed() {
    let harness = HandlerHarness::new().await;
    let latest = harness.payload(at(2), &[&page(&["new"])]).await;
    harness.payload(at(1), &[&page(&["old"])]).await;

    let settled = harness.settle(Role::ProductRefresh, json!({})).await;

    assert_eq!(settled.result["payload_id"], latest.id);
    assert_eq!((&settled.result["new"], &settled.result["snapshots"]), (&json!(1), &json!(1)));
    assert!(harness.store.row("new").await.is_some());
    assert!(settled.next.is_empty());
}

#[tokio::test]
async fn a_payload_from_the_future_is_kept_as_one_of_now() {
    let harness = HandlerHarness::new().await;
    let ahead = harness.payload(at(0) + TimeDelta::days(2), &[&page(&["a"])]).await;
    let of_now =
        format!("SELECT count(*) FROM raw_crawl_payloads WHERE id = {} AND fetched_at <= clock_timestamp()", ahead.id);
    assert_eq!(harness.store.count(&of_now).await, 1, "it would be its store's newest until then");
}

#[tokio::test]
async fn any_payload_may_be_replayed_by_its_id() {
    let harness = HandlerHarness::new().await;
    let old = harness.payload(at(1), &[&page(&["a"])]).await;
    harness.payload(at(2), &[&page(&["a"])]).await;
    harness.settle(Role::ProductRefresh, json!({})).await;

    let settled = harness.settle(Role::ProductRefresh, json!({ "payload_id": old.id })).await;

    assert_eq!((&settled.result["new"], &settled.result["snapshots"]), (&json!(0), &json!(1)));
    assert_eq!(harness.store.snapshots(&old).await, 1);
}

#[rstest]
#[case::under_its_root("/storage/")]
#[case::with_a_slash("/")]
#[tokio::test]
async fn a_payload_is_read_by_the_path_that_the_older_system_wrote(#[case] root: &str) {
    let harness = HandlerHarness::new().await;
    let payload = harness.payload(at(1), &[&page(&["a"])]).await;
    let sql = format!("UPDATE raw_crawl_payloads SET storage_path = '{root}' || storage_path");
    harness.store.database.raw.batch_execute(&sql).await.unwrap();
    let settled = harness.settle(Role::ProductRefresh, json!({ "payload_id": payload.id })).await;
    assert_eq!(settled.result["new"], 1);
}

#[tokio::test]
async fn products_without_any_price_are_counted() {
    let store = TestStore::new().await;
    let mut without = product("a");
    without.price_rec = None;
    without.variants.clear();
    let mut by_option = product("b");
    by_option.price_rec = None;
    let counts = store.crawl(0, vec![without, by_option, product("c")]).await;
    assert_eq!((counts.products, counts.without_price), (3, 1));
}

#[tokio::test]
async fn pages_that_overlap_make_one_product() {
    let harness = HandlerHarness::new().await;
    harness.payload(at(1), &[&page(&["a", "b"]), &page(&["b", "c"])]).await;
    assert_eq!(harness.settle(Role::ProductRefresh, json!({})).await.result["products"], 3);
}

#[tokio::test]
async fn a_store_without_payloads_is_a_permanent_error() {
    let harness = HandlerHarness::new().await;
    assert!(refusal(&harness, json!({})).await.starts_with("no_payload: "));
    assert!(refusal(&harness, json!({ "payload_id": 999 })).await.starts_with("no_payload: "));
}

#[tokio::test]
async fn another_stores_payload_is_refused() {
    let harness = HandlerHarness::new().await;
    let other = harness.store.beside("Another Store").await.payload(1, 1, 1.0).await;
    assert!(refusal(&harness, json!({ "payload_id": other.id })).await.starts_with("no_payload: "));
}

#[tokio::test]
async fn a_payload_that_is_no_menu_is_a_permanent_error() {
    let harness = HandlerHarness::new().await;
    harness.payload(at(1), &["{}"]).await;
    assert!(refusal(&harness, json!({})).await.contains("is not a menu page"));
}

#[rstest]
#[case(Role::ProductRefresh)]
#[case(Role::PayloadFetch)]
#[case(Role::ProductDiscovery)]
#[case(Role::EntryPointDiscovery)]
#[tokio::test]
async fn a_task_of_a_disabled_store_is_cancelled(#[case] role: Role) {
    let harness = HandlerHarness::new().await;
    harness.payload(at(1), &[&page(&["a"])]).await;
    harness.store.database.raw.batch_execute("UPDATE dispensaries SET crawl_enabled = false").await.unwrap();

    let Ok(Outcome::Cancel { reason }) = harness.run(role, json!({})).await else { panic!("it was not cancelled") };
    assert_eq!(reason, format!("store {} is disabled", harness.store.id));
}

#[tokio::test]
async fn a_store_without_a_platform_id_is_not_fetched() {
    let harness = HandlerHarness::new().await;
    harness.store.database.raw.batch_execute("UPDATE dispensaries SET platform_dispensary_id = NULL").await.unwrap();
    let Ok(Outcome::Cancel { reason }) = harness.run(Role::PayloadFetch, json!({})).await else {
        panic!("not cancelled")
    };
    assert!(reason.starts_with(&format!("store {} has no platform id yet", harness.store.id)), "{reason}");
}

#[rstest]
#[case(Role::PayloadFetch)]
#[case(Role::ProductDiscovery)]
#[case(Role::EntryPointDiscovery)]
#[case(Role::StoreDiscovery)]
#[tokio::test]
async fn without_a_proxy_nobody_is_asked_and_the_task_waits(#[case] role: Role) {
    let harness = HandlerHarness::new().await;
    assert!(matches!(harness.run(role, json!({})).await, Err(TaskError::Snooze { .. })));
}

#[tokio::test]
async fn a_wrong_payload_of_the_task_is_a_permanent_error() {
    let harness = HandlerHarness::new().await;
    assert!(refusal(&harness, json!({ "payload": 1 })).await.contains("payload"));
}

#[tokio::test]
async fn analytics_see_what_a_refresh_wrote() {
    let harness = HandlerHarness::new().await;
    harness.payload(at(1), &[&page(&["a", "b"])]).await;
    harness.settle(Role::ProductRefresh, json!({})).await;

    let settled = harness.settle(Role::AnalyticsRefresh, json!({})).await;

    let views = ["mv_store_summary", "mv_brand_presence", "mv_category_mix", "mv_price_trend"];
    assert_eq!(settled.result["views"], json!(views));
    assert_eq!(harness.store.count("SELECT sum(products)::bigint FROM mv_store_summary").await, 2);
}

/// Values that no field should have, as JSON texts.
fn odd_values() -> Vec<String> {
    let mut values: Vec<String> = [
        "true",
        "-1",
        "0",
        "[]",
        "{}",
        "[[]]",
        "[null]",
        "[{}]",
        "1e308",
        "-1e308",
        "1e-320",
        "9223372036854775807",
        "-0.0",
        r#""1e400""#,
        r#""-300000000000000""#,
        r#""9999999999999999999""#,
        r#""0001-01-01T00:00:00Z""#,
        r#""NaN""#,
        r#""+262000-01-01T00:00:00Z""#,
        r#""\u0000""#,
        r#""a\u0000b""#,
        r#""\ud800""#,
        r#""\u202e\ufffe""#,
        "[1e308, -1e308]",
        r#"["1/8oz", "1/8oz", "\u0000"]"#,
        r#"["0.000001mg", "999999999kg", "999999999l"]"#,
        r#"{"unit": "PERCENTAGE", "range": [1e308, 1e-308]}"#,
        r#"{"children": [{"option": "1g", "quantity": 1e300}]}"#,
        r#"{"netWeight": {"unit": "MILLIGRAMS", "values": [1e300]}}"#,
        r#"{"name": "\u0000", "imageUrl": 7}"#,
        r#"{"saleSpecials": [{"a\u0000b": "\u0000", "c": 1e308}]}"#,
        r#"[{"option": "1g", "inventory": -1e300}]"#,
    ]
    .map(str::to_owned)
    .into();
    values.push(json!("x".repeat(5000)).to_string());
    values.push(json!("\u{1d54f}".repeat(3000)).to_string());
    values.push(json!(vec!["1g"; 250]).to_string());
    values
}

#[tokio::test]
async fn no_value_in_any_field_fails_a_refresh_or_changes_from_crawl_to_crawl() {
    let values = odd_values();
    let odd = FIELDS.iter().flat_map(|field| values.iter().map(move |value| format!(r#""{field}": {value}"#)));
    let odd: Vec<String> = odd.enumerate().map(|(n, field)| format!(r#"{{"_id": "p{n}", {field}}}"#)).collect();
    let pages = odd.chunks(300).map(|items| {
        format!(r#"{{"data": {{"filteredProducts": {{"products": [{}], "queryInfo": {{}}}}}}}}"#, items.join(","))
    });
    let pages: Vec<String> = pages.collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let harness = HandlerHarness::new().await;
    for (second, counted) in [(1, "new"), (2, "unchanged")] {
        harness.payload(at(second), &pages).await;
        let refreshed = harness.settle(Role::ProductRefresh, json!({})).await;
        assert_eq!(refreshed.result[counted], odd.len(), "{:?}", refreshed.result);
    }
}

#[tokio::test]
async fn a_private_host_that_a_store_brings_is_never_asked() {
    let harness = HandlerHarness::new().await;
    let sql = "UPDATE dispensaries SET api_host = '169.254.169.254'";
    harness.store.database.raw.batch_execute(sql).await.unwrap();
    let Err(TaskError::Permanent { reason }) = harness.run(Role::PayloadFetch, json!({})).await else {
        panic!("it was not refused")
    };
    assert!(reason.contains("169.254.169.254 must not be contacted"), "{reason}");
}
