//! Products as people see them: one with its options, and a store's, filtered, sorted and page by page.

use contract::products::{ProductDetail, ProductFilter, ProductSort, ProductView};
use db::products;
use domain::menu::product::Product;
use serde_json::json;

use super::client;
use crate::handlers::test_store::{TestStore, at, product, variant};

/// A store with products of these names, brands, prices and stock.
async fn selling(products: Vec<Product>) -> TestStore {
    let store = TestStore::new().await;
    store.crawl(1, products).await;
    store
}

fn named(id: &str, name: &str, brand: Option<&str>, price: Option<i32>) -> Product {
    Product {
        name_raw: name.to_owned(),
        brand_name_raw: brand.map(str::to_owned),
        price_rec: price,
        variants: vec![],
        ..product(id)
    }
}

async fn list(store: &TestStore, filter: ProductFilter) -> Vec<String> {
    ids(products::views::of_store(&client(store).await, store.id, &filter, 500).await.unwrap().products)
}

fn ids(products: Vec<ProductView>) -> Vec<String> {
    products.into_iter().map(|product| product.provider_product_id).collect()
}

#[tokio::test]
async fn a_product_is_shown_with_its_specials_and_its_options_in_the_order_of_the_menu() {
    let options = vec![variant("7g", 0, 5000), variant("1g", 0, 1000), variant("1g", 1, 900)];
    let store = selling(vec![Product { special_price_rec: Some(900), variants: options, ..product("a") }]).await;
    let id = store.row("a").await.unwrap().id;
    let client = client(&store).await;

    let shown = products::views::detail(&client, id).await.unwrap().unwrap();

    assert_eq!((shown.product.dispensary_name.as_str(), shown.product.state.as_deref()), ("Test Store", Some("AZ")));
    assert_eq!((shown.product.price, shown.product.price_rec), (Some(900), Some(1000)));
    assert_eq!((shown.product.first_seen_at, shown.product.last_seen_at), (at(1), at(1)));
    let options: Vec<_> = shown.options.iter().map(|option| (option.option_label.as_str(), option.nth)).collect();
    assert_eq!(options, [("7g", 0), ("1g", 0), ("1g", 1)]);
    assert_eq!(shown.specials, Some(json!({"saleSpecials": [{"specialName": "Ten off"}]})));
    assert_eq!(shown.attributes.as_ref().and_then(|attributes| attributes.delivery), Some(true));
    let document = serde_json::to_value(&shown).unwrap();
    assert_eq!((&document["name"], &document["brand"]), (&json!("Product a"), &json!("Brand")));
    assert_eq!(serde_json::from_value::<ProductDetail>(document).unwrap(), shown);
    assert_eq!(products::views::detail(&client, id + 1).await.unwrap(), None);
}

#[tokio::test]
async fn a_product_without_a_miss_was_seen_by_the_last_whole_crawl() {
    let store = selling(vec![product("a"), product("b")]).await;
    store.crawl(2, vec![product("a")]).await;
    let client = client(&store).await;
    for (name, seen) in [("a", at(2)), ("b", at(1))] {
        let id = store.row(name).await.unwrap().id;
        assert_eq!(products::views::detail(&client, id).await.unwrap().unwrap().product.last_seen_at, seen, "{name}");
    }
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let store = selling(vec![
        Product { category: Some("Edible".to_owned()), ..named("gummy", "Gummy", Some("Sweets"), Some(500)) },
        Product { is_in_stock: false, ..named("flower", "Flower of Sweets", Some("Fields"), Some(2000)) },
        Product { is_on_special: true, special_price_rec: Some(700), ..named("sale", "Sale", None, Some(3000)) },
        named("free", "Without a price", Some("Fields"), None),
    ])
    .await;
    store.beside("Another Store").await.crawl(1, vec![product("elsewhere")]).await;
    let none = ProductFilter::default;

    assert_eq!(list(&store, none()).await, ["flower", "gummy", "sale", "free"]);
    let category = Some("edible".to_owned());
    assert_eq!(list(&store, ProductFilter { category, ..none() }).await, ["gummy"]);
    let brand = Some("FIELDS".to_owned());
    assert_eq!(list(&store, ProductFilter { brand, ..none() }).await, ["flower", "free"]);
    assert_eq!(list(&store, ProductFilter { in_stock: Some(false), ..none() }).await, ["flower"]);
    assert_eq!(list(&store, ProductFilter { on_special: Some(true), ..none() }).await, ["sale"]);
    assert_eq!(list(&store, ProductFilter { min_price: Some(700), ..none() }).await, ["flower", "sale"]);
    assert_eq!(list(&store, ProductFilter { max_price: Some(700), ..none() }).await, ["gummy", "sale"]);
    let q = Some("sWeEts".to_owned());
    assert_eq!(list(&store, ProductFilter { q, ..none() }).await, ["flower", "gummy"]);
    let q = Some("%".to_owned());
    assert_eq!(list(&store, ProductFilter { q, ..none() }).await, Vec::<String>::new(), "it is no pattern");
}

#[tokio::test]
async fn pages_of_any_size_hold_each_product_once_in_order() {
    let first = vec![
        named("cheap", "Banana", Some("b"), Some(100)),
        named("dear", "apple", Some("c"), Some(i32::MAX)),
        named("nameless", "cherry", None, Some(200)),
    ];
    let store = selling(first.clone()).await;
    store.crawl(2, [first, vec![named("free", "Date", Some("A"), None)]].concat()).await;

    let client = client(&store).await;
    let cases: [(&str, ProductSort, [&str; 4]); 5] = [
        ("by name", ProductSort::Name, ["dear", "cheap", "nameless", "free"]),
        ("by brand", ProductSort::Brand, ["free", "cheap", "dear", "nameless"]),
        ("by price", ProductSort::Price, ["cheap", "nameless", "dear", "free"]),
        ("from the dearest", ProductSort::PriceDesc, ["dear", "nameless", "cheap", "free"]),
        ("newest first", ProductSort::Newest, ["free", "cheap", "dear", "nameless"]),
    ];
    for (case, sort, expected) in cases {
        println!("{case}");
        for size in 1..=5 {
            let mut seen = Vec::new();
            let mut filter = ProductFilter { sort, ..ProductFilter::default() };
            loop {
                let page = products::views::of_store(&client, store.id, &filter, size).await.unwrap();
                assert!(page.products.len() as i64 <= size);
                seen.extend(ids(page.products));
                let Some(next) = page.next else { break };
                filter.after = Some(next);
            }
            assert_eq!(seen, expected, "pages of {size}");
        }
    }
}

#[tokio::test]
async fn products_of_one_name_are_each_on_a_page() {
    let long = "x".repeat(300);
    let store = selling((0..5).map(|n| named(&n.to_string(), &long, None, None)).collect()).await;
    let client = client(&store).await;
    let mut filter = ProductFilter::default();
    let mut seen = Vec::new();
    loop {
        let page = products::views::of_store(&client, store.id, &filter, 2).await.unwrap();
        seen.extend(ids(page.products));
        let Some(next) = page.next else { break };
        assert!(next.text.len() <= 100, "a cursor is short");
        filter.after = Some(next);
    }
    assert_eq!(seen, ["0", "1", "2", "3", "4"]);
}
