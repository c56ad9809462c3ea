//! Stores with faulty data: found by a look at all of them, listed, counted, and gone once they are
//! corrected.

use db::stores;
use db::stores::quality::FindingChange;
use rstest::rstest;
use serde_json::{Value, json};

use crate::api::server::Server;
use testkit::{Child, PATIENCE, drover};

/// Three stores, of which the first is crawled every four hours by `payload_fetch_all`.
async fn stores() -> Server {
    let server = Server::start().await;
    let sql = "
        INSERT INTO dispensaries (id, name, slug, platform, platform_dispensary_id, created_at, last_complete_at)
        VALUES (1, 'Leaf', 'leaf', 'dutchie', 'x', now() - interval '9 days', now());
        INSERT INTO task_schedules (name, role, interval_hours) VALUES ('each four hours', 'payload_fetch', 4);";
    server.database.raw.batch_execute(sql).await.unwrap();
    server
}

async fn look(server: &Server) -> Vec<FindingChange> {
    stores::quality::look(&server.database.db.client().await.unwrap()).await.unwrap()
}

fn refreshed(result: &str) -> String {
    format!(
        "INSERT INTO worker_tasks (role, dispensary_id, status, completed_at, result)
         VALUES ('product_refresh', 1, 'completed', clock_timestamp(), '{result}')"
    )
}

const CRAWLED_13_HOURS_AGO: &str = "UPDATE dispensaries SET last_complete_at = now() - interval '13 hours'";
const CRAWLED_11_HOURS_AGO: &str = "UPDATE dispensaries SET last_complete_at = now() - interval '11 hours'";
const SMALL_MENU: &str = "INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) VALUES (1, now(), 5)";
const EMPTY_MENU: &str = "INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) VALUES (1, now(), 0)";

#[rstest]
#[case::blind("blind_store", CRAWLED_13_HOURS_AGO.to_owned(), CRAWLED_11_HOURS_AGO.to_owned())]
#[case::never_crawled("blind_store", "UPDATE dispensaries SET last_complete_at = NULL".to_owned(), CRAWLED_11_HOURS_AGO.to_owned())]
#[case::halved("halved_menu", SMALL_MENU.to_owned(), "DELETE FROM suspicious_menus".to_owned())]
#[case::accepted("halved_menu", EMPTY_MENU.to_owned(), "UPDATE dispensaries SET empty_accepted_at = now()".to_owned())]
#[case::switched_off("halved_menu", SMALL_MENU.to_owned(), "UPDATE dispensaries SET crawl_enabled = false".to_owned())]
#[case::prices(
    "empty_prices",
    refreshed(r#"{"products": 20, "without_price": 5}"#),
    refreshed(r#"{"products": 20, "without_price": 4}"#)
)]
#[case::keys(
    "unknown_keys",
    refreshed(r#"{"products": 3, "unknown_keys": {"novelty": 2}}"#),
    refreshed(r#"{"products": 3}"#)
)]
#[tokio::test]
async fn a_fault_is_found_once_and_gone_when_it_is_mended(
    #[case] kind: &str,
    #[case] fault: String,
    #[case] mend: String,
) {
    let server = stores().await;
    server.database.raw.batch_execute(&fault).await.unwrap();
    let began = look(&server).await;
    assert_eq!(began.iter().map(|change| (change.kind.as_str(), change.begins)).collect::<Vec<_>>(), [(kind, true)]);
    assert_eq!(look(&server).await, [], "it is told once");
    let page = server.get("/api/quality").await.expect(200);
    let finding = &page["findings"][0];
    assert_eq!((&finding["kind"], &finding["dispensary_id"]), (&json!(kind), &json!(1)), "{page}");
    let count = page["counts"].as_array().unwrap().iter().find(|count| count["kind"] == kind).unwrap();
    assert_eq!(count["stores"], 1);

    server.database.raw.batch_execute(&mend).await.unwrap();
    let ended = look(&server).await;
    assert_eq!(ended.iter().map(|change| (change.kind.as_str(), change.begins)).collect::<Vec<_>>(), [(kind, false)]);
    let page = server.get("/api/quality").await.expect(200);
    assert_eq!(page["findings"], json!([]));
}

