//! Prices that are compared: with those of another time, and by unit.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use contract::prices::{PriceChangeQuestion, PriceUnit, PricesBy, UnitPriceCursor, UnitPriceQuestion, UnitPrices};
use contract::products::MatchKind;
use db::analytics::{self, price_changes::price_changes, refresh::refresh, unit_prices};
use db::changes::publisher;
use domain::menu::product::{Potency, PotencyUnit, Product, Variant};
use serde_json::from_value;

use super::client;
use crate::handlers::test_store::{TestStore, at, product, variant};

/// A product of a gram for each price, in cents.
fn flower(id: &str, brand: &str, prices: &[i32]) -> Product {
    let of = |(nth, price): (usize, &i32)| variant(&format!("{}g", nth + 1), 0, *price);
    Product {
        brand_name_raw: Some(brand.to_owned()),
        variants: prices.iter().enumerate().map(of).collect(),
        ..product(id)
    }
}

/// Refreshes analytics, and publishes the changes before it.
async fn analyse(store: &TestStore) {
    publisher::publish(&store.database.db).await.unwrap();
    refresh(&store.database.db).await.unwrap();
}

async fn execute(store: &TestStore, sql: &str) {
    store.database.raw.batch_execute(sql).await.unwrap();
}

/// The options whose price differs: `a 1g 1000>900`.
async fn differences(store: &TestStore, question: PriceChangeQuestion) -> Vec<String> {
    let found = price_changes(&client(store).await, &question).await.unwrap();
    let text = |row: &contract::prices::PriceDifference| {
        format!("{} {} {}>{}", row.product_name, row.option.label, row.price_before, row.price)
    };
    found.changes.iter().map(text).collect()
}

fn since(time: DateTime<Utc>) -> PriceChangeQuestion {
    PriceChangeQuestion { since: Some(time), ..PriceChangeQuestion::default() }
}

