//! Market data: four views, as the refresh of analytics leaves them.

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use contract::analytics::{MarketFilter, PriceDay};
use db::analytics;
use domain::menu::product::Product;

use super::client;
use crate::handlers::test_store::{TestStore, at, product};

/// Two stores in Arizona and one in Michigan, crawled now.
struct Market {
    north: TestStore,
    south: TestStore,
    lakes: TestStore,
}

fn item(id: &str, brand: Option<&str>, category: &str, price: Option<i32>) -> Product {
    Product {
        brand_name_raw: brand.map(str::to_owned),
        category: Some(category.to_owned()),
        price_rec: price,
        variants: vec![],
        ..product(id)
    }
}

impl Market {
    /// Makes a market whose views were never refreshed.
    async fn new() -> Market {
        let north = TestStore::new().await;
        let south = north.beside("South").await;
        let lakes = north.beside("Lakes").await;
        let move_it = format!("UPDATE dispensaries SET state = 'MI' WHERE id = {}", lakes.id);
        north.database.raw.batch_execute(&move_it).await.unwrap();
        let market = Market { north, south, lakes };
        market
            .north
            .crawl(
                1,
                vec![
                    item("a", Some("Fields"), "Flower", Some(1000)),
                    item("b", Some("FIELDS "), "Flower", Some(2000)),
                    Product {
                        special_price_rec: Some(300),
                        is_on_special: true,
                        ..item("c", Some("Sweets"), "Edible", Some(500))
                    },
                ],
            )
            .await;
        market
            .south
            .crawl(
                1,
                vec![
                    item("a", Some("fields"), "Flower", Some(4000)),
                    Product { is_in_stock: false, ..item("b", Some("Sweets"), "Edible", Some(900)) },
                    item("c", None, "Edible", None),
                ],
            )
            .await;
        market.lakes.crawl(1, vec![item("a", Some("Fields"), "Flower", Some(700))]).await;
        market
    }

    async fn refreshed() -> Market {
        let market = Market::new().await;
        market.refresh().await;
        market
    }

    async fn refresh(&self) {
        analytics::refresh::refresh(&self.north.database.db).await.unwrap();
    }

    async fn brands(&self, filter: MarketFilter) -> Vec<(String, Option<String>, i64, i64)> {
        let page = analytics::brand_presence(&client(&self.north).await, &filter, None, 100).await.unwrap();
        page.rows.into_iter().map(|row| (row.brand, row.state, row.stores, row.stores_in_stock)).collect()
    }

    async fn trend(&self, filter: MarketFilter) -> Vec<PriceDay> {
        analytics::price_trend(&client(&self.north).await, &filter, None, None, 100).await.unwrap().rows
    }
}

fn of_state(state: &str) -> MarketFilter {
    MarketFilter { state: Some(state.to_owned()), ..MarketFilter::default() }
}

fn of_brand(brand: &str) -> MarketFilter {
    MarketFilter { brand: Some(brand.to_owned()), ..MarketFilter::default() }
}

#[tokio::test]
async fn before_the_first_refresh_there_is_nothing_to_see_and_no_error() {
    let market = Market::new().await;
    let client = client(&market.north).await;
    let none = MarketFilter::default();
    assert_eq!(analytics::brand_presence(&client, &none, None, 10).await.unwrap().as_of, None);
    assert_eq!(analytics::category_mix(&client, &none, None, 10).await.unwrap().rows, []);
    assert_eq!(analytics::price_trend(&client, &none, None, None, 10).await.unwrap().rows, []);
    assert_eq!(analytics::store_summary(&client, &of_brand("Fields"), None, 10).await.unwrap().rows, []);
}

#[tokio::test]
async fn a_refresh_may_run_again_and_is_dated() {
    let market = Market::refreshed().await;
    let client = client(&market.north).await;
    let first = analytics::brand_presence(&client, &MarketFilter::default(), None, 10).await.unwrap();
    market.refresh().await;
    let second = analytics::brand_presence(&client, &MarketFilter::default(), None, 10).await.unwrap();
    assert_eq!(first.rows, second.rows);
    assert!(second.as_of > first.as_of && first.as_of.is_some());
}

#[tokio::test]
async fn brands_are_counted_by_state_whatever_their_letters() {
    let market = Market::refreshed().await;
    let az = Some("AZ".to_owned());
    let fields = ("FIELDS".to_owned(), az.clone(), 2, 2);
    let sweets = ("Sweets".to_owned(), az, 2, 1);
    let elsewhere = ("Fields".to_owned(), Some("MI".to_owned()), 1, 1);
    let all = market.brands(MarketFilter::default()).await;
    assert_eq!(all, [fields.clone(), elsewhere.clone(), sweets.clone()]);
    assert_eq!(market.brands(of_state("az")).await, [fields.clone(), sweets.clone()]);
    assert_eq!(market.brands(of_brand("fieldS")).await, [fields, elsewhere.clone()]);
    let store = MarketFilter { store: Some(market.lakes.id), ..MarketFilter::default() };
    assert_eq!(market.brands(store).await, [elsewhere]);
    let crawled_later = MarketFilter { from: Some(at(0) + TimeDelta::days(1)), ..MarketFilter::default() };
    assert_eq!(market.brands(crawled_later).await, []);
}

