//! Crawled data by HTTP: payloads and their data, stores, products, analytics.

use std::io::Read;

use bytes::Bytes;
use domain::payload::PageQuestion;
use domain::retention::RetentionKind;
use domain::store::Platform;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};
use storage::{PageBytes, PayloadContent, PayloadHead, Payloads};

use super::server::{Answer, Server};
use testkit::page;

/// A store with payloads of these menus, an hour apart; their ids.
pub async fn crawled(server: &Server, menus: &[&[&str]]) -> (i64, Vec<i64>) {
    let store = server.add_store("a-shop").await;
    let client = server.database.db.client().await.unwrap();
    let files = Payloads::new(server.storage.path(), db::schema::installation::storage_owner(&client).await.unwrap());
    let mut ids = Vec::new();
    for (hour, menu) in menus.iter().enumerate() {
        let head = PayloadHead {
            platform: Platform::Dutchie,
            dispensary_id: store,
            platform_dispensary_id: "some id".to_owned(),
            fetched_at: format!("2025-11-17T0{hour}:00:00Z").parse().unwrap(),
            total_count: menu.len(),
        };
        let question = PageQuestion { operation: "FilteredProducts".to_owned(), cursor: Value::Null };
        let page = PageBytes { bytes: Bytes::from(page(menu)), is_gzip: false, question };
        let fetched_at = head.fetched_at;
        let file = files.write(PayloadContent { head, pages: vec![page] }).await.unwrap();
        let sql = "INSERT INTO raw_crawl_payloads (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
                   VALUES ($1, 'dutchie', $2, $3, $4, $5, $5, 1, $6) RETURNING id";
        let (bytes, count) = (file.bytes as i64, menu.len() as i32);
        let (path, sha256) = (&file.storage_path, &file.sha256);
        let row = server.database.raw.query_one(sql, &[&store, path, sha256, &bytes, &count, &fetched_at]).await;
        ids.push(row.unwrap().get(0));
    }
    (store, ids)
}

async fn get_with(server: &Server, path: &str, header: (&str, &str)) -> Answer {
    let request = server.request(Method::GET, path).header(header.0, header.1);
    server.send(request.body(Full::default()).unwrap()).await
}