#[rstest]
#[case::crawled_in_time(CRAWLED_11_HOURS_AGO.to_owned())]
#[case::without_a_schedule(format!("DELETE FROM task_schedules; {CRAWLED_13_HOURS_AGO}"))]
#[case::switched_off(format!("{CRAWLED_13_HOURS_AGO}; UPDATE dispensaries SET crawl_enabled = false"))]
#[case::new("UPDATE dispensaries SET last_complete_at = NULL, created_at = now()".to_owned())]
#[case::an_empty_menu_of_a_store_that_was_never_crawled(
    format!("UPDATE dispensaries SET last_complete_at = NULL, created_at = now(); {EMPTY_MENU}")
)]
#[case::few_products(refreshed(r#"{"products": 19, "without_price": 19}"#))]
#[case::one_fifth(refreshed(r#"{"products": 100, "without_price": 20}"#))]
#[case::written_by_a_person(refreshed(r#"{"products": "many", "without_price": [1], "unknown_keys": 7}"#))]
#[case::of_an_older_payload(refreshed(r#"{"order": "older", "products": 20, "unknown_keys": {"novelty": 2}}"#))]
#[case::of_long_ago(refreshed(r#"{"products": 20, "without_price": 20}"#).replace("clock_timestamp()", "now() - interval '1 hour'"))]
#[tokio::test]
async fn nothing_is_found_where_all_is_well(#[case] change: String) {
    let server = stores().await;
    server.database.raw.batch_execute(&change).await.unwrap();
    assert_eq!(look(&server).await, []);
}

#[tokio::test]
async fn an_older_payload_ends_no_fault() {
    let server = stores().await;
    let newest = refreshed(r#"{"order": "newest", "products": 20, "without_price": 5}"#);
    server.database.raw.batch_execute(&newest).await.unwrap();
    assert_eq!(look(&server).await.len(), 1);
    let older = refreshed(r#"{"order": "older", "products": 20}"#);
    server.database.raw.batch_execute(&older).await.unwrap();
    assert_eq!(look(&server).await, []);
    let page = server.get("/api/quality").await.expect(200);
    assert_eq!(page["findings"][0]["kind"], "empty_prices");
}

#[tokio::test]
async fn findings_are_listed_by_filter_and_page() {
    let server = stores().await;
    let many = "
        INSERT INTO dispensaries (id, name, slug, platform, last_complete_at)
        SELECT n, 'S' || n, 's' || n, 'dutchie', now() FROM generate_series(2, 6) n;
        INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) SELECT n, now(), 5 FROM generate_series(2, 6) n";
    server.database.raw.batch_execute(&format!("{many}; {CRAWLED_13_HOURS_AGO}")).await.unwrap();
    assert_eq!(look(&server).await.len(), 6);
    let stores = |page: &Value| -> Vec<i64> {
        page["findings"].as_array().unwrap().iter().map(|finding| finding["dispensary_id"].as_i64().unwrap()).collect()
    };
    let first = server.get("/api/quality?kind=halved_menu&limit=3").await.expect(200);
    assert_eq!(stores(&first), [6, 5, 4]);
    let next = server
        .get(&format!("/api/quality?kind=halved_menu&limit=3&cursor={}", first["next_cursor"].as_str().unwrap()))
        .await
        .expect(200);
    assert_eq!((stores(&next), &next["next_cursor"]), (vec![3, 2], &Value::Null));
    assert_eq!(stores(&server.get("/api/quality?dispensary_id=1").await.expect(200)), [1]);
    assert_eq!(server.get("/api/quality?kind=ugly").await.problem(400)["field"], "kind");
}

/// One store for each kind of fault, and a fifth without any.
const ONE_FAULT_A_KIND: &str = "
    INSERT INTO dispensaries (id, name, slug, platform, platform_dispensary_id, created_at, last_complete_at)
    SELECT n, 'Store ' || n, 's' || n, 'dutchie', n::text, now() - interval '9 days', now() FROM generate_series(1, 5) n;
    INSERT INTO task_schedules (name, role, interval_hours) VALUES ('each four hours', 'payload_fetch', 4);
    UPDATE dispensaries SET last_complete_at = now() - interval '13 hours' WHERE id = 1;
    INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) VALUES (2, now(), 5);
    INSERT INTO worker_tasks (role, dispensary_id, status, completed_at, result)
    VALUES ('product_refresh', 3, 'completed', clock_timestamp(), '{\"products\": 20, \"without_price\": 5}'),
           ('product_refresh', 4, 'completed', clock_timestamp(), '{\"products\": 3, \"unknown_keys\": {\"novelty\": 2}}')";
