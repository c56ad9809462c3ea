//! Products that a person changes at psql: the next crawl of their store writes them again.

use rstest::rstest;
use serde_json::Value;

use super::test_store::{TestStore, product, variant};

impl TestStore {
    /// All that the tables say of its products and options, without when it was written.
    async fn content(&self) -> Vec<Value> {
        let sql = "SELECT to_jsonb(p) - 'updated_at' - 'last_seen_at' FROM store_products p UNION ALL \
                   SELECT to_jsonb(v) FROM store_product_variants v ORDER BY 1";
        self.database.raw.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

#[rstest]
#[case::a_name_and_a_price("UPDATE store_products SET name_raw = 'HACKED', price_rec = 1")]
#[case::with_the_older_systems_habits("UPDATE store_products SET price_rec = 1, updated_at = now()")]
#[case::its_stock("UPDATE store_products SET is_in_stock = false, stock_status = 'oos'")]
#[case::the_price_of_an_option("UPDATE store_product_variants SET price_rec = 1")]
#[case::an_option_that_is_gone("DELETE FROM store_product_variants WHERE option_label = '2g'")]
#[case::an_option_too_many(
    "INSERT INTO store_product_variants (store_product_id, option_label, nth, quantity_censored, is_in_stock) \
     SELECT id, '9g', 0, false, true FROM store_products"
)]
#[case::a_product_that_is_gone(
    "DELETE FROM store_product_variants; DELETE FROM store_products WHERE provider_product_id = 'a'"
)]
#[tokio::test]
async fn what_is_changed_by_hand_is_written_again_by_the_next_crawl(#[case] change: &str) {
    let store = TestStore::new().await;
    let menu = || {
        ["a", "b"].map(|id| {
            let mut product = product(id);
            product.variants = vec![variant("1g", 0, 1000), variant("2g", 0, 1800)];
            product
        })
    };
    store.crawl(1, menu().to_vec()).await;
    let before = store.content().await;
    store.database.raw.batch_execute(change).await.unwrap();
    store.crawl(2, menu().to_vec()).await;
    let after = store.content().await;
    match change.contains("DELETE FROM store_products") {
        true => assert_eq!(after.len(), before.len()),
        false => assert_eq!(after, before),
    }
    let marks = store.marks("store_products").await;
    store.crawl(3, menu().to_vec()).await;
    assert_eq!(store.marks("store_products").await, marks, "once");
}