#[tokio::test]
async fn a_brand_is_one_row_however_it_is_spelled() {
    let market = Market::new().await;
    let spelled = r"
        UPDATE store_products SET brand_name_raw = U&'\00A0F\200Bi\0301elds  \FEFF' WHERE id % 2 = 0 AND lower(btrim(brand_name_raw)) = 'fields';
        UPDATE store_products SET brand_name_raw = U&'F\00EDELDS' WHERE id % 2 = 1 AND lower(btrim(brand_name_raw)) = 'fields'";
    market.north.database.raw.batch_execute(spelled).await.unwrap();
    market.refresh().await;
    let az: Vec<_> = market.brands(of_state("AZ")).await.into_iter().map(|(_, _, stores, _)| stores).collect();
    assert_eq!(az, [2, 2], "of Fields and Sweets");
    assert_eq!(market.brands(of_brand("fi\u{301}elds")).await.len(), 2, "one row of each state");
}

#[tokio::test]
async fn sql_has_the_same_key_of_a_brand_as_rust() {
    let database = testkit::database().await;
    let names = [
        "Bud Bros",
        "  BUD \t bros ",
        "Bud\u{a0}\u{2009}Bros",
        "B\u{200b}ud\u{feff} \u{200d} Br\u{ad}os\u{202e}",
        "Cafe\u{301} ÅNGSTRÖM",
        "Caf\u{e9}",
        "\u{3000}花\u{85}",
        "\u{200b}",
        "",
    ];
    for name in names {
        let row = database.raw.query_one("SELECT brand_key($1)", &[&name]).await.unwrap();
        assert_eq!(row.get::<_, String>(0), domain::menu::brand::key(name), "of {name:?}");
    }
}

#[tokio::test]
async fn prices_are_those_of_what_is_in_stock() {
    let market = Market::refreshed().await;
    let client = client(&market.north).await;
    let page = analytics::brand_presence(&client, &of_state("AZ"), None, 10).await.unwrap();
    let prices: Vec<_> = page
        .rows
        .iter()
        .map(|row| (row.sales.price_min, row.sales.price_avg, row.sales.price_max, row.sales.products_on_special))
        .collect();
    let fields = (Some(1000), Some(2333), Some(4000), 0);
    let sweets = (Some(300), Some(300), Some(300), 1);
    assert_eq!(prices, [fields, sweets]);
}

#[tokio::test]
async fn categories_have_their_share_of_what_was_looked_at() {
    let market = Market::refreshed().await;
    let client = client(&market.north).await;
    let mix = async |filter| {
        let rows = analytics::category_mix(&client, &filter, None, 10).await.unwrap().rows;
        rows.into_iter().map(|row| (row.category.unwrap(), row.stores, row.share)).collect::<Vec<_>>()
    };
    let named = |name: &str, stores, share| (name.to_owned(), stores, share);
    assert_eq!(mix(of_state("AZ")).await, [named("Flower", 2, 0.6), named("Edible", 2, 0.4)]);
    assert_eq!(mix(of_state("MI")).await, [named("Flower", 1, 1.0)]);
    assert_eq!(mix(of_brand("sweets")).await, [named("Edible", 2, 1.0)]);
}

#[tokio::test]
async fn pages_of_one_row_hold_each_row_once() {
    let market = Market::refreshed().await;
    let client = client(&market.north).await;
    let none = MarketFilter::default();

    let whole = analytics::brand_presence(&client, &none, None, 100).await.unwrap().rows;
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = analytics::brand_presence(&client, &none, after.as_ref(), 1).await.unwrap();
        rows.extend(page.rows);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(rows, whole);

    let whole = analytics::category_mix(&client, &none, None, 100).await.unwrap().rows;
    let first = analytics::category_mix(&client, &none, None, 1).await.unwrap();
    let second = analytics::category_mix(&client, &none, first.next.as_ref(), 1).await.unwrap();
    assert_eq!(([first.rows, second.rows].concat(), second.next), (whole, None));

    let whole = market.trend(MarketFilter::default()).await;
    let first = analytics::price_trend(&client, &none, None, None, 1).await.unwrap();
    let second = analytics::price_trend(&client, &none, None, first.next.as_ref(), 1).await.unwrap();
    assert_eq!(([first.rows, second.rows].concat(), second.next), (whole, None));

    let first = analytics::store_summary(&client, &none, None, 2).await.unwrap();
    let second = analytics::store_summary(&client, &none, first.next, 2).await.unwrap();
    let stores: Vec<_> = first.rows.iter().chain(&second.rows).map(|row| row.dispensary_id).collect();
    assert_eq!((stores, second.next), (vec![market.north.id, market.south.id, market.lakes.id], None));
}

