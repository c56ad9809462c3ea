//! `GET /api/products/search`: products of all stores, by words as people type them, by filters alone,
//! sorted, page by page.

use std::time::Duration;

use db::products;
use serde_json::{Value, json};

use super::server::Server;
use testkit::typos::{Typo, typos};
use testkit::{NAMES, drover};

const LONG: Duration = Duration::from_secs(60);
const SEED: u64 = 7;
const TYPOS: i64 = 150;
const MIN_RECALL: f64 = 0.9;

/// Two stores in Arizona, one in Michigan; the ids of products say what they are.
const MARKET: &str = "
    INSERT INTO dispensaries (id, name, slug, city, state, platform_dispensary_id, last_payload_id) VALUES
      (1, 'North', 'north', 'Phoenix', 'AZ', 'north', 1), (2, 'South', 'south', 'Tucson', 'AZ', 'south', 1),
      (3, 'Lakes', 'lakes', 'Detroit', 'MI', 'lakes', 1);
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, price_rec,
                                special_price_rec, is_on_special, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
    SELECT id, store, 'dutchie', id::text, name, brand, category, price, special, special IS NOT NULL, false, in_stock, 'in_stock',
           now() - days * interval '1 day', now()
      FROM (VALUES (11, 1, 'Banjo Kush 3.5g', 'Granite', 'Flower', 3500, NULL, true, 5),
                   (12, 1, 'Citrus Edible Chews', 'Quiet Orchard', 'Edible', 2000, 1500, true, 1),
                   (21, 2, 'Sleepy Tincture 30ml', 'Granite Labs', 'Tincture', NULL, NULL, true, 3),
                   (22, 2, 'banjo kush 7g', NULL, 'Flower', 6000, NULL, false, 4),
                   (31, 3, 'Apple Fritter', 'Mesa', 'flower', 3000, NULL, true, 2))
           AS made(id, store, name, brand, category, price, special, in_stock, days);
    UPDATE store_products SET canonical_category = 'pre_roll' WHERE id = 31;
    INSERT INTO store_product_variants (store_product_id, option_label, nth, quantity_censored, is_in_stock, rec_per_g, med_per_g,
                                        rec_per_mg_thc, unit_basis)
    VALUES (11, '3.5g', 0, false, true, 1000000, NULL, 5000, 'weight'), (12, '100mg', 0, false, true, 900000, NULL, 20000, 'stated_thc'),
           (22, '7g', 0, false, false, NULL, 857143, NULL, 'weight'), (31, '28g', 0, false, false, 500000, NULL, NULL, 'weight'),
           (31, '1g', 0, false, true, 1200000, 1100000, NULL, 'from_name'), (31, '2g', 0, false, true, 1300000, NULL, NULL, 'weight'),
           (21, '30ml', 0, false, true, NULL, NULL, NULL, 'volume');";

impl Server {
    async fn with_market() -> Server {
        let server = Server::start().await;
        server.database.raw.batch_execute(MARKET).await.unwrap();
        server.copy_names().await;
        server
    }

    async fn copy_names(&self) {
        products::search::copy_names(&self.database.db, LONG).await.unwrap();
    }

    /// A crawl of all stores that sets prices.
    async fn reprice(&self, products: &[(i64, i32)]) {
        for (id, price) in products {
            let sql = format!("UPDATE store_products SET price_rec = {price}, updated_at = now() WHERE id = {id}");
            self.database.raw.batch_execute(&sql).await.unwrap();
            self.database
                .raw
                .batch_execute("UPDATE dispensaries SET last_payload_id = last_payload_id + 1")
                .await
                .unwrap();
            self.copy_names().await;
        }
    }

    async fn found(&self, query: &str) -> Value {
        self.get(&format!("/api/products/search?{query}")).await.expect(200)
    }

    async fn found_ids(&self, query: &str) -> Vec<i64> {
        ids(&self.found(query).await)
    }
}