fn only_member(bytes: &[u8]) -> Value {
    let mut member = GzDecoder::new(bytes);
    let mut text = String::new();
    member.read_to_string(&mut text).unwrap();
    assert!(member.into_inner().is_empty(), "HTTP clients read one member");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn payloads_are_listed_page_by_page() {
    let server = Server::start().await;
    let (store, ids) = crawled(&server, &[&["a"], &["a", "b"], &["b"]]).await;
    let mut path = "/api/payloads?limit=2".to_owned();
    let first = server.get(&path).await;
    assert!(first.headers["link"].to_str().unwrap().contains("rel=\"next\""));
    let first = first.expect(200);
    path = format!("{path}&cursor={}", first["next_cursor"].as_str().unwrap());
    let second = server.get(&path).await.expect(200);
    let seen = [&first, &second].map(|page| page["payloads"].as_array().unwrap().clone()).concat();
    let seen: Vec<i64> = seen.iter().map(|payload| payload["id"].as_i64().unwrap()).collect();
    assert_eq!((seen, &second["next_cursor"]), (vec![ids[2], ids[1], ids[0]], &Value::Null));

    let of_store = server.get(&format!("/api/payloads/store/{store}?to=2025-11-17T01:30:00Z")).await.expect(200);
    assert_eq!(of_store["payloads"].as_array().unwrap().len(), 2);
    let shown = server.get(&format!("/api/payloads/{}", ids[1])).await.expect(200);
    assert_eq!((&shown["product_count"], &shown["dispensary_name"]), (&json!(2), &json!("a-shop")));
    server.get("/api/payloads/4711").await.problem(404);
}

#[tokio::test]
async fn data_comes_as_json_as_one_gzip_member_or_as_the_file() {
    let server = Server::start().await;
    let (_, ids) = crawled(&server, &[&["a"]]).await;
    let path = format!("/api/payloads/{}/data", ids[0]);
    let plain = server.get(&path).await;
    assert_eq!(
        (plain.headers.get("content-encoding"), &plain.headers["content-type"]),
        (None, &"application/json".parse().unwrap())
    );
    let document = plain.expect(200);
    assert_eq!(document["pages"][0]["data"]["filteredProducts"]["products"][0]["_id"], "a");

    let coded = get_with(&server, &path, ("accept-encoding", "br, gzip")).await;
    assert_eq!(coded.headers["content-encoding"], "gzip");
    assert_eq!(only_member(&coded.body), document);

    let raw = server.get(&format!("{path}?raw=1")).await;
    assert_eq!(
        (&raw.headers["content-type"], &raw.headers["content-length"]),
        (&"application/gzip".parse().unwrap(), &raw.body.len().into())
    );
    let mut text = String::new();
    MultiGzDecoder::new(raw.body.as_ref()).read_to_string(&mut text).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
}

#[tokio::test]
async fn data_that_the_client_has_is_not_sent_again() {
    let server = Server::start().await;
    let (_, ids) = crawled(&server, &[&["a"]]).await;
    let path = format!("/api/payloads/{}/data", ids[0]);
    let tag = server.get(&path).await.headers["etag"].clone();
    let again = get_with(&server, &path, ("if-none-match", tag.to_str().unwrap())).await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let other = server.get(&format!("{path}?raw=1")).await;
    assert_ne!(other.headers["etag"], tag, "another form is another answer");
    assert!(other.headers["cache-control"].to_str().unwrap().contains("immutable"));
}

#[tokio::test]
async fn the_latest_payload_comes_with_its_data() {
    let server = Server::start().await;
    let (store, ids) = crawled(&server, &[&["a"], &["b"]]).await;
    let path = format!("/api/payloads/store/{store}/latest");
    let latest = server.get(&path).await.expect(200);
    assert_eq!(latest["payload"]["id"], ids[1]);
    assert_eq!(latest["data"]["pages"][0]["data"]["filteredProducts"]["products"][0]["_id"], "b");
    let coded = get_with(&server, &path, ("accept-encoding", "gzip")).await;
    assert_eq!(only_member(&coded.body), latest);
    server.get("/api/payloads/store/4711/latest").await.problem(404);
}

#[tokio::test]
async fn the_last_two_payloads_are_compared() {
    let server = Server::start().await;
    let (store, ids) = crawled(&server, &[&["a"], &["a", "b"], &["b", "c"]]).await;
    let path = format!("/api/payloads/store/{store}/diff");
    let diff = server.get(&path).await.expect(200);
    assert_eq!(
        (&diff["success"], &diff["from"]["id"], &diff["to"]["id"]),
        (&json!(true), &json!(ids[1]), &json!(ids[2]))
    );
    assert_eq!((&diff["diff"]["added"], &diff["diff"]["removed"]), (&json!(1), &json!(1)));
    assert_eq!(diff["details"]["added"][0]["id"], "c");
    let named = server.get(&format!("{path}?from={}&to={}", ids[0], ids[1])).await.expect(200);
    assert_eq!((&named["diff"]["added"], &named["diff"]["removed"]), (&json!(1), &json!(0)));
    server.get(&format!("{path}?from=4711")).await.problem(404);
    server.get("/api/payloads/store/4711/diff").await.problem(404);
}

/// A store that sells two products, one of them with options; its id and theirs.
pub async fn selling(server: &Server) -> (i64, Vec<i64>) {
    let store = server.add_store("a-shop").await;
    let sql = format!(
        "UPDATE dispensaries SET state = 'AZ', groups = '{{rivals}}', last_payload_id = 1, last_crawl_at = now();
         INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, price_rec,
                                     is_on_special, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
         SELECT {store}, 'dutchie', n::text, 'Blue Ledger ' || n, 'Granite', 'Flower', 1000 * n, false, false, true, 'in_stock', now(), now()
           FROM generate_series(1, 2) n;
         INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity_censored, is_in_stock)
         SELECT min(id), '1g', 0, 1000, false, true FROM store_products;
         INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, price_rec, is_on_special, quantity_censored, is_in_stock, stock_status)
         SELECT min(id), n, now() - n * interval '1 hour', 1000 + n, false, false, true, 'in_stock' FROM store_products, generate_series(1, 3) n GROUP BY n;
         INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, quantity_censored, is_in_stock, gone)
         SELECT min(id), '1g', 0, 1, now() - interval '1 hour', 1000, false, true, false FROM store_products;"
    );
    server.database.raw.batch_execute(&sql).await.unwrap();
    db::analytics::refresh::refresh(&server.database.db).await.unwrap();
    let ids = server.database.raw.query("SELECT id FROM store_products ORDER BY id", &[]).await.unwrap();
    (store, ids.iter().map(|row| row.get(0)).collect())
}

