//! Rules of changes: which changes are notified, how often, and that each is notified once.

use std::time::Duration;

use db::changes::{publisher, rules};
use domain::menu::product::{Product, Variant};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rstest::rstest;
use serde_json::{Value, json};

use super::deliveries::verify_with_the_reference_library;
use super::tools::{SECRET, json_of};
use crate::api::server::Server;
use crate::handlers::test_store::{TestStore, product, variant};
use crate::media::harness::MediaHarness;
use testkit::drover;

const AN_HOUR_LATER: &str = "UPDATE change_rules SET digested_at = digested_at - interval '1 hour'";

fn at_price(id: &str, price: i32) -> Product {
    Product { variants: vec![variant("1g", 0, price)], ..product(id) }
}

/// A store with a baseline of two products, and a rule with the id 1 that has these fields, too.
async fn watched(fields: &str, values: &str) -> TestStore {
    let store = TestStore::new().await;
    store.crawl(0, vec![at_price("a", 1000), at_price("b", 2000)]).await;
    let rule = format!(
        "INSERT INTO notification_endpoints (id, name, kind, target) VALUES (1, 'phone', 'ntfy', 'https://ntfy.example/a');
         INSERT INTO change_rules (id, name, endpoint_id, kinds {fields}) VALUES (1, 'drops', 1, '{{price_drop}}' {values})"
    );
    publisher::publish(&store.database.db).await.unwrap();
    store.database.raw.batch_execute(&rule).await.unwrap();
    store
}

impl TestStore {
    async fn drop_prices(&self, second: i64, prices: [i32; 2]) {
        self.crawl(second, vec![at_price("a", prices[0]), at_price("b", prices[1])]).await;
    }

    async fn follow(&self) {
        publisher::publish(&self.database.db).await.unwrap();
        let due = rules::due(&self.database.db.client().await.unwrap()).await.unwrap();
        for rule in due {
            rules::follow(&self.database.db, rule).await.unwrap();
        }
    }

