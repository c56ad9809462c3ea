//! A store's specials are kept once, whatever the number of products that have them.

use domain::menu::product::{Product, SpecialsJson};

use super::test_store::{TestStore, product};

fn with(id: &str, special: &str) -> Product {
    let json = format!(r#"{{"saleSpecials":[{{"specialName":"{special}"}}]}}"#);
    Product { specials: Some(SpecialsJson::new(json)), ..product(id) }
}

/// The special of each product, as `product_specials` reads it, in the order of their ids.
async fn read(store: &TestStore) -> Vec<(String, Option<String>)> {
    let sql = "SELECT p.provider_product_id, product_specials(p)->'saleSpecials'->0->>'specialName'
                 FROM store_products p WHERE p.dispensary_id = $1 ORDER BY 1";
    let rows = store.database.raw.query(sql, &[&store.id]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn expected(specials: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    specials.iter().map(|(id, special)| ((*id).to_owned(), Some((*special).to_owned()))).collect()
}

async fn kept(store: &TestStore) -> i64 {
    store.count(&format!("SELECT count(*) FROM store_specials WHERE dispensary_id = {}", store.id)).await
}

#[tokio::test]
async fn a_special_of_many_products_is_kept_once_a_store() {
    let store = TestStore::new().await;
    let other = store.beside("Other Store").await;
    for store in [&store, &other] {
        store.crawl(0, vec![with("a", "ten off"), with("b", "ten off"), with("c", "half price")]).await;
        assert_eq!(kept(store).await, 2);
        assert_eq!(read(store).await, expected(&[("a", "ten off"), ("b", "ten off"), ("c", "half price")]));
    }
}

#[tokio::test]
async fn a_product_without_specials_has_none() {
    let store = TestStore::new().await;
    store.crawl(0, vec![Product { specials: None, ..product("a") }]).await;
    assert_eq!(read(&store).await, [("a".to_owned(), None)]);
    assert_eq!(kept(&store).await, 0);
}

#[tokio::test]
async fn a_special_that_no_product_has_any_more_goes() {
    let store = TestStore::new().await;
    store.crawl(0, vec![with("a", "ten off"), with("b", "half price")]).await;
    store.crawl(1, vec![with("a", "new sale"), with("b", "half price")]).await;
    assert_eq!(read(&store).await, expected(&[("a", "new sale"), ("b", "half price")]));
    assert_eq!(kept(&store).await, 2);
}

#[tokio::test]
async fn an_absent_product_keeps_its_special() {
    let store = TestStore::new().await;
    store.crawl(0, vec![with("a", "ten off"), with("b", "half price")]).await;
    store.crawl(1, vec![with("b", "new sale")]).await;
    assert_eq!(read(&store).await, expected(&[("a", "ten off"), ("b", "new sale")]));
}

#[tokio::test]
async fn what_only_an_older_payload_knows_comes_with_its_special() {
    let store = TestStore::new().await;
    let older = store.payload(0, 1, 1.0).await;
    store.crawl(1, vec![with("b", "half price")]).await;
    store.refresh(&older, vec![with("a", "ten off")]).await;
    assert_eq!(read(&store).await, expected(&[("a", "ten off"), ("b", "half price")]));
}

#[tokio::test]
async fn a_row_that_a_release_before_wrote_is_read_and_then_replaced() {
    let store = TestStore::new().await;
    store.crawl(0, vec![with("a", "ten off")]).await;
    let before = r#"{"saleSpecials":[{"specialName":"of before"}]}"#;
    let sql = format!("UPDATE store_products SET specials = '{before}', specials_hash = NULL, content_hash = NULL");
    store.database.raw.batch_execute(&sql).await.unwrap();
    assert_eq!(read(&store).await, expected(&[("a", "of before")]));

    store.crawl(1, vec![with("a", "ten off")]).await;
    assert_eq!(read(&store).await, expected(&[("a", "ten off")]));
}

#[tokio::test]
async fn a_store_that_is_deleted_takes_its_specials_along() {
    let store = TestStore::new().await;
    store.crawl(0, vec![product("a")]).await;
    store.database.raw.batch_execute("DELETE FROM dispensaries").await.unwrap();
    assert_eq!(store.count("SELECT count(*) FROM store_specials").await, 0);
}