#[tokio::test]
async fn a_store_is_shown_switched_off_and_audited() {
    let server = Server::start().await;
    let (store, _) = selling(&server).await;
    let path = format!("/api/stores/{store}");
    assert_eq!(server.get(&path).await.expect(200)["products"], 2);
    let put = async |path: &str, body: Value| {
        let request = server.request(Method::PUT, path).header("content-type", "application/json");
        server.send(request.body(Full::from(body.to_string())).unwrap()).await
    };
    assert_eq!(put(&path, json!({"crawl_enabled": false})).await.expect(200)["crawl_enabled"], false);
    assert_eq!(server.get("/api/stores?crawl_enabled=false&state=az").await.expect(200)["stores"][0]["id"], store);
    assert_eq!(server.get("/api/stores?crawl_enabled=true").await.expect(200)["stores"], json!([]));
    let audit = server.get("/api/audit").await.text();
    assert!(audit.contains("stores.set"), "{audit}");
    put("/api/stores/4711", json!({"crawl_enabled": false})).await.problem(404);
    put(&path, json!({"crawl_enabled": "no"})).await.problem(400);
    put(&path, json!({})).await.problem(400);
}

#[tokio::test]
async fn a_consumer_sees_stores_and_products_and_not_how_they_are_crawled() {
    let server = Server::start().await;
    let (store, ids) = selling(&server).await;
    let token = server.token("consumer").await;
    let get = async |path: &str| server.call(Method::GET, path, &token, None).await;
    for shown in [
        get(&format!("/api/stores/{store}")).await.expect(200),
        get("/api/stores").await.expect(200)["stores"][0].clone(),
    ] {
        let internals = ["platform_dispensary_id", "last_payload_id", "last_coverage", "disabled_reason"];
        assert!(internals.iter().all(|name| shown[name].is_null()) && shown["groups"] == json!([]), "{shown}");
        assert_eq!(shown["products"], 2);
    }
    get(&format!("/api/stores/{store}/products")).await.expect(200);
    get(&format!("/api/products/{}/history", ids[0])).await.expect(200);
    get("/api/products/search?q=blue").await.expect(200);
    get("/api/payloads").await.problem(403);
    get("/api/analytics/store-summary").await.problem(403);
}

#[tokio::test]
async fn what_a_store_sells_is_sorted_and_paged() {
    let server = Server::start().await;
    let (store, ids) = selling(&server).await;
    let path = format!("/api/stores/{store}/products?sort=price_desc&limit=1");
    let first = server.get(&path).await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.get(&format!("{path}&cursor={cursor}")).await.expect(200);
    let seen = [&first, &second].map(|page| page["products"][0]["id"].as_i64().unwrap());
    assert_eq!((seen, &second["next_cursor"]), ([ids[1], ids[0]], &Value::Null));
    server.get("/api/stores/4711/products").await.problem(404);
}

