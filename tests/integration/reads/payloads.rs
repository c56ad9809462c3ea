//! Payloads as people see them: page by page, and two of a store compared.

use std::path::PathBuf;

use contract::age_sort::AgeSort;
use contract::payloads::{PayloadFilter, PayloadView};
use db::{DbError, payloads};
use domain::menu::stock::PayloadPosition;
use domain::payload::diff::PayloadDiff;
use domain::payload::{Payload, PayloadId};
use domain::store::Platform;
use drover::platforms;
use rstest::rstest;
use serde_json::{Value, json};
use storage::StorageError;

use super::client;
use crate::handlers::harness::HandlerHarness;
use crate::handlers::test_store::{TestStore, at};
use testkit::page;

async fn list(store: &TestStore, filter: PayloadFilter) -> Vec<PayloadId> {
    ids(payloads::views::list(&client(store).await, &filter, 500).await.unwrap())
}

fn ids(views: Vec<PayloadView>) -> Vec<PayloadId> {
    views.into_iter().map(|view| view.id).collect()
}

#[tokio::test]
async fn pages_lead_from_the_newest_fetch_to_the_oldest_and_back() {
    let store = TestStore::new().await;
    let other = store.beside("Another Store").await;
    // two of one moment, and an id that is older than its neighbours
    let mut expected = Vec::new();
    for (second, of_other) in [(5, false), (1, true), (3, false), (3, true), (4, false)] {
        let payload = if of_other { &other } else { &store }.payload(second, 1, 1.0).await;
        expected.push((payload.fetched_at, payload.id));
    }
    expected.sort_unstable_by(|one, other| other.cmp(one));

    let client = client(&store).await;
    let backwards: Vec<_> = expected.iter().rev().copied().collect();
    for (size, sort) in (1..=3).flat_map(|size| [(size, AgeSort::Newest), (size, AgeSort::Oldest)]) {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let filter = PayloadFilter { sort, after, ..PayloadFilter::default() };
            let page = payloads::views::list(&client, &filter, size).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.position());
            seen.extend(page.iter().map(|view| (view.fetched_at, view.id)));
        }
        let expected = if sort == AgeSort::Newest { &expected } else { &backwards };
        assert_eq!(&seen, expected, "pages of {size}, {sort} first");
    }
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let store = TestStore::new().await;
    let other = store.beside("Another Store").await;
    let first = store.payload(1, 1, 1.0).await.id;
    let second = store.payload(2, 1, 1.0).await.id;
    let third = other.payload(3, 1, 1.0).await.id;
    let change = "UPDATE raw_crawl_payloads SET platform = 'of_a_newer_program' WHERE id = $1";
    store.database.raw.execute(change, &[&second]).await.unwrap();

    let none = PayloadFilter::default;
    assert_eq!(list(&store, none()).await, [third, second, first]);
    assert_eq!(list(&store, PayloadFilter { dispensary_id: Some(store.id), ..none() }).await, [second, first]);
    assert_eq!(list(&store, PayloadFilter { platform: Some(Platform::Dutchie), ..none() }).await, [third, first]);
    assert_eq!(list(&store, PayloadFilter { from: Some(at(2)), ..none() }).await, [third, second]);
    assert_eq!(list(&store, PayloadFilter { to: Some(at(2)), ..none() }).await, [first]);
    let before_second = PayloadPosition { fetched_at: at(2), id: second };
    assert_eq!(list(&store, PayloadFilter { after: Some(before_second), ..none() }).await, [first]);
}

#[tokio::test]
async fn a_payload_is_shown_with_its_store() {
    let store = TestStore::new().await;
    let payload = store.payload(1, 4, 1.0).await;
    let client = client(&store).await;
    let shown = payloads::views::get(&client, payload.id).await.unwrap().unwrap();
    assert_eq!((shown.dispensary_name.as_deref(), shown.product_count), (Some("Test Store"), 4));
    let document = serde_json::to_value(&shown).unwrap();
    assert_eq!(document["platform"], "dutchie");
    assert_eq!(serde_json::from_value::<PayloadView>(document).unwrap(), shown);
    assert_eq!(payloads::views::get(&client, payload.id + 1).await.unwrap(), None);
}

#[tokio::test]
async fn the_last_two_payloads_are_compared_unless_others_are_named() {
    let store = TestStore::new().await;
    let mut made = Vec::new();
    for second in [3, 1, 2] {
        made.push(store.payload(second, 1, 1.0).await.id);
    }
    let [newest, oldest, middle] = made[..] else { unreachable!() };
    let client = client(&store).await;
    let chosen = async |from, to| {
        let (from, to) = payloads::views::to_compare(&client, store.id, from, to).await.unwrap();
        (from.id, to.id)
    };
    assert_eq!(chosen(None, None).await, (middle, newest));
    assert_eq!(chosen(None, Some(middle)).await, (oldest, middle));
    assert_eq!(chosen(Some(oldest), None).await, (oldest, newest));
    assert_eq!(chosen(Some(newest), Some(oldest)).await, (newest, oldest));
}

