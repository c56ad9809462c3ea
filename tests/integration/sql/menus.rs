//! The menu of a store at a time: which crawl it is of, and what it has.

use chrono::{DateTime, Utc};
use domain::menu::product::Product;
use tokio_postgres::types::ToSql;

use crate::handlers::test_store::{TestStore, at, menu_write, product, variant};

fn with(id: &str, options: &[(&str, i32)]) -> Product {
    let variants = options.iter().map(|(label, price)| variant(label, 0, *price)).collect();
    Product { variants, ..product(id) }
}

/// The options of the menu: product, label and price.
async fn menu(store: &TestStore, time: DateTime<Utc>) -> Vec<String> {
    let sql = "SELECT concat_ws(' ', p.provider_product_id, m.option_label, m.price)
                 FROM drover_v1.menu_as_of($1, $2) m JOIN store_products p ON p.id = m.product_id ORDER BY 1";
    let values: [&(dyn ToSql + Sync); 2] = [&store.id, &time];
    store.database.raw.query(sql, &values).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn it_is_that_of_the_last_whole_crawl_until_then() {
    let store = TestStore::new().await;
    let other = store.beside("Other Store").await;
    let partial = store.payload(0, 1, 0.5).await;
    store.refresh(&partial, vec![with("a", &[("1g", 500)])]).await;
    store.crawl(10, vec![with("a", &[("1g", 1000)]), with("b", &[("1g", 900)])]).await;
    other.crawl(11, vec![with("a", &[("1g", 1)])]).await;
    let partial = store.payload(20, 1, 0.5).await;
    store.refresh(&partial, vec![with("a", &[("1g", 1100)])]).await;
    store.crawl(30, vec![with("a", &[("1g", 1200)])]).await;

    assert_eq!(menu(&store, at(9)).await, Vec::<String>::new());
    for second in [10, 20, 29] {
        assert_eq!(menu(&store, at(second)).await, ["a 1g 1000", "b 1g 900"], "at {second}");
    }
    assert_eq!(menu(&store, at(30)).await, ["a 1g 1200"], "what a crawl lacks is not on its menu");
    assert_eq!(menu(&other, at(60)).await, ["a 1g 1"]);
}

#[tokio::test]
async fn an_option_that_left_is_not_there_until_it_is_back() {
    let store = TestStore::new().await;
    let (both, one) = ([("1g", 1000), ("2g", 1800)], [("1g", 1000)]);
    for (second, options) in [(0, both.as_slice()), (10, &one), (20, &both)] {
        store.crawl(second, vec![with("a", options)]).await;
    }
    assert_eq!(menu(&store, at(5)).await, ["a 1g 1000", "a 2g 1800"]);
    assert_eq!(menu(&store, at(15)).await, ["a 1g 1000"]);
    assert_eq!(menu(&store, at(25)).await, ["a 1g 1000", "a 2g 1800"]);
}

#[tokio::test]
async fn a_payload_that_is_refreshed_again_or_late_changes_no_menu() {
    let store = TestStore::new().await;
    let late = store.payload(5, 1, 1.0).await;
    let first = store.payload(0, 1, 1.0).await;
    let second = store.payload(10, 1, 1.0).await;
    for (payload, price) in [(&first, 1000), (&second, 1200), (&late, 1100), (&second, 1200), (&first, 1000)] {
        store.refresh(payload, vec![with("a", &[("1g", price)])]).await;
    }
    assert_eq!(menu(&store, at(9)).await, ["a 1g 1000"]);
    assert_eq!(menu(&store, at(10)).await, ["a 1g 1200"]);
}

#[tokio::test]
async fn an_option_whose_last_change_was_removed_is_as_it_was_unless_it_changed_later() {
    let store = TestStore::new().await;
    let menu_of = |second: i64, price: i32| store.crawl(second, vec![with("a", &[("1g", 1000), ("2g", price)])]);
    menu_of(0, 1800).await;
    menu_of(10, 1800).await;
    menu_of(20, 1900).await;
    let sql = "DELETE FROM store_product_variant_history WHERE crawled_at < $1";
    store.database.raw.execute(sql, &[&at(5)]).await.unwrap();
    assert_eq!(menu(&store, at(10)).await, ["a 1g 1000"], "the price of the other one is not known");
    assert_eq!(menu(&store, at(20)).await, ["a 1g 1000", "a 2g 1900"]);
}

#[tokio::test]
async fn a_crawl_is_noted_in_the_transaction_that_writes_it_and_goes_with_its_store() {
    let store = TestStore::new().await;
    let payload = store.payload(0, 1, 1.0).await;
    let tx = store.database.db.begin().await.unwrap();
    menu_write(payload, vec![with("a", &[("1g", 1000)])]).write(&tx).await.unwrap();
    drop(tx);
    assert_eq!(store.count("SELECT count(*) FROM whole_crawls").await, 0);
    store.crawl(10, vec![with("a", &[("1g", 1000)])]).await;
    assert_eq!(store.count("SELECT count(*) FROM whole_crawls").await, 1);
    store.database.raw.execute("DELETE FROM dispensaries WHERE id = $1", &[&store.id]).await.unwrap();
    assert_eq!(store.count("SELECT count(*) FROM whole_crawls").await, 0);
}
