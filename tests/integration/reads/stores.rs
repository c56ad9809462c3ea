//! Stores as people see them, and switching their crawls on and off.

use contract::stores::{StoreFilter, StoreView};
use db::{DbError, store_views, stores};
use domain::product::Product;
use domain::store::{Platform, StoreId};

use super::client;
use crate::handlers::test_store::{TestStore, at, product};

async fn list(store: &TestStore, filter: StoreFilter) -> Vec<StoreId> {
    ids(store_views::list(&client(store).await, &filter, 500).await.unwrap())
}

fn ids(stores: Vec<StoreView>) -> Vec<StoreId> {
    stores.into_iter().map(|store| store.id).collect()
}

#[tokio::test]
async fn a_store_shows_how_far_its_crawls_have_come_and_what_it_sells() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    let fresh = store_views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((fresh.products, fresh.last_payload_id, fresh.last_coverage), (0, None, None));

    let products = vec![
        Product { is_on_special: true, ..product("a") },
        product("b"),
        Product { is_in_stock: false, is_on_special: true, ..product("c") },
    ];
    store.crawl(1, products.clone()).await;
    let partial = store.payload(2, 3, 0.6).await;
    store.refresh(&partial, products).await;

    let shown = store_views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((shown.products, shown.in_stock, shown.on_special), (3, 2, 1));
    assert_eq!((shown.last_payload_id, shown.last_payload_at), (Some(partial.id), Some(at(2))));
    assert_eq!((shown.last_complete_at, shown.last_coverage), (Some(at(1)), Some(0.6)));
    let document = serde_json::to_value(&shown).unwrap();
    assert_eq!(serde_json::from_value::<StoreView>(document).unwrap(), shown);
    assert_eq!(store_views::get(&client, store.id + 1).await.unwrap(), None);
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let first = TestStore::new().await;
    let second = first.beside("Granite Trail").await;
    let third = first.beside("Third").await;
    let change = format!(
        "UPDATE dispensaries SET state = 'MI', slug = 'Granite', groups = '{{rivals}}', crawl_enabled = false WHERE id = {};
         UPDATE dispensaries SET platform = 'dutchie_plus', city = 'Traverse City' WHERE id = {}",
        second.id, third.id
    );
    first.database.raw.batch_execute(&change).await.unwrap();
    let (a, b, c) = (first.id, second.id, third.id);
    let none = StoreFilter::default;

    assert_eq!(list(&first, none()).await, [a, b, c]);
    assert_eq!(list(&first, StoreFilter { state: Some("mi".to_owned()), ..none() }).await, [b]);
    assert_eq!(list(&first, StoreFilter { platform: Some(Platform::DutchiePlus), ..none() }).await, [c]);
    assert_eq!(list(&first, StoreFilter { group: Some("rivals".to_owned()), ..none() }).await, [b]);
    assert_eq!(list(&first, StoreFilter { crawl_enabled: Some(true), ..none() }).await, [a, c]);
    for (q, expected) in [("grani", vec![b]), ("TRA", vec![b, c]), (&c.to_string(), vec![c]), ("_", vec![])] {
        assert_eq!(list(&first, StoreFilter { q: Some(q.to_owned()), ..none() }).await, expected, "{q}");
    }
    assert_eq!(list(&first, StoreFilter { after: Some(a), ..none() }).await, [b, c]);
    let page = store_views::list(&client(&first).await, &StoreFilter { after: Some(a), ..none() }, 1).await.unwrap();
    assert_eq!(ids(page), [b]);
}

#[tokio::test]
async fn a_store_is_switched_off_and_on_and_says_whether_that_changed_it() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    for (enabled, changes) in [(true, false), (false, true), (false, false), (true, true)] {
        assert_eq!(stores::set_crawl_enabled(&client, store.id, enabled).await.unwrap(), changes, "{enabled}");
        assert_eq!(store_views::get(&client, store.id).await.unwrap().unwrap().crawl_enabled, enabled);
    }
    let answer = stores::set_crawl_enabled(&client, store.id + 1, false).await;
    assert!(matches!(answer, Err(DbError::Missing(_))), "{answer:?}");
}

#[tokio::test]
async fn what_a_person_switches_off_is_not_discoverys_to_switch_on() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    let closed = "UPDATE dispensaries SET crawl_enabled = false, disabled_reason = 'closed'";
    store.database.raw.batch_execute(closed).await.unwrap();
    assert!(!stores::set_crawl_enabled(&client, store.id, false).await.unwrap());
    let shown = store_views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((shown.crawl_enabled, shown.disabled_reason), (false, None));
}

#[tokio::test]
async fn a_store_that_discovery_closed_and_a_person_switched_on_keeps_its_reason_so_that_discovery_leaves_it() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    let closed = "UPDATE dispensaries SET crawl_enabled = false, disabled_reason = 'closed'";
    store.database.raw.batch_execute(closed).await.unwrap();
    assert!(stores::set_crawl_enabled(&client, store.id, true).await.unwrap());
    assert!(!stores::set_crawl_enabled(&client, store.id, true).await.unwrap());
    let shown = store_views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((shown.crawl_enabled, shown.disabled_reason.as_deref()), (true, Some("closed")));
}