#[tokio::test]
async fn what_a_store_lacks_is_missing() {
    let store = TestStore::new().await;
    let another_store = store.beside("Another Store").await;
    let other = another_store.payload(1, 1, 1.0).await.id;
    let client = client(&store).await;
    let refusal = async |from, to| match payloads::views::to_compare(&client, store.id, from, to).await {
        Err(DbError::Missing(what)) => what,
        answer => panic!("{answer:?}"),
    };
    assert_eq!(refusal(None, None).await, format!("a payload of store {}", store.id));
    let only = store.payload(1, 1, 1.0).await.id;
    assert_eq!(refusal(None, None).await, format!("a payload before {only} of store {}", store.id));
    let elsewhere = format!("payload {other} belongs to store {}; in store {} it", another_store.id, store.id);
    assert_eq!(refusal(Some(other), None).await, elsewhere, "it exists, and is not said to be missing");
    assert_eq!(refusal(None, Some(other)).await, elsewhere);
    assert_eq!(refusal(None, Some(999_999)).await, "payload 999999");
}

/// A menu page of these products.
fn menu(products: &[Value]) -> String {
    let mut document: Value = serde_json::from_str(&page(&[])).unwrap();
    document["data"]["filteredProducts"]["products"] = json!(products);
    document.to_string()
}

fn item(id: &str, prices: [f64; 2], left: i32) -> Value {
    json!({
        "_id": id, "Name": format!("Product {id}"), "Status": "Active", "Options": ["1g", "1/8oz"], "Prices": prices,
        "POSMetaData": { "children": [{ "option": "1g", "quantity": left }, { "option": "1/8oz", "quantity": 7 }] },
    })
}

struct Compared {
    harness: HandlerHarness,
    from: Payload,
    to: Payload,
}

impl Compared {
    async fn of(from: &[&str], to: &[&str]) -> Compared {
        let harness = HandlerHarness::new().await;
        let from = harness.payload(at(1), from).await;
        let to = harness.payload(at(2), to).await;
        Compared { harness, from, to }
    }

    async fn diff(&self) -> Result<PayloadDiff, StorageError> {
        self.harness.services.payloads.diff(&self.from, &self.to, platforms::normalise).await
    }

    /// File of the newer payload.
    fn file(&self) -> PathBuf {
        self.harness.storage.path().join(&self.to.storage_path)
    }
}

#[tokio::test]
async fn two_files_are_compared_option_by_option() {
    let from = menu(&[item("gone", [10.0, 30.0], 4), item("a", [10.0, 30.0], 4), item("b", [10.0, 30.0], 4)]);
    let to = menu(&[item("a", [10.0, 32.0], 0), item("b", [10.0, 30.0], 4), item("new", [9.0, 30.0], 4)]);
    let compared = Compared::of(&[&from], &[&to]).await;

    let diff = serde_json::to_value(compared.diff().await.unwrap()).unwrap();

    assert_eq!((&diff["from"]["id"], &diff["to"]["id"]), (&json!(compared.from.id), &json!(compared.to.id)));
    let counts = ["added", "removed", "priceChanges", "stockChanges", "same"].map(|name| diff["diff"][name].clone());
    assert_eq!(counts, [1, 1, 1, 1, 1].map(Value::from));
    let details = &diff["details"];
    assert_eq!((&details["added"][0]["id"], &details["added"][0]["priceRec"]), (&json!("new"), &json!(900)));
    assert_eq!(details["removed"][0]["id"], "gone");
    let option = &details["priceChanges"][0]["options"][0];
    assert_eq!(option["label"], "1/8oz");
    assert_eq!((&option["from"]["priceRec"], &option["to"]["priceRec"]), (&json!(3000), &json!(3200)));
    let option = &details["stockChanges"][0]["options"][0];
    assert_eq!((&option["from"]["quantity"], &option["to"]["isInStock"]), (&json!(4), &json!(false)));
}

#[tokio::test]
async fn a_payload_compared_with_itself_is_the_same() {
    let compared = Compared::of(&[&page(&["a", "b"])], &[&page(&["b"]), &page(&["a"])]).await;
    let counts = compared.diff().await.unwrap().diff;
    assert_eq!((counts.same, counts.added + counts.removed + counts.price_changes + counts.stock_changes), (2, 0));
}

#[tokio::test]
async fn a_missing_or_damaged_file_says_so() {
    let compared = Compared::of(&[&page(&["a"])], &[&page(&["a"])]).await;
    std::fs::write(compared.file(), b"rubbish").unwrap();
    assert!(matches!(compared.diff().await, Err(StorageError::Corrupt { .. })));
    std::fs::remove_file(compared.file()).unwrap();
    assert!(matches!(compared.diff().await, Err(StorageError::Missing { .. })));
}

#[rstest]
#[case::another_document("{}")]
#[case::a_menu_with_errors(
    r#"{"errors":[{"message":"no"}],"data":{"filteredProducts":{"products":[],"queryInfo":{}}}}"#
)]
#[tokio::test]
async fn a_file_that_is_no_menu_is_damaged(#[case] body: &str) {
    let compared = Compared::of(&[&page(&["a"])], &[body]).await;
    let error = compared.diff().await.unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("is damaged: page 0 "), "{error}");
}