    /// The words of the changes of each notification.
    async fn notified(&self) -> Vec<Vec<String>> {
        self.follow().await;
        let rows = self.database.raw.query("SELECT body FROM notifications ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| words(&row.get(0))).collect()
    }

    async fn sql(&self, sql: &str) {
        self.database.raw.batch_execute(sql).await.unwrap();
    }
}

fn words(body: &Value) -> Vec<String> {
    let changes = body["changes"].as_array().unwrap().iter();
    changes.map(|change| change["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_crawl_has_one_message_with_the_changes_that_the_rule_asks_for() {
    let store = watched(", min_percent", ", 10").await;
    store.drop_prices(1, [800, 1900]).await;
    assert_eq!(store.notified().await, [["Product a (Brand) 1g: $10.00 to $8.00 (-20 %)"]]);
    store.drop_prices(2, [700, 1000]).await;
    store.drop_prices(3, [800, 1100]).await;
    let more = store.notified().await;
    assert_eq!((more.len(), more[1].len()), (2, 2), "{more:?}");
    let made = "SELECT count(*) FROM worker_tasks WHERE role = 'notify' AND ready";
    assert_eq!(store.count(made).await, 1);
    let row = store.database.raw.query_one("SELECT event, body FROM notifications WHERE id = 1", &[]).await.unwrap();
    let (event, body): (String, Value) = (row.get(0), row.get(1));
    assert_eq!((event.as_str(), &body["rule"]), ("products.changed", &json!({"id": 1, "name": "drops"})));
    assert_eq!((&body["count"], &body["is_cut"]), (&json!(1), &json!(false)));
}

#[rstest]
#[case::another_kind("", "", "UPDATE change_rules SET kinds = '{gone,new}'", 0)]
#[case::another_state(", state", ", 'MI'", "SELECT", 0)]
#[case::its_state(", state", ", 'AZ'", "SELECT", 2)]
#[case::another_group(", group_name", ", 'rivals'", "SELECT", 0)]
#[case::its_group(", group_name", ", 'rivals'", "UPDATE dispensaries SET groups = '{rivals}'", 2)]
#[case::its_brand(", brand, category", ", 'BRAND', 'flower'", "SELECT", 2)]
#[case::another_brand(", brand", ", 'Bran'", "SELECT", 0)]
#[case::one_product(", product_id", ", (SELECT min(id) FROM store_products)", "SELECT", 1)]
#[case::by_two_dollars(", min_cents", ", 200", "SELECT", 2)]
#[case::by_more_than_two_dollars(", min_cents", ", 201", "SELECT", 1)]
#[case::to_eight_dollars(", max_price", ", 800", "SELECT", 1)]
#[case::to_eight_dollars_a_gram(", max_unit_price", ", 800000", "SELECT", 1)]
#[tokio::test]
async fn each_filter_leaves_the_changes_that_it_names(
    #[case] fields: &str,
    #[case] values: &str,
    #[case] change: &str,
    #[case] expected: usize,
) {
    let store = watched(fields, values).await;
    store.sql(change).await;
    store.drop_prices(1, [800, 1500]).await;
    assert_eq!(store.notified().await.concat().len(), expected);
}

#[tokio::test]
async fn a_quiet_rule_notifies_of_a_product_once_in_a_while() {
    let store = watched(", quiet_minutes", ", 60").await;
    store.drop_prices(1, [900, 2000]).await;
    assert_eq!(store.notified().await.len(), 1);
    store.drop_prices(2, [800, 1900]).await;
    let words = store.notified().await;
    assert_eq!(words[1], ["Product b (Brand) 1g: $20.00 to $19.00 (-5 %)"], "of a it was told just now");
    store.sql("UPDATE change_rule_products SET notified_at = notified_at - interval '1 hour'").await;
    store.drop_prices(3, [700, 1800]).await;
    assert_eq!(store.notified().await[2].len(), 2);
    store.sql("UPDATE change_rule_products SET notified_at = notified_at - interval '2 hours'").await;
    assert_eq!(rules::prune(&store.database.db.client().await.unwrap(), 10).await.unwrap(), 2);
}

#[tokio::test]
async fn a_digest_sends_the_first_change_at_once_and_the_largest_of_the_others_first() {
    let store = watched(", digest", ", 'hourly'").await;
    store.drop_prices(1, [900, 2000]).await;
    assert_eq!(store.notified().await.len(), 1);
    store.drop_prices(2, [850, 1000]).await;
    store.drop_prices(3, [800, 1000]).await;
    assert_eq!(store.notified().await.len(), 1, "the next one is due in an hour");
    store.sql(AN_HOUR_LATER).await;
    let digest = &store.notified().await[1];
    let sizes: Vec<&str> = digest.iter().map(|text| text.rsplit_once('(').unwrap().1).collect();
    assert_eq!(sizes, ["-50 %)", "-5.88 %)", "-5.56 %)"]);
}

#[rstest]
#[case::the_rule("change_rules")]
#[case::its_endpoint("notification_endpoints")]
#[tokio::test]
async fn changes_while_it_is_disabled_are_not_sent_later(#[case] table: &str) {
    let store = watched("", "").await;
    store.sql(&format!("UPDATE {table} SET enabled = false")).await;
    store.drop_prices(1, [900, 2000]).await;
    assert!(store.notified().await.is_empty());
    store.sql(&format!("UPDATE {table} SET enabled = true")).await;
    assert!(store.notified().await.is_empty());
    store.drop_prices(2, [800, 2000]).await;
    assert_eq!(store.notified().await.len(), 1);
}

#[tokio::test]
async fn a_rule_is_for_the_changes_that_come_after_it() {
    let store = TestStore::new().await;
    store.drop_prices(0, [1000, 2000]).await;
    store.drop_prices(1, [900, 1900]).await;
    publisher::publish(&store.database.db).await.unwrap();
    store
        .sql(
            "INSERT INTO notification_endpoints (id, name, kind, target) VALUES (1, 'phone', 'ntfy', 'https://ntfy.example/a');
             INSERT INTO change_rules (id, name, endpoint_id, kinds) VALUES (1, 'drops', 1, '{price_drop}')",
        )
        .await;
    store.drop_prices(2, [800, 1900]).await;
    assert_eq!(store.notified().await, [["Product a (Brand) 1g: $9.00 to $8.00 (-11.11 %)"]]);
}

#[tokio::test]
async fn names_of_any_length_and_signs_fit_into_messages() {
    let store = watched("", "").await;
    let hostile = "\u{202E}\u{1}'; DROP TABLE x; -- 🌿".repeat(400);
    let of = |price| {
        let options: Vec<Variant> = (0..60).map(|nth| variant(&format!("{hostile}{nth}"), 0, price)).collect();
        Product { name_raw: hostile.clone(), brand_name_raw: Some(hostile.clone()), variants: options, ..product("c") }
    };
    store.crawl(1, vec![of(1000)]).await;
    store.crawl(2, vec![of(900)]).await;
    let told = store.notified().await;
    assert_eq!(told.concat().len(), 60);
    assert!(told.len() > 1 && told.concat().iter().all(|text| text.contains("$10.00 to $9.00")), "{told:?}");
}

#[tokio::test]
async fn each_change_is_notified_once_however_often_its_follower_dies() {
    let store = watched("", "").await;
    let mut rng = StdRng::seed_from_u64(7);
    for crawl in 1..=12 {
        store.drop_prices(crawl, [1000 - 10 * crawl as i32, 2000 - 10 * crawl as i32]).await;
        publisher::publish(&store.database.db).await.unwrap();
        for _ in 0..6 {
            let life = Duration::from_micros(rng.random_range(0..4_000));
            // dropped in the middle, or done
            let _ = tokio::time::timeout(life, rules::follow(&store.database.db, 1)).await;
        }
    }
    let told = store.notified().await;
    let prices: Vec<String> = told.concat().iter().map(|text| text.rsplit_once(" to ").unwrap().1.to_owned()).collect();
    let distinct: std::collections::BTreeSet<&String> = prices.iter().collect();
    assert_eq!((told.len(), prices.len(), distinct.len()), (12, 24, 24), "{told:?}");
}

#[tokio::test]
async fn a_rule_that_stopped_within_the_newest_crawl_goes_on_there() {
    let store = watched("", "").await;
    store.drop_prices(1, [900, 1900]).await;
    publisher::publish(&store.database.db).await.unwrap();
    store.sql("UPDATE change_rules SET seq = newest_change(), n = 0").await;
    assert_eq!(store.notified().await, [["Product b (Brand) 1g: $20.00 to $19.00 (-5 %)"]]);
}

#[tokio::test]
async fn hostile_names_arrive_at_a_webhook_as_they_are_and_signed() {
    let long = "🌿".repeat(2_500);
    let names = [
        "'; DROP TABLE change_rules; --",
        "\u{202e}eulB\u{202c}\u{200f} Dream",
        "🌿🔥🌿",
        "Вluе Drеаm",
        "a\r\nwebhook-id: forged\u{1b}[31m",
        &long,
    ];
    let harness = MediaHarness::start().await;
    let (endpoint, raw) = (harness.add_webhook("team").await, &harness.database.raw);
    let setup = "INSERT INTO change_rules (id, name, endpoint_id, kinds) SELECT 1, 'all', id, '{new}' FROM notification_endpoints;
        INSERT INTO dispensaries (id, name) OVERRIDING SYSTEM VALUE VALUES (1, 'North');
        INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline) VALUES (1, 1, now(), 6, false)";
    raw.batch_execute(setup).await.unwrap();
    let products = "WITH named AS (SELECT * FROM unnest($1::text[]) WITH ORDINALITY named (name, n)),
        products AS (
          INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                      stock_status, first_seen_at, last_seen_at)
          OVERRIDING SYSTEM VALUE
          SELECT n, 1, 'dutchie', n, name, false, false, true, 'in_stock', now(), now() FROM named RETURNING id)
        INSERT INTO product_changes (crawl_id, n, store_product_id, kind, crawled_at)
        SELECT 1, id - 1, id, 'new', crawled_at FROM products, change_batches";
    raw.execute(products, &[&&names[..]]).await.unwrap();
    publisher::publish(&harness.database.db).await.unwrap();
    rules::follow(&harness.database.db, 1).await.unwrap();
    harness.send(endpoint).await.unwrap();
    let deliveries = harness.site.deliveries("team");
    let mut arrived = Vec::new();
    for delivery in &deliveries {
        verify_with_the_reference_library(delivery, SECRET).await;
        let changes = json_of(delivery)["data"]["changes"].as_array().unwrap().clone();
        arrived.extend(changes.into_iter().map(|change| change["product"].as_str().unwrap().to_owned()));
    }
    assert_eq!(arrived, names.map(|name| name.chars().take(200).collect::<String>()));
}

#[tokio::test]
async fn rules_are_added_tried_on_the_past_listed_and_removed_by_command() {
    let server = Server::start().await;
    let setup = "INSERT INTO notification_endpoints (id, name, kind, target) VALUES (7, 'team', 'ntfy', 'https://ntfy.example/a');
        INSERT INTO dispensaries (id, name, state) VALUES (1, 'North', 'AZ');
        INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline) VALUES (1, 1, now(), 2, false);
        INSERT INTO product_changes (crawl_id, n, store_product_id, option_label, nth, kind, old_rec, new_rec, cents, percent, crawled_at)
        SELECT 1, n, n, '1g', 0, 'price_drop', 2000, 2000 - 300 * n, -300 * n, -15 * n, crawled_at
          FROM change_batches, generate_series(0, 1) n";
    server.database.raw.batch_execute(setup).await.unwrap();
    publisher::publish(&server.database.db).await.unwrap();
    let run = async |args: &[&str]| {
        let mut command = drover();
        command.arg("changes").arg("rules").args(args).env("DATABASE_URL", &server.database.url);
        let output = command.output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let add = [
        "add",
        "flower",
        "--kind",
        "price_drop",
        "--min-percent",
        "10",
        "--state",
        "az",
        "--endpoint",
        "team",
        "--quiet",
        "6h",
    ];
    let (code, said) = run(&add).await;
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&add).await;
    assert!(code == Some(4) && said.contains("another change rule has the same name"), "{code:?} {said}");
    let (code, said) = run(&["test", "flower", "--since", "7d", "--json"]).await;
    let page: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (code, words(&page["messages"][0])),
        (Some(0), vec!["a product that was deleted 1g: $20.00 to $17.00 (-15 %)".to_owned()])
    );
    let (_, said) = run(&["test", "flower"]).await;
    assert!(said.contains("1 change\n  a product that was deleted 1g: $20.00 to $17.00 (-15 %) · North"), "{said}");
    let (_, said) = run(&["list"]).await;
    assert!(said.contains("flower  team") && said.contains("state AZ, from 10 %, quiet for 6 h"), "{said}");
    let (code, said) = run(&["disable", "flower"]).await;
    assert!(code == Some(0) && said.contains("rule flower is disabled"), "{said}");
    let (code, said) = run(&["remove", "flower"]).await;
    assert!(code == Some(0) && said.contains("is removed"), "{said}");
    let (code, said) = run(&["test", "flower"]).await;
    assert!(code == Some(2) && said.contains("`drover changes rules list` shows them"), "{code:?} {said}");
}