const MEND: &str = "
    UPDATE dispensaries SET last_complete_at = now();
    DELETE FROM suspicious_menus;
    INSERT INTO worker_tasks (role, dispensary_id, status, completed_at, result)
    SELECT 'product_refresh', id, 'completed', clock_timestamp(), '{\"products\": 20}' FROM dispensaries;
    DELETE FROM queue_chores WHERE name = 'quality'";
const KINDS: [&str; 4] = ["blind_store", "halved_menu", "empty_prices", "unknown_keys"];

#[tokio::test]
async fn each_kind_of_fault_is_logged_and_counted_when_it_begins_and_when_it_ends() {
    let database = testkit::database().await;
    database.raw.batch_execute(ONE_FAULT_A_KIND).await.unwrap();
    let scheduler = scheduler(&database.url);
    for (kind, store) in KINDS.iter().zip(1..) {
        let line = scheduler.logged(&format!("({kind})"), PATIENCE).await;
        assert!(line.contains("\"level\":\"WARN\"") && line.contains(&format!("Store {store}: ")), "{line}");
        until_counted(&scheduler, kind, 1).await;
    }
    drop(scheduler);

    database.raw.batch_execute(MEND).await.unwrap();
    let scheduler = self::scheduler(&database.url);
    for (kind, store) in KINDS.iter().zip(1..) {
        scheduler.logged(&format!("Store {store} is free of {kind} again"), PATIENCE).await;
        until_counted(&scheduler, kind, 0).await;
    }
    let repeated: Vec<String> = scheduler
        .stderr()
        .into_iter()
        .filter(|line| KINDS.iter().any(|kind| line.contains(&format!("({kind})"))))
        .collect();
    assert_eq!(repeated, Vec::<String>::new());
}

#[tokio::test]
async fn where_all_is_well_no_fault_is_logged_or_counted() {
    let database = testkit::database().await;
    database.raw.batch_execute(&format!("{ONE_FAULT_A_KIND}; {MEND}")).await.unwrap();
    let scheduler = scheduler(&database.url);
    for kind in KINDS {
        until_counted(&scheduler, kind, 0).await;
    }
    let faults: Vec<String> = scheduler.stderr().into_iter().filter(|line| line.contains("Store ")).collect();
    assert_eq!(faults, Vec::<String>::new());
}

fn scheduler(url: &str) -> Child {
    Child::spawn(drover().arg("scheduler").env("DATABASE_URL", url).env("DROVER__PROBES__LISTEN", "127.0.0.1:0"))
}

/// Waits until the metric says how many stores have such a fault: it has no sample before the first check.
async fn until_counted(scheduler: &Child, kind: &str, stores: usize) {
    scheduler.until_sample(&format!("drover_quality_findings{{kind=\"{kind}\"}} {stores}")).await;
}
