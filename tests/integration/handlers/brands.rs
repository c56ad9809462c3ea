//! Logos of the brands that menus name.

use domain::menu::product::Product;

use super::test_store::{TestStore, product};

const LOGO: &str = "SELECT count(*) FROM brands WHERE name = 'Tin Lantern' AND image_url = ";

fn with_logo(address: &str) -> Vec<Product> {
    let product = product("p1");
    vec![Product {
        brand_name_raw: Some("Tin Lantern".to_owned()),
        brand_image_url: Some(address.to_owned()),
        ..product
    }]
}

#[tokio::test]
async fn an_unchanged_menu_gives_a_brand_its_logo_once_another_has_failed() {
    let store = TestStore::new().await;
    let other = store.beside("Other Store").await;
    store.crawl(1, with_logo("http://a.test/1")).await;
    other.crawl(2, with_logo("http://a.test/2")).await;
    let has_logo = async |address: &str| store.count(&format!("{LOGO}'{address}'")).await == 1;
    assert!(has_logo("http://a.test/1").await);

    let fail = "INSERT INTO brand_image_failures (brand_id, image_url, reason, tries, retry_at)
                SELECT id, image_url, 'not_found', 1, now() FROM brands";
    store.database.raw.batch_execute(fail).await.unwrap();
    assert_eq!(other.crawl(3, with_logo("http://a.test/2")).await.unchanged, 1);
    assert!(has_logo("http://a.test/2").await);
}
