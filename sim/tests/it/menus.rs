//! Content of menus, page by page.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use sha2::{Digest, Sha256};
use sim::{Coding, Goods, Settings, Simulator};

use crate::support::{menu_page, small};

async fn whole_menu(sim: &Simulator, store: &str, per_page: usize) -> (usize, Vec<Value>) {
    let first = menu_page(sim, store, 0, per_page).await;
    let pages = first.json()["data"]["filteredProducts"]["queryInfo"]["totalPages"].as_u64().unwrap() as usize;
    let mut products = first.products();
    for page in 1..pages {
        products.extend(menu_page(sim, store, page, per_page).await.products());
    }
    (first.total(), products)
}

fn id(product: &Value) -> String {
    product["_id"].as_str().unwrap().to_owned()
}

/// The digest of the bytes of all menus in three crawls.
async fn digest(sim: &Simulator) -> String {
    let mut bytes = Sha256::new();
    for crawl in 1..=3 {
        sim.set_crawl(crawl);
        for store in sim.stores() {
            for page in 0..3 {
                bytes.update(&menu_page(sim, &store.platform_dispensary_id, page, 100).await.body);
            }
        }
    }
    bytes.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_world_is_the_same_in_every_build() {
    let sim = Simulator::start(small()).unwrap();
    assert_eq!(digest(&sim).await, "9ed96c21ffc1d6c0b72a13fd7d4bf343ece148a4db118f1cf55268d6578b0e37");
}

#[tokio::test]
async fn distinct_ids_reach_the_total_at_every_page_size() {
    let sim = Simulator::start(small()).unwrap();
    let mut overlaps = 0;
    for store in sim.stores() {
        for per_page in [25, 50, 100] {
            let (total, products) = whole_menu(&sim, &store.platform_dispensary_id, per_page).await;
            let distinct: HashSet<String> = products.iter().map(id).collect();
            assert_eq!(distinct.len(), total);
            overlaps += products.len() - distinct.len();
        }
    }
    assert!(overlaps > 0, "pages never overlap");
}

#[tokio::test]
async fn each_page_of_odd_goods_overlaps_with_the_next() {
    let sim = Simulator::start(Settings { goods: Goods::Odd, ..small() }).unwrap();
    for store in sim.stores() {
        let (total, products) = whole_menu(&sim, &store.platform_dispensary_id, 25).await;
        assert!(products.len() >= total + total / 25 - 1, "{} rows of {total} products", products.len());
    }
}

#[tokio::test]
async fn the_last_copy_of_an_overlapping_product_is_newer_and_the_same_at_every_page_size() {
    let sim = Simulator::start(small()).unwrap();
    for store in sim.stores() {
        let mut last: Vec<HashMap<String, Value>> = Vec::new();
        for per_page in [25, 50, 100] {
            let (_, products) = whole_menu(&sim, &store.platform_dispensary_id, per_page).await;
            let mut by_id = HashMap::new();
            for product in products {
                let key = id(&product);
                let earlier: Option<Value> = by_id.insert(key.clone(), product);
                assert!(earlier.is_none_or(|earlier| earlier["Prices"] != by_id[&key]["Prices"]));
            }
            last.push(by_id);
        }
        assert!(last[0] == last[1] && last[1] == last[2]);
    }
}

#[tokio::test]
async fn a_page_past_the_end_is_empty() {
    let sim = Simulator::start(small()).unwrap();
    let answer = menu_page(&sim, &sim.stores()[0].platform_dispensary_id, 50, 100).await;
    assert_eq!((answer.status.as_u16(), answer.products().len()), (200, 0));
    assert!(answer.total() > 0);
}

#[tokio::test]
async fn equal_settings_make_equal_menus_in_any_order_of_requests() {
    let (one, other) = (Simulator::start(small()).unwrap(), Simulator::start(small()).unwrap());
    let ids: Vec<&str> = one.stores().iter().map(|store| store.platform_dispensary_id.as_str()).collect();
    let mut forward = Vec::new();
    for store in &ids {
        forward.push(menu_page(&one, store, 0, 100).await.body);
    }
    other.set_crawl(7);
    menu_page(&other, ids[0], 1, 25).await;
    other.set_crawl(1);
    for (store, body) in ids.iter().zip(forward).rev() {
        assert_eq!(menu_page(&other, store, 0, 100).await.body, body);
    }
}

#[tokio::test]
async fn another_seed_sells_other_things() {
    let one = Simulator::start(small()).unwrap();
    let other = Simulator::start(Settings { seed: 2, ..small() }).unwrap();
    assert_ne!(one.stores()[0].platform_dispensary_id, other.stores()[0].platform_dispensary_id);
}

#[tokio::test]
async fn products_have_the_shapes_of_real_ones() {
    let sim = Simulator::start(Settings { stores: 8, ..small() }).unwrap();
    let mut products = Vec::new();
    for store in sim.stores() {
        products.extend(whole_menu(&sim, &store.platform_dispensary_id, 100).await.1);
    }
    let some = |what: &str, is: &dyn Fn(&Value) -> bool| assert!(products.iter().any(is), "none {what}");
    for product in &products {
        let keys = product.as_object().unwrap().len();
        assert!((62..=64).contains(&keys), "{keys} keys");
        assert_ne!(product["special"], Value::Bool(false));
        for child in product["POSMetaData"]["children"].as_array().into_iter().flatten() {
            assert!(child["quantity"].as_u64().unwrap() <= 25);
        }
    }
    some("on sale", &|p| {
        p["special"] == true && p["recSpecialPrices"].as_array().is_some_and(|prices| !prices.is_empty())
    });
    some("with a zero special", &|p| p["recSpecialPrices"].as_array().unwrap().contains(&Value::from(0)));
    some("at the cap", &|p| p["POSMetaData"]["children"][0]["quantity"] == 25);
    some("with manual stock above the cap", &|p| p["manualInventory"][0]["inventory"].as_u64() > Some(25));
    some("without stock", &|p| p["POSMetaData"].is_null() && p["manualInventory"].is_null());
    some("with a legacy id", &|p| id(p).len() == 17);
    some("inactive", &|p| p["Status"] == "Inactive");
    some("without a brand", &|p| p["brand"].is_null());
    some("with a nameless brand", &|p| p["brand"].is_object() && p["brand"]["name"].is_null());
    some("with a padded brandName", &|p| p["brandName"].as_str().is_some_and(|name| name.ends_with(' ')));
    some("with several options", &|p| p["Options"].as_array().unwrap().len() > 2);
    some("with half cents", &|p| p["Prices"][0].to_string().ends_with("5") && p["Prices"][0].to_string().len() > 5);
    some("without rec prices", &|p| p["recPrices"].as_array().unwrap().is_empty());
    some("with null THC", &|p| p["THCContent"].is_null());
    some("with a THC range", &|p| p["THCContent"]["range"].as_array().is_some_and(|range| range.len() == 2));
    some("with a bogo", &|p| p["specialData"]["bogoSpecials"][0]["bogoRewards"][0]["totalQuantity"]["quantity"] == 1);
    some("without an image", &|p| p["Image"] == "");
    some("created in ISO form", &|p| p["createdAt"].as_str().unwrap().contains('T'));
    let mut sizes: Vec<usize> = products.iter().map(|product| product.to_string().len()).collect();
    sizes.sort_unstable();
    let median = sizes[sizes.len() / 2];
    assert!((4200..=5600).contains(&median), "median size {median}");
}

#[tokio::test]
async fn the_default_world_has_about_fifteen_thousand_products() {
    for seed in [1, 2, 77] {
        let sim = Simulator::start(Settings { seed, ..Settings::default() }).unwrap();
        let sizes: Vec<usize> = sim.snapshots_expected(1).into_iter().map(|(_, count)| count).collect();
        let sum: usize = sizes.iter().sum();
        assert!((13_000..=17_500).contains(&sum), "seed {seed}: {sum}");
        assert!(sizes.iter().filter(|count| **count > 1000).count() >= 2, "{sizes:?}");
    }
}

#[tokio::test]
async fn repriced_menus_have_other_prices_and_nothing_else() {
    let sim = Simulator::start(small()).unwrap();
    let before = sim.oracle(1);
    sim.set_repriced(10);
    let (mut all, mut dearer) = (0, 0);
    for (before, after) in before.iter().zip(sim.oracle(1)) {
        for (before, after) in before.products.iter().zip(after.products) {
            all += 1;
            if *before == after {
                continue;
            }
            dearer += 1;
            assert_eq!(after.variants[0].price_rec, before.variants[0].price_rec.map(|price| price + 100));
            assert_eq!((after.is_on_special, after.quantity), (before.is_on_special, before.quantity));
        }
    }
    assert!((5..15).contains(&(100 * dearer / all)), "{dearer} of {all}");
}

#[tokio::test]
async fn kept_pages_are_those_of_the_menu_as_it_is() {
    let sim = Simulator::start(Settings { keep_pages: true, ..small() }).unwrap();
    let other = Simulator::start(small()).unwrap();
    sim.render_menus(100, Coding::Gzip).await.unwrap();
    let store = &sim.stores()[0].platform_dispensary_id;
    for repriced in [0, 100, 0] {
        sim.set_repriced(repriced);
        other.set_repriced(repriced);
        for _ in 0..2 {
            assert_eq!(whole_menu(&sim, store, 100).await, whole_menu(&other, store, 100).await);
        }
    }
}