#[tokio::test]
async fn a_summary_of_stores_may_be_of_those_with_a_brand() {
    let market = Market::refreshed().await;
    let client = client(&market.north).await;
    let stores = async |filter| {
        let rows = analytics::store_summary(&client, &filter, None, 10).await.unwrap().rows;
        rows.into_iter().map(|row| (row.dispensary_id, row.products_in_stock)).collect::<Vec<_>>()
    };
    assert_eq!(stores(of_brand("SWEETS")).await, [(market.north.id, 3), (market.south.id, 2)]);
    assert_eq!(stores(of_state("mi")).await, [(market.lakes.id, 1)]);
}

/// Noon UTC, `days` days ago.
fn noon(days: u64) -> DateTime<Utc> {
    day(days).and_hms_opt(12, 0, 0).unwrap().and_utc()
}

fn day(days: u64) -> NaiveDate {
    (foundation::clock::Clock::system().utc().date_naive()) - Days::new(days)
}

impl TestStore {
    /// A crawl of that time.
    async fn crawl_at(&self, time: DateTime<Utc>, products: Vec<Product>) {
        self.crawl((time - at(0)).num_seconds(), products).await;
    }
}

#[tokio::test]
async fn a_days_price_is_that_of_its_last_crawl() {
    let store = TestStore::new().await;
    let sold_at = |price| vec![item("a", Some("Fields"), "Flower", Some(price))];
    for (time, price) in [(noon(3), 100), (noon(3) + TimeDelta::hours(2), 110), (noon(1), 90)] {
        store.crawl_at(time, sold_at(price)).await;
    }
    let market = Market { south: store.beside("South").await, lakes: store.beside("Lakes").await, north: store };
    market.refresh().await;
    let prices = |days: Vec<PriceDay>| {
        days.into_iter().map(|row| (row.day, row.sales.price_avg.unwrap(), row.sales.products)).collect::<Vec<_>>()
    };
    let of_store = || MarketFilter { store: Some(market.north.id), ..MarketFilter::default() };
    let expected = vec![(day(3), 110, 1), (day(1), 90, 1)];
    assert_eq!(prices(market.trend(MarketFilter::default()).await), expected);
    assert_eq!(prices(market.trend(of_store()).await), expected);
    assert_eq!(prices(market.trend(of_brand("FIELDS")).await), expected);
    assert_eq!(prices(market.trend(of_brand("another")).await), []);
    assert_eq!(prices(market.trend(of_state("MI")).await), []);
    assert_eq!(prices(market.trend(MarketFilter { state: Some("MI".to_owned()), ..of_store() }).await), []);
    let until = MarketFilter { to: Some(noon(1).date_naive().and_hms_opt(0, 0, 0).unwrap().and_utc()), ..of_store() };
    assert_eq!(prices(market.trend(until).await), expected[..1]);
    let since = MarketFilter { from: Some(noon(2)), ..MarketFilter::default() };
    assert_eq!(prices(market.trend(since).await), expected[1..]);
}

#[tokio::test]
async fn a_refresh_writes_what_came_since_and_stores_of_a_day_are_summed() {
    let market = Market::new().await;
    let sold_at = |price| vec![item("a", Some("Fields"), "Flower", Some(price))];
    let raw = &market.north.database.raw;
    // all crawls of the market are of yesterday, so that no midnight comes between
    raw.batch_execute("TRUNCATE store_product_snapshots; DELETE FROM raw_crawl_payloads; UPDATE dispensaries SET last_payload_at = NULL, last_payload_id = NULL")
        .await
        .unwrap();
    market.north.crawl_at(noon(1), sold_at(100)).await;
    market.south.crawl_at(noon(1), sold_at(200)).await;
    market.refresh().await;
    let of_day = |rows: Vec<PriceDay>| {
        rows.into_iter().map(|row| (row.category.unwrap(), row.sales.products, row.sales.price_avg)).collect::<Vec<_>>()
    };
    let flower = |products, price| vec![("Flower".to_owned(), products, Some(price))];
    assert_eq!(of_day(market.trend(of_state("AZ")).await), flower(2, 150));

    market.south.crawl_at(noon(1) + TimeDelta::hours(1), sold_at(400)).await;
    market.lakes.crawl_at(noon(1), sold_at(700)).await;
    market.refresh().await;
    assert_eq!(of_day(market.trend(of_state("AZ")).await), flower(2, 250));
    assert_eq!(of_day(market.trend(MarketFilter::default()).await), flower(3, 400));
}

#[tokio::test]
async fn old_days_go() {
    let market = Market::new().await;
    let raw = &market.north.database.raw;
    let old = "INSERT INTO price_days SELECT 1, current_date - n, '', '', 1, 1, 0, 0, 0, NULL, NULL FROM unnest('{80, 200}'::int[]) n";
    raw.batch_execute(old).await.unwrap();
    market.refresh().await;
    let left =
        market.north.count("SELECT count(*) FROM price_days WHERE dispensary_id = 1 AND day < current_date - 10").await;
    assert_eq!(left, 1);
}
