//! Stores as people see them, and switching their crawls on and off.

use contract::stores::{StoreCursor, StoreFilter, StoreSort, StoreView};
use db::{DbError, stores};
use domain::menu::product::Product;
use domain::store::{Platform, StoreId};

use super::client;
use crate::handlers::test_store::{TestStore, at, product};

async fn list(store: &TestStore, filter: StoreFilter) -> Vec<StoreId> {
    ids(stores::views::list(&client(store).await, &filter, 500).await.unwrap().stores)
}

fn ids(stores: Vec<StoreView>) -> Vec<StoreId> {
    stores.into_iter().map(|store| store.id).collect()
}

#[tokio::test]
async fn a_store_shows_how_far_its_crawls_have_come_and_what_it_sells() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    let fresh = stores::views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((fresh.products, fresh.last_payload_id, fresh.last_coverage), (0, None, None));

    let products = vec![
        Product { is_on_special: true, ..product("a") },
        product("b"),
        Product { is_in_stock: false, is_on_special: true, ..product("c") },
    ];
    store.crawl(1, products.clone()).await;
    let partial = store.payload(2, 3, 0.6).await;
    store.refresh(&partial, products).await;

    let shown = stores::views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((shown.products, shown.in_stock, shown.on_special), (3, 2, 1));
    assert_eq!((shown.last_payload_id, shown.last_payload_at), (Some(partial.id), Some(at(2))));
    assert_eq!((shown.last_complete_at, shown.last_coverage), (Some(at(1)), Some(0.6)));
    let document = serde_json::to_value(&shown).unwrap();
    assert_eq!(serde_json::from_value::<StoreView>(document).unwrap(), shown);
    assert_eq!(stores::views::get(&client, store.id + 1).await.unwrap(), None);
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
    let after = Some(StoreCursor { number: 0, text: String::new(), id: a });
    assert_eq!(list(&first, StoreFilter { after: after.clone(), ..none() }).await, [b, c]);
    let page = stores::views::list(&client(&first).await, &StoreFilter { after, ..none() }, 1).await.unwrap();
    assert_eq!((ids(page.stores), page.total, page.next.map(|next| next.id)), (vec![b], 3, Some(b)));
}

#[tokio::test]
async fn every_order_lists_each_store_once_page_by_page() {
    let a = TestStore::new().await;
    let (b, c, d) = (a.beside("bravo").await, a.beside("charlie").await, a.beside("delta").await);
    let change = format!(
        "UPDATE dispensaries SET name = 'alpha', state = 'MI', last_complete_at = now() - interval '1 hour' WHERE id = {};
         UPDATE dispensaries SET name = 'bravo', state = 'AZ', platform_dispensary_id = NULL WHERE id = {};
         UPDATE dispensaries SET name = 'Charlie', state = 'AZ', last_complete_at = now() - interval '9 hours' WHERE id = {};
         UPDATE dispensaries SET name = 'delta', state = NULL, crawl_enabled = false, last_complete_at = 'infinity' WHERE id = {}",
        a.id, b.id, c.id, d.id
    );
    a.database.raw.batch_execute(&change).await.unwrap();
    let (a_id, b, c, d) = (a.id, b.id, c.id, d.id);
    let client = client(&a).await;
    for (sort, expected) in [
        (StoreSort::Id, [a_id, b, c, d]),
        (StoreSort::Trouble, [b, a_id, c, d]),
        (StoreSort::Name, [a_id, b, c, d]),
        (StoreSort::NameDesc, [d, c, b, a_id]),
        (StoreSort::State, [b, c, a_id, d]),
        (StoreSort::StateDesc, [d, a_id, c, b]),
        (StoreSort::LastComplete, [b, d, c, a_id]),
        (StoreSort::LastCompleteDesc, [a_id, c, d, b]),
    ] {
        let (mut after, mut found) = (None, Vec::new());
        for _ in 0..4 {
            let filter = StoreFilter { sort, after, ..StoreFilter::default() };
            let page = stores::views::list(&client, &filter, 1).await.unwrap();
            assert_eq!(page.total, 4);
            found.extend(ids(page.stores));
            after = page.next;
        }
        assert_eq!((found.as_slice(), after), (expected.as_slice(), None), "{sort}");
    }
}

#[tokio::test]
async fn a_page_without_stores_still_has_the_total() {
    let store = TestStore::new().await;
    let after = Some(StoreCursor { number: 0, text: String::new(), id: i64::MAX });
    let page =
        stores::views::list(&client(&store).await, &StoreFilter { after, ..StoreFilter::default() }, 5).await.unwrap();
    assert_eq!((page.stores.len(), page.total, page.next), (0, 1, None));
}

#[tokio::test]
async fn a_store_is_switched_off_and_on_and_says_whether_that_changed_it() {
    let store = TestStore::new().await;
    let client = client(&store).await;
    for (enabled, changes) in [(true, false), (false, true), (false, false), (true, true)] {
        assert_eq!(stores::set_crawl_enabled(&client, store.id, enabled).await.unwrap(), changes, "{enabled}");
        assert_eq!(stores::views::get(&client, store.id).await.unwrap().unwrap().crawl_enabled, enabled);
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
    let shown = stores::views::get(&client, store.id).await.unwrap().unwrap();
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
    let shown = stores::views::get(&client, store.id).await.unwrap().unwrap();
    assert_eq!((shown.crawl_enabled, shown.disabled_reason.as_deref()), (true, Some("closed")));
}
