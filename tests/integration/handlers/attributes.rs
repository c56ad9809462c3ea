//! A product's attributes are kept with it, and change with it.

use domain::menu::attributes::{Attributes, AttributesJson};
use domain::menu::product::Product;
use serde_json::{Value, json};

use super::test_store::{TestStore, product};

fn strain(name: &str, reviews: i64) -> Option<AttributesJson> {
    let strain_name = Some(name.to_owned());
    Attributes { strain_name, reviews: Some(reviews), rating: Some(4.5), ..Attributes::default() }.into_json()
}

fn with(id: &str, attributes: Option<AttributesJson>) -> Product {
    Product { attributes, ..product(id) }
}

/// The attributes of each product, in the order of their ids.
async fn read(store: &TestStore) -> Vec<Option<Value>> {
    let sql =
        "SELECT product_attributes(p) FROM store_products p WHERE p.dispensary_id = $1 ORDER BY p.provider_product_id";
    let rows = store.database.raw.query(sql, &[&store.id]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn expected(name: &str, reviews: i64) -> Option<Value> {
    Some(json!({ "strain_name": name, "rating": 4.5, "reviews": reviews }))
}

async fn kept(store: &TestStore) -> i64 {
    store.count("SELECT count(*) FROM store_attributes").await
}

#[tokio::test]
async fn attributes_come_change_and_go_with_their_product() {
    let store = TestStore::new().await;
    let same = || strain("Sunday Biscuit", 3);
    store.crawl(0, vec![with("a", same()), with("b", same()), with("c", None)]).await;
    assert_eq!(read(&store).await, [expected("Sunday Biscuit", 3), expected("Sunday Biscuit", 3), None]);
    assert_eq!(kept(&store).await, 1);
    store.crawl(1, vec![with("a", strain("Blue Ledger", 3)), with("b", None), with("c", None)]).await;
    assert_eq!(read(&store).await, [expected("Blue Ledger", 3), None, None]);
    assert_eq!(kept(&store).await, 1);
}

#[tokio::test]
async fn a_review_alone_writes_nothing_and_comes_with_the_next_change() {
    let store = TestStore::new().await;
    store.crawl(0, vec![with("a", strain("Sunday Biscuit", 3))]).await;
    store.crawl(1, vec![with("a", strain("Sunday Biscuit", 4))]).await;
    assert_eq!(read(&store).await, [expected("Sunday Biscuit", 3)]);
    let renamed = Product { name_raw: "Another name".to_owned(), ..with("a", strain("Sunday Biscuit", 5)) };
    store.crawl(2, vec![renamed]).await;
    assert_eq!(read(&store).await, [expected("Sunday Biscuit", 5)]);
}

#[tokio::test]
async fn a_store_that_is_deleted_takes_its_attributes_along() {
    let store = TestStore::new().await;
    store.crawl(0, vec![with("a", strain("Sunday Biscuit", 3))]).await;
    store.database.raw.batch_execute("DELETE FROM dispensaries").await.unwrap();
    assert_eq!(kept(&store).await, 0);
}