#[tokio::test]
async fn a_product_is_found_shown_and_followed() {
    let server = Server::start().await;
    let (_, ids) = selling(&server).await;
    let found = server.get("/api/products/search?q=blue+ledg&state=az&in_stock=true&limit=1").await.expect(200);
    assert_eq!((&found["match"], &found["forgives_spelling"]), (&json!("words"), &json!(true)));
    let cursor = found["next_cursor"].as_str().unwrap();
    let second =
        server.get(&format!("/api/products/search?q=blue+ledg&state=az&in_stock=true&limit=1&cursor={cursor}")).await;
    assert_ne!(second.expect(200)["products"][0]["id"], found["products"][0]["id"]);
    let alike = server.get("/api/products/search?q=blue+ledgr").await.expect(200);
    assert_eq!((&alike["match"], alike["products"].as_array().unwrap().len()), (&json!("corrected"), 2));

    let shown = server.get(&format!("/api/products/{}", ids[0])).await.expect(200);
    assert_eq!((&shown["name"], &shown["options"][0]["option_label"]), (&json!("Blue Ledger 1"), &json!("1g")));
    server.get("/api/products/4711").await.problem(404);

    let path = format!("/api/products/{}/history", ids[0]);
    let history = server.get(&format!("{path}?option=1g")).await.expect(200);
    let prices: Vec<_> = history["points"].as_array().unwrap().iter().map(|point| point["price_rec"].clone()).collect();
    assert_eq!(prices, [1003, 1002, 1001]);
    assert_eq!(history["option"]["points"][0]["price_rec"], 1000);
    assert_eq!(server.get(&format!("{path}?points=2")).await.expect(200)["points"].as_array().unwrap().len(), 2);
    server.get("/api/products/4711/history").await.problem(404);
}

#[tokio::test]
async fn analytics_say_as_of_when_they_are() {
    let server = Server::start().await;
    let empty = server.get("/api/analytics/brand-presence").await.expect(200);
    assert_eq!(empty, json!({"brands": [], "next_cursor": null, "as_of": null}));
    let (store, _) = selling(&server).await;
    for (view, list) in [
        ("store-summary", "stores"),
        ("brand-presence", "brands"),
        ("category-mix", "categories"),
        ("price-trend", "days"),
    ] {
        let answer =
            server.get(&format!("/api/analytics/{view}?state=AZ&store={store}&brand=granite")).await.expect(200);
        assert!(answer["as_of"].is_string(), "{answer}");
        assert_eq!(answer[list].as_array().unwrap().len(), usize::from(view != "price-trend"), "{answer}");
    }
    let brands = server.get("/api/analytics/brand-presence").await.expect(200);
    assert_eq!((&brands["brands"][0]["brand"], &brands["brands"][0]["price_avg"]), (&json!("Granite"), &json!(1500)));
}

#[tokio::test]
async fn a_time_that_ends_before_it_begins_is_refused() {
    let server = Server::start().await;
    let (_, ids) = selling(&server).await;
    let path = format!("/api/products/{}/history?from=2025-11-17T02:00:00Z&to=2025-11-17T01:00:00Z", ids[0]);
    assert_eq!(server.get(&path).await.problem(400)["field"], "from");
}

#[tokio::test]
async fn retention_tells_its_ages_and_what_its_latest_runs_removed() {
    let server = Server::start().await;
    let client = server.database.db.client().await.unwrap();
    for removed in [7, 3] {
        db::retention_runs::note(&client, RetentionKind::EndedWork, removed).await.unwrap();
    }
    let retention = server.get("/api/retention").await.expect(200);
    let runs = retention["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["kind"], &runs[0]["removed"]), (1, &json!("ended_work"), &json!(3)));
}
