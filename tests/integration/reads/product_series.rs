//! Prices of a product and its options over time, as a chart asks for them.

use contract::products::{OptionPoint, ProductPoint};
use db::products;
use db::products::series::{OptionKey, Series, SeriesRange};
use domain::menu::product::{Product, StockStatus, Variant};

use super::client;
use crate::handlers::test_store::{TestStore, at, product, variant};

/// All crawls of a test.
fn whole(points: usize) -> SeriesRange {
    SeriesRange { from: at(0), to: at(1000), points }
}

fn at_price(price: i32) -> Product {
    let variants = vec![variant("1g", 0, price), variant("1/8oz", 0, 3000)];
    Product { price_rec: Some(price), variants, ..product("a") }
}

/// A store that crawled this product at these seconds and prices.
async fn crawled(prices: &[(i64, i32)]) -> (TestStore, i64) {
    let store = TestStore::new().await;
    for (second, price) in prices {
        store.crawl(*second, vec![at_price(*price)]).await;
    }
    let id = store.row("a").await.unwrap().id;
    (store, id)
}

fn prices(series: &Series<ProductPoint>) -> Vec<Option<i32>> {
    series.points.iter().map(|point| point.offer.price_rec).collect()
}

async fn option(store: &TestStore, id: i64, label: &str, range: SeriesRange) -> Series<OptionPoint> {
    let key = OptionKey { label: label.to_owned(), nth: 0 };
    products::series::of_option(&client(store).await, id, &key, &range).await.unwrap()
}

fn option_prices(series: &Series<OptionPoint>) -> Vec<Option<i32>> {
    series.points.iter().map(|point| point.offer.price_rec).collect()
}

#[tokio::test]
async fn a_products_series_has_a_point_for_each_crawl_in_its_time() {
    let (store, id) = crawled(&[(1, 10), (2, 10), (3, 12), (4, 11)]).await;
    store.beside("Another Store").await.crawl(2, vec![at_price(99)]).await;
    let client = client(&store).await;
    let series = products::series::of_product(&client, id, &whole(100)).await.unwrap();
    assert_eq!(prices(&series), [10, 10, 12, 11].map(Some));
    assert_eq!((series.rows, series.truncated), (4, false));
    assert_eq!(series.points[2].crawled_at, at(3));

    let range = SeriesRange { from: at(2), to: at(4), points: 100 };
    assert_eq!(prices(&products::series::of_product(&client, id, &range).await.unwrap()), [10, 12].map(Some));
}

#[tokio::test]
async fn a_chart_with_few_points_loses_repetitions_and_no_change() {
    let (store, id) = crawled(&[(1, 10), (2, 10), (3, 10), (4, 12), (5, 12), (6, 10), (7, 10)]).await;
    let series = products::series::of_product(&client(&store).await, id, &whole(4)).await.unwrap();
    assert_eq!((prices(&series), series.rows), ([10, 12, 10, 10].map(Some).to_vec(), 7));
}

#[tokio::test]
async fn a_product_that_is_sold_out_says_so() {
    let store = TestStore::new().await;
    store.crawl(1, vec![product("a")]).await;
    let sold_out = Product { is_in_stock: false, stock_status: StockStatus::Oos, quantity: Some(0), ..product("a") };
    store.crawl(2, vec![sold_out]).await;
    let id = store.row("a").await.unwrap().id;
    let series = products::series::of_product(&client(&store).await, id, &whole(10)).await.unwrap();
    let stock: Vec<_> =
        series.points.iter().map(|point| (point.offer.is_in_stock, point.stock_status.as_str())).collect();
    assert_eq!(stock, [(true, "in_stock"), (false, "oos")]);
}

#[tokio::test]
async fn an_options_series_is_its_changes_and_begins_with_what_held_before() {
    let (store, id) = crawled(&[(1, 10), (2, 10), (3, 12), (4, 11), (5, 11)]).await;
    let series = option(&store, id, "1g", whole(100)).await;
    assert_eq!(option_prices(&series), [10, 12, 11].map(Some));
    assert_eq!(option_prices(&option(&store, id, "1/8oz", whole(100)).await), [Some(3000)]);

    let later = SeriesRange { from: at(2), to: at(4), points: 100 };
    let series = option(&store, id, "1g", later).await;
    assert_eq!(option_prices(&series), [10, 12].map(Some));
    assert_eq!(series.points[0].crawled_at, at(1), "it says since when it held");
}

#[tokio::test]
async fn an_option_that_went_is_gone() {
    let (store, id) = crawled(&[(1, 10)]).await;
    let variants: Vec<Variant> = vec![variant("1/8oz", 0, 3000)];
    store.crawl(2, vec![Product { variants, ..at_price(10) }]).await;
    let series = option(&store, id, "1g", whole(100)).await;
    let gone: Vec<_> = series.points.iter().map(|point| (point.gone, point.offer.is_in_stock)).collect();
    assert_eq!(gone, [(false, true), (true, false)]);
}

#[tokio::test]
async fn a_series_of_nothing_is_empty() {
    let (store, id) = crawled(&[(1, 10)]).await;
    let client = client(&store).await;
    assert_eq!(products::series::of_product(&client, id + 1, &whole(10)).await.unwrap().points, []);
    assert_eq!(option(&store, id, "no such", whole(10)).await.points, []);
    let before = SeriesRange { from: at(-20), to: at(-10), points: 10 };
    assert_eq!(products::series::of_product(&client, id, &before).await.unwrap().points, []);
    assert_eq!(option(&store, id, "1g", before).await.points, []);
}

#[tokio::test]
async fn points_are_written_with_the_names_of_their_columns() {
    let (store, id) = crawled(&[(1, 10)]).await;
    let series = products::series::of_product(&client(&store).await, id, &whole(10)).await.unwrap();
    let document = serde_json::to_value(&series).unwrap();
    let point = document["points"][0].as_object().unwrap();
    let names = [
        "crawled_at",
        "price_rec",
        "price_med",
        "special_price_rec",
        "special_price_med",
        "quantity",
        "quantity_censored",
        "is_in_stock",
        "is_on_special",
        "stock_status",
    ];
    assert_eq!(point.len(), names.len());
    assert!(names.iter().all(|name| point.contains_key(*name)), "{point:?}");
    assert_eq!(serde_json::from_value::<Series<ProductPoint>>(document).unwrap(), series);
}