fn ids(found: &Value) -> Vec<i64> {
    found["products"].as_array().unwrap().iter().map(|product| product["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn without_words_the_products_of_all_stores_are_browsed_by_name() {
    let server = Server::with_market().await;
    let found = server.found("").await;
    assert_eq!((ids(&found), &found["match"]), (vec![31, 11, 22, 12, 21], &Value::from("filters")));
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let server = Server::with_market().await;
    let cases: [(&str, &[i64]); 18] = [
        ("state=mi", &[31]),
        ("city=phoenix", &[11, 12]),
        ("city=phoenix&state=MI", &[]),
        ("store=2", &[22, 21]),
        ("store=4711", &[]),
        ("brand=granite", &[11, 21]),
        ("category=FLOWER", &[31, 11, 22]),
        ("category=Pre_Roll", &[31]),
        ("q=apple&category=pre_roll", &[31]),
        ("max_unit_price=999999", &[22]),
        ("max_unit_price=9000000000000000000", &[31, 11, 22]),
        ("max_price=3000", &[31, 12]),
        ("min_price=3500", &[11, 22]),
        ("in_stock=true", &[31, 11, 12, 21]),
        ("in_stock=false", &[22]),
        ("on_special=true", &[12]),
        ("state=AZ&category=flower&in_stock=true&max_price=4000", &[11]),
        ("q=kush&store=2", &[22]),
    ];
    for (query, expected) in cases {
        println!("{query}");
        assert_eq!(server.found_ids(query).await, expected);
    }
}

#[tokio::test]
async fn products_come_in_the_order_that_is_asked_for_and_page_by_page() {
    let server = Server::with_market().await;
    server.reprice(&[(22, 6100), (31, 3100)]).await;
    let cases: [(&str, &[i64]); 9] = [
        ("sort=name", &[31, 11, 22, 12, 21]),
        ("sort=price", &[12, 31, 11, 22, 21]),
        ("sort=price_desc", &[22, 11, 31, 12, 21]),
        ("sort=newest", &[12, 31, 21, 22, 11]),
        ("sort=price_change", &[31, 22, 11, 12, 21]),
        ("sort=unit_price", &[22, 11, 31, 12, 21]),
        ("q=banjo&sort=unit_price", &[22, 11]),
        ("q=banjo&sort=price_desc", &[22, 11]),
        ("state=AZ&sort=newest", &[12, 21, 22, 11]),
    ];
    for (query, expected) in cases {
        println!("{query}");
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = server.found(&format!("{query}&limit=2{cursor}")).await;
            seen.extend(ids(&page));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn a_product_has_the_prices_by_unit_of_its_cheapest_option_in_stock() {
    let server = Server::with_market().await;
    let found = server.found("q=apple").await;
    let product = &found["products"][0];
    let fields = ["rec_per_g", "med_per_g", "rec_per_mg_thc", "med_per_mg_thc", "unit_basis", "canonical_category"];
    let expected = json!([1_200_000, 1_100_000, null, null, "from_name", "pre_roll"]);
    assert_eq!(json!(fields.map(|field| &product[field])), expected);
    let volume = server.found("q=tincture").await;
    assert_eq!(json!(fields.map(|field| &volume["products"][0][field])), json!([null, null, null, null, null, null]));

    let of_store = server.get("/api/stores/1/products?sort=unit_price").await.expect(200);
    assert_eq!(ids(&of_store), [11, 12]);
    assert_eq!(
        (&of_store["products"][0]["rec_per_g"], &of_store["products"][1]["rec_per_mg_thc"]),
        (&json!(1_000_000), &json!(20_000))
    );

    let args = ["products", "search", "--sort", "unit_price", "--max-per-gram", "10"];
    let output = drover().env("DATABASE_URL", &server.database.url).args(args).output().await.unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines.len() == 3 && lines[1].contains("$8.57/g") && lines[2].contains("$10.00/g"), "{table}");
}

#[tokio::test]
async fn a_product_says_what_it_cost_before() {
    let server = Server::with_market().await;
    let before = |found: &Value| found["products"][0]["price_before"].clone();
    assert_eq!(before(&server.found("sort=price_change&store=3").await), Value::Null);
    server.reprice(&[(31, 3100)]).await;
    let found = server.found("sort=price_change&store=3").await;
    assert_eq!((before(&found), &found["products"][0]["price"]), (Value::from(3000), &Value::from(3100)));
    assert!(found["products"][0]["price_changed_at"].is_string());
}

#[tokio::test]
async fn products_whose_price_never_changed_come_after_those_that_show_their_change() {
    let server = Server::with_market().await;
    server.reprice(&[(22, 6100)]).await;
    let args = ["products", "search", "--sort", "price_change"];
    let output = drover().env("DATABASE_URL", &server.database.url).args(args).output().await.unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].ends_with("BEFORE  CHANGED"), "{table}");
    assert!(lines[1].starts_with("22 ") && lines[1].contains("60.00") && lines[1].contains("61.00"), "{table}");
    assert!(lines[2].starts_with("11 ") && lines[2].contains("never"), "{table}");
}

#[tokio::test]
async fn a_misspelled_word_finds_what_was_meant_with_and_without_trigrams() {
    let server = Server::with_market().await;
    let cases: [(&str, &[i64]); 8] = [
        ("kuhs", &[11, 22]),
        ("edibel", &[12]),
        ("bajno kush", &[11, 22]),
        ("tincure", &[21]),
        ("applle friter", &[31]),
        ("grenite tincture", &[21]),
        ("tincture", &[21]),
        ("chocolate", &[]),
    ];
    let drop_trigrams = "DROP EXTENSION pg_trgm CASCADE";
    for (has_trigrams, change) in [(true, ""), (false, drop_trigrams)] {
        server.database.raw.batch_execute(change).await.unwrap();
        for (q, expected) in cases {
            let found = server.found_ids(&format!("q={}&sort=name", q.replace(' ', "+"))).await;
            assert_eq!(found, expected, "{q}, with trigrams: {has_trigrams}");
        }
    }
}

#[tokio::test]
async fn nine_of_ten_typos_find_what_was_meant_within_the_first_ten() {
    let server = Server::start().await;
    let raw = &server.database.raw;
    raw.batch_execute(NAMES).await.unwrap();
    let products = "
        INSERT INTO dispensaries (id, name, slug, platform_dispensary_id, last_payload_id) VALUES (1, 'North', 'north', 'north', 1);
        INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, is_on_special,
                                    quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
        SELECT n, 1, 'dutchie', n::text, made.name, made.brand, false, false, true, 'in_stock', now(), now()
          FROM generate_series(1, 4000) n, made_name(n) made";
    raw.batch_execute(products).await.unwrap();
    server.copy_names().await;
    let names = raw
        .query("SELECT concat_ws(' ', brand_name_raw, name_raw) FROM store_products WHERE id <= $1", &[&TYPOS])
        .await;
    let names: Vec<String> = names.unwrap().iter().map(|row| row.get(0)).collect();
    let mut missed = Vec::new();
    for typo in typos(names.iter().map(String::as_str), SEED) {
        if !finds(&server, &typo).await {
            missed.push(typo);
        }
    }
    let recall = 1.0 - missed.len() as f64 / names.len() as f64;
    assert!(recall >= MIN_RECALL, "{recall} of {}; missed: {missed:?}", names.len());
}

async fn finds(server: &Server, typo: &Typo) -> bool {
    let found = server.found(&format!("q={}&limit=10", typo.typed.replace(' ', "+"))).await;
    let products = found["products"].as_array().unwrap();
    products.iter().any(|product| {
        let brand = product["brand"].as_str().unwrap_or_default();
        typo.means(&format!("{brand} {}", product["name"].as_str().unwrap_or_default()))
    })
}