#[tokio::test]
async fn prices_now_are_compared_with_those_of_any_time() {
    let store = TestStore::new().await;
    let menu = |a: i32, b: i32, c: i32| {
        vec![flower("a", "Fields", &[a, 3000]), flower("b", "Fields", &[b]), flower("c", "Mesa", &[c])]
    };
    store.crawl(1, menu(1000, 1000, 1000)).await;
    store.crawl(10, menu(900, 1000, 1500)).await;
    store.crawl(20, menu(900, 400, 1000)).await;
    execute(&store, "UPDATE dispensaries SET city = ' Mesa', groups = '{rivals}', last_payload_id = 1").await;
    analyse(&store).await;

    let (all, later) = (differences(&store, since(at(5))).await, differences(&store, since(at(15))).await);
    assert_eq!(all, ["Product b 1g 1000>400", "Product a 1g 1000>900"], "c went and came back, 3000 stayed");
    assert_eq!(later, ["Product b 1g 1000>400", "Product c 1g 1500>1000"]);
    assert_eq!(differences(&store, since(at(25))).await, [""; 0]);
    assert_eq!(
        differences(&store, since(at(-100))).await,
        [""; 0],
        "no price is known of the time before the first crawl"
    );

    let asked = [
        (r#"{"brand": " fields"}"#, 2),
        (r#"{"category": "flower", "max_price": 500}"#, 1),
        (r#"{"category": "Edible"}"#, 0),
        (r#"{"direction": "rise"}"#, 0),
        (r#"{"state": "ZZ"}"#, 0),
        (r#"{"in_stock": false}"#, 0),
        (r#"{"on_special": true}"#, 0),
        (r#"{"min_price": 500}"#, 1),
        (r#"{"max_unit_price": 400000}"#, 1),
        (r#"{"q": "Product b"}"#, 1),
        (r#"{"q": "fiel", "direction": "drop"}"#, 2),
        (r#"{"q": "mesa"}"#, 0),
        (r#"{"q": "!"}"#, 0),
        (r#"{"city": "mesa ", "state": "az"}"#, 2),
        (r#"{"city": "Yuma"}"#, 0),
        (r#"{"group": "rivals", "q": "fields"}"#, 2),
        (r#"{"group": "others"}"#, 0),
        (r#"{"store": 4711}"#, 0),
        (r#"{"sort": "newest", "limit": 1}"#, 1),
    ];
    for (question, expected) in asked {
        let question: PriceChangeQuestion = serde_json::from_str(question).unwrap();
        let found = differences(&store, PriceChangeQuestion { since: Some(at(5)), ..question.clone() }).await;
        assert_eq!(found.len(), expected, "{question:?}: {found:?}");
    }

    let found = price_changes(&client(&store).await, &since(at(5))).await.unwrap();
    let first = &found.changes[0];
    assert_eq!((first.cents, first.percent, first.changed_at), (-600, Some(-60.0), at(20)));
    assert_eq!((first.unit_price_before, first.unit_price), (Some(1_000_000), Some(400_000)), "millicents a gram");
    assert!(found.as_of.is_some() && !found.truncated && found.r#match == MatchKind::Filters);
    let misspelled = PriceChangeQuestion { q: Some("feilds".to_owned()), ..since(at(5)) };
    let found = price_changes(&client(&store).await, &misspelled).await.unwrap();
    assert_eq!((found.changes.len(), found.r#match), (2, MatchKind::Corrected));
}

#[tokio::test]
async fn a_second_refresh_changes_no_row_and_a_later_one_adds_what_is_new() {
    let store = TestStore::new().await;
    store.crawl(1, vec![flower("a", "Fields", &[1000])]).await;
    store.crawl(2, vec![flower("a", "Fields", &[900])]).await;
    analyse(&store).await;
    let rows = "SELECT concat_ws(' ', (SELECT string_agg(ctid::text, ',' ORDER BY day) FROM daily_price_changes),
                                      (SELECT string_agg(ctid::text, ',' ORDER BY state, category, brand_key, unit) FROM unit_price_weeks))";
    let places = || async { store.database.raw.query_one(rows, &[]).await.unwrap().get::<_, String>(0) };
    let before = places().await;
    analyse(&store).await;
    assert_eq!(places().await, before);

    store.crawl(3, vec![flower("a", "Fields", &[450])]).await;
    analyse(&store).await;
    assert_eq!(differences(&store, since(at(1))).await, ["Product a 1g 1000>450"]);
    let sizes = "SELECT count(*) FROM daily_price_changes WHERE size = 50";
    assert_eq!(store.count(sizes).await, 1);
}

/// Two stores in Arizona and one in Michigan.
async fn market() -> TestStore {
    let north = TestStore::new().await;
    let (south, lakes) = (north.beside("South").await, north.beside("Lakes").await);
    execute(&north, &format!("UPDATE dispensaries SET state = 'MI' WHERE id = {}", lakes.id)).await;
    north.crawl(1, vec![flower("a", "Fields", &[1000, 2000]), flower("b", "Mesa", &[600])]).await;
    south.crawl(1, vec![flower("a", "FIELDS ", &[4000]), Product { category: None, ..flower("b", "", &[100]) }]).await;
    let dose = Variant { size_mg: None, price_rec: Some(2000), ..variant("100mg", 0, 2000) };
    let thc = Potency { min: Some(100.0), max: Some(100.0), unit: Some(PotencyUnit::Milligrams) };
    let chews = Product {
        category: Some("Edible".to_owned()),
        thc: Some(thc),
        variants: vec![dose],
        ..flower("a", "Fields", &[])
    };
    let gone = Product { is_in_stock: false, ..flower("b", "Mesa", &[50]) };
    lakes.crawl(1, vec![chews, gone]).await;
    analyse(&north).await;
    north
}

async fn asked(store: &TestStore, question: UnitPriceQuestion) -> Vec<UnitPrices> {
    unit_prices(&client(store).await, &question, None, 100).await.unwrap().rows
}

fn by(by: PricesBy) -> UnitPriceQuestion {
    UnitPriceQuestion { by: Some(by), ..UnitPriceQuestion::default() }
}

#[tokio::test]
async fn what_is_in_stock_is_compared_by_gram() {
    let north = market().await;
    let brands = asked(&north, by(PricesBy::Brand)).await;
    let shown = |row: &UnitPrices| (row.brand.clone().unwrap_or_default(), row.stores, row.options, row.median);
    assert_eq!(
        brands.iter().map(shown).collect::<Vec<_>>(),
        [("FIELDS".to_owned(), 3, 3, Some(2_000_000)), ("Mesa".to_owned(), 1, 1, Some(600_000))]
    );
    let first = &brands[0];
    assert_eq!(
        (first.min, first.p25, first.p75, first.max),
        (Some(1_000_000), Some(1_500_000), Some(3_000_000), Some(4_000_000))
    );
    assert_eq!((first.share, brands[1].share), (1.0, 1.0 / 3.0));

    let states = asked(&north, by(PricesBy::State)).await;
    let of_states: BTreeMap<_, _> =
        states.iter().map(|row| (row.state.as_deref(), (row.stores, row.options, row.max))).collect();
    assert_eq!(
        of_states[&Some("AZ")],
        (2, 4, Some(4_000_000)),
        "what has no category is not weighed, and counts in no brand"
    );
    assert_eq!(of_states[&Some("MI")], (1, 0, None));

    let in_arizona =
        UnitPriceQuestion { state: Some("az".to_owned()), category: Some("Flower".to_owned()), ..by(PricesBy::Brand) };
    let rows = asked(&north, in_arizona).await;
    assert_eq!(rows.iter().map(|row| (row.stores, row.share)).collect::<Vec<_>>(), [(2, 1.0), (1, 0.5)]);
    let weeks = asked(&north, UnitPriceQuestion { brand: Some("fields".to_owned()), ..by(PricesBy::Week) }).await;
    assert_eq!(weeks.iter().map(|row| (row.stores, row.options)).collect::<Vec<_>>(), [(3, 3)]);
    let dosed = UnitPriceQuestion { unit: Some(PriceUnit::MgThc), ..by(PricesBy::Category) };
    let edible = asked(&north, dosed).await.into_iter().find(|row| row.category.as_deref() == Some("edible")).unwrap();
    assert_eq!((edible.options, edible.median), (1, Some(20_000)), "20 cents a milligram of THC");
}

#[tokio::test]
async fn weeks_and_pages_follow_each_other() {
    let north = market().await;
    execute(
        &north,
        "INSERT INTO unit_price_weeks SELECT week - 7, state, category, brand_key, unit, brand, stores + 1, options, price_min, price_p25,
                                             price_median / 2, price_p75, price_max FROM unit_price_weeks",
    )
    .await;
    let question = UnitPriceQuestion { brand: Some("Fields".to_owned()), ..by(PricesBy::Week) };
    let weeks = asked(&north, question.clone()).await;
    assert_eq!(
        weeks.iter().map(|row| (row.stores, row.median)).collect::<Vec<_>>(),
        [(3, Some(2_000_000)), (4, Some(1_000_000))]
    );
    let older = UnitPriceQuestion { week: Some(weeks[1].week.succ_opt().unwrap()), ..by(PricesBy::Brand) };
    assert_eq!(asked(&north, older).await[0].stores, 4, "any day of the week before");

    let client = client(&north).await;
    let (mut seen, mut after): (Vec<UnitPrices>, Option<UnitPriceCursor>) = (Vec::new(), None);
    loop {
        let page = unit_prices(&client, &by(PricesBy::Category), after.as_ref(), 1).await.unwrap();
        seen.extend(page.rows);
        after = page.next.map(|cursor| from_value(serde_json::to_value(cursor).unwrap()).unwrap());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, asked(&north, by(PricesBy::Category)).await);
}

#[tokio::test]
async fn a_menu_of_last_week_and_a_brand_that_is_gone_leave_the_comparison() {
    let north = market().await;
    execute(
        &north,
        "UPDATE dispensaries SET last_complete_at = last_complete_at - interval '8 days' WHERE name = 'South'",
    )
    .await;
    execute(&north, "UPDATE store_products SET is_in_stock = false WHERE brand_name_raw = 'Mesa'").await;
    refresh(&north.database.db).await.unwrap();
    let brands = asked(&north, by(PricesBy::Brand)).await;
    assert_eq!(brands.iter().map(|row| (row.stores, row.max)).collect::<Vec<_>>(), [(2, Some(2_000_000))]);
    assert!(analytics::refresh::is_filled(&client(&north).await, "mv_brand_presence").await.unwrap());
}

/// 20,000 products of 120 stores, with an option, three rows of its history and a change each, and 40,000 rows of a year of weeks.
const FILL: &str = "
    INSERT INTO dispensaries (id, name, platform, state, city, groups)
    SELECT n, 'Store ' || n, 'dutchie', 'AZ', 'City ' || n % 9, '{all}' FROM generate_series(1001, 1120) n;
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                stock_status, first_seen_at, last_seen_at)
    SELECT 100000 + n, 1001 + n % 120, 'dutchie', n, 'Product ' || n, false, false, true, 'in_stock', now(), now() FROM generate_series(1, 20000) n;
    INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity_censored, is_in_stock)
    SELECT id, '1g', 0, 900, false, true FROM store_products;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, quantity_censored, is_in_stock, gone)
    SELECT id, '1g', 0, n, now() - n * interval '20 days', 1000, false, true, false FROM store_products, generate_series(1, 3) n;
    INSERT INTO daily_price_changes (day, store_product_id, changed_at, dispensary_id, nth, size, option_label, state, canonical_category, brand_key)
    SELECT (t.at AT TIME ZONE 'UTC')::date, p.id, t.at, p.dispensary_id, 0, p.id % 30, '1g', 'AZ', 'flower', 'brand ' || p.id % 200
      FROM store_products p CROSS JOIN LATERAL (SELECT now() - p.id % 40 * interval '1 day' AS at) t;
    INSERT INTO product_search (product_id, dispensary_id, canonical_category, text)
    SELECT id, dispensary_id, 'flower', 'common word' || id % 400 FROM store_products;
    INSERT INTO unit_price_weeks (week, state, category, brand_key, unit, stores, options)
    SELECT date_trunc('week', now() AT TIME ZONE 'UTC')::date - 7 * w, state, category, brand_key, unit, 1, 1
      FROM generate_series(0, 49) w, unnest('{\"\",AZ}'::text[]) state, unnest('{\"\",flower}'::text[]) category,
           (SELECT '' AS brand_key UNION SELECT 'brand ' || n FROM generate_series(1, 99) n) b, unnest('{\"\",g}'::text[]) unit";

#[tokio::test]
async fn a_comparison_reads_no_table_as_a_whole_though_none_was_ever_analysed() {
    let database = testkit::database().await;
    let tables = "SELECT string_agg(format('ALTER TABLE %I SET (autovacuum_enabled = off)', relname), ';') FROM pg_class
                   WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname ~ '^(store_product|daily_price|unit_price)'";
    let switch: String = database.raw.query_one(tables, &[]).await.unwrap().get(0);
    database.raw.batch_execute(&switch).await.unwrap();
    database.raw.batch_execute(FILL).await.unwrap();
    let client = database.db.api_client().await.unwrap();
    let whole = async || {
        client.query("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
        let scans = "SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables WHERE relname ~ '^(store_product|daily_price|unit_price)'";
        database.raw.query_one(scans, &[]).await.unwrap().get::<_, i64>(0)
    };
    let before = whole().await;
    for question in [
        "{}",
        r#"{"state": "AZ", "category": "flower"}"#,
        r#"{"brand": "Brand 2"}"#,
        r#"{"store": 1003, "sort": "cents"}"#,
        r#"{"city": "City 3", "brand": "Brand 2"}"#,
        r#"{"group": "all", "category": "flower"}"#,
        r#"{"q": "word42"}"#,
        r#"{"q": "word42", "group": "all", "state": "AZ"}"#,
        r#"{"q": "common", "city": "City 3"}"#,
        r#"{"q": "common", "group": "all"}"#,
    ] {
        let question: PriceChangeQuestion = serde_json::from_str(question).unwrap();
        assert!(!price_changes(&client, &question).await.unwrap().changes.is_empty(), "{question:?}");
    }
    for question in [
        r#"{"by": "brand"}"#,
        r#"{"by": "brand", "state": "AZ", "category": "flower"}"#,
        r#"{"by": "week", "brand": "Brand 7"}"#,
        r#"{"by": "state"}"#,
    ] {
        let question: UnitPriceQuestion = serde_json::from_str(question).unwrap();
        assert!(!unit_prices(&client, &question, None, 50).await.unwrap().rows.is_empty(), "{question:?}");
    }
    assert_eq!(whole().await, before);
}
