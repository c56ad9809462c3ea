//! Search of products by their words, and the copies made for it.

use std::time::Duration;

use contract::products::{MatchKind, ProductQuestion};
use db::products;
use db::products::search::FoundProducts;
use domain::menu::product::Product;

use super::client;
use crate::handlers::test_store::{TestStore, product};

const LONG: Duration = Duration::from_secs(60);

fn named(id: &str, brand: Option<&str>, name: &str) -> Product {
    Product { name_raw: name.to_owned(), brand_name_raw: brand.map(str::to_owned), variants: vec![], ..product(id) }
}

/// A store in Arizona and one in Michigan, whose names are copied.
async fn market() -> (TestStore, TestStore) {
    let north = TestStore::new().await;
    let lakes = north.beside("Lakes").await;
    let move_it = format!("UPDATE dispensaries SET state = 'MI' WHERE id = {}", lakes.id);
    north.database.raw.batch_execute(&move_it).await.unwrap();
    north
        .crawl(
            1,
            vec![
                named("ledger", Some("Granite"), "Blue Ledger 3.5g"),
                named("dream", Some("Granite"), "Blue Dream"),
                Product {
                    category: Some("Edible".to_owned()),
                    price_rec: Some(300),
                    is_in_stock: false,
                    ..named("gummies", None, "Mango Relay Gummies")
                },
            ],
        )
        .await;
    lakes.crawl(1, vec![named("lakes dream", Some("Lake Effect"), "Blueberry Dream")]).await;
    copy(&north).await;
    (north, lakes)
}

async fn copy(store: &TestStore) -> u64 {
    products::search::copy_names(&store.database.db, LONG).await.unwrap()
}

fn of(q: &str) -> ProductQuestion {
    ProductQuestion { q: Some(q.to_owned()), ..ProductQuestion::default() }
}

async fn found(store: &TestStore, question: &ProductQuestion) -> FoundProducts {
    products::search::search(&client(store).await, question, 10).await.unwrap()
}

async fn ids(store: &TestStore, question: ProductQuestion) -> Vec<String> {
    let found = found(store, &question).await.products;
    let mut ids: Vec<_> = found.into_iter().map(|found| found.product.provider_product_id).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn products_are_found_by_their_words() {
    let (store, _) = market().await;
    let cases: [(&str, &[&str]); 12] = [
        ("ledger", &["ledger"]),
        ("LEDGER", &["ledger"]),
        ("ledg", &["ledger"]),
        ("dream blue", &["dream", "lakes dream"]),
        ("granite dream", &["dream"]),
        ("granite", &["dream", "ledger"]),
        ("3.5g", &["ledger"]),
        ("chocolate", &[]),
        ("!!", &[]),
        ("", &[]),
        ("blue & ! | ( :* <-> '", &["dream", "lakes dream", "ledger"]),
        ("%", &[]),
    ];
    for (q, expected) in cases {
        println!("{q}");
        assert_eq!(ids(&store, of(q)).await, expected);
    }
}

#[tokio::test]
async fn a_misspelled_word_finds_what_is_spelled_alike_where_the_server_can() {
    let (store, _) = market().await;
    let answer = found(&store, &of("mango relay gummies xqz")).await;
    assert_eq!((answer.products.len(), answer.by), (1, MatchKind::Trigrams));
    assert_eq!(
        found(&store, &of("mangoo rely gummies")).await.by,
        MatchKind::Corrected,
        "what has the words that are meant comes before it"
    );
    assert_eq!(found(&store, &of("mango gummies")).await.by, MatchKind::Words, "what has the words is found by them");
    assert!(answer.forgives_spelling);

    store.database.raw.batch_execute("DROP EXTENSION pg_trgm CASCADE").await.unwrap();

    assert_eq!(found(&store, &of("mango relay gummies xqz")).await.products, []);
    let answer = found(&store, &of("mangoo rely gummies")).await;
    assert_eq!((answer.products.len(), answer.by), (1, MatchKind::Corrected));
    assert!(answer.forgives_spelling);
    let answer = found(&store, &of("mango gummies")).await;
    assert_eq!((answer.products.len(), answer.by), (1, MatchKind::Words));
}

#[tokio::test]
async fn each_filter_leaves_what_it_names() {
    let (store, _) = market().await;
    assert_eq!(ids(&store, ProductQuestion { state: Some("mi".to_owned()), ..of("dream") }).await, ["lakes dream"]);
    let edible = || Some("EDIBLE".to_owned());
    assert_eq!(ids(&store, ProductQuestion { category: edible(), ..of("mango") }).await, ["gummies"]);
    assert_eq!(ids(&store, ProductQuestion { category: edible(), ..of("dream") }).await, Vec::<String>::new());
    assert_eq!(
        ids(&store, ProductQuestion { brand: Some("Granite".to_owned()), ..of("blue") }).await,
        ["dream", "ledger"]
    );
    assert_eq!(ids(&store, ProductQuestion { in_stock: Some(true), ..of("mango") }).await, Vec::<String>::new());
    assert_eq!(ids(&store, ProductQuestion { in_stock: Some(false), ..of("mango") }).await, ["gummies"]);
    assert_eq!(ids(&store, ProductQuestion { max_price: Some(300), ..of("mango") }).await, ["gummies"]);
    assert_eq!(ids(&store, ProductQuestion { min_price: Some(301), ..of("mango") }).await, Vec::<String>::new());
    assert_eq!(ids(&store, ProductQuestion { on_special: Some(true), ..of("mango") }).await, Vec::<String>::new());
}

#[tokio::test]
async fn pages_lead_from_the_best_match_to_the_last() {
    let (store, _) = market().await;
    // as good a match as another one
    store.beside("Twin").await.crawl(1, vec![named("twin", Some("Granite"), "Blue Dream")]).await;
    copy(&store).await;
    let client = client(&store).await;
    let cases: [(&str, MatchKind, usize); 3] = [
        ("blue", MatchKind::Words, 4),
        ("bluee dreamm", MatchKind::Corrected, 3),
        ("granite blue dream xqz", MatchKind::Trigrams, 2),
    ];
    for (q, by, matches) in cases {
        println!("{q}");
        let whole = products::search::search(&client, &of(q), 10).await.unwrap();
        assert_eq!((whole.by, whole.products.len(), whole.truncated), (by, matches, false));
        assert_eq!(whole.next, None);

        let mut question = of(q);
        let mut seen = Vec::new();
        loop {
            let found = products::search::search(&client, &question, 1).await.unwrap();
            assert_eq!(found.by, by);
            seen.extend(found.products);
            let Some(next) = found.next else { break };
            question.after = Some(next);
        }
        assert_eq!(seen, whole.products);
    }
}

#[tokio::test]
async fn the_better_match_comes_first() {
    let (store, _) = market().await;
    let answer = found(&store, &of("blue dream")).await;
    assert_eq!(answer.products[0].product.provider_product_id, "dream");
}

#[tokio::test]
async fn a_crawl_copies_nothing_and_the_answer_says_that_a_store_waits() {
    let store = TestStore::new().await;
    store.crawl(1, vec![named("a", None, "Blue Ledger")]).await;
    let answer = found(&store, &of("ledger")).await;
    assert_eq!((answer.products.len(), answer.stores_waiting), (0, 1));

    assert_eq!(copy(&store).await, 1);
    let answer = found(&store, &of("ledger")).await;
    assert_eq!((answer.products.len(), answer.stores_waiting), (1, 0));
}

#[tokio::test]
async fn only_what_differs_is_copied() {
    let store = TestStore::new().await;
    let menu = |name: &str, price| {
        vec![Product { price_rec: Some(price), ..named("a", None, name) }, named("b", None, "Another")]
    };
    store.crawl(1, menu("Blue Ledger", 100)).await;
    assert_eq!(copy(&store).await, 2);
    assert_eq!(copy(&store).await, 0);
    let untouched = store.marks("product_search").await;
    store.crawl(2, menu("Blue Ledger", 200)).await;
    assert_eq!(copy(&store).await, 0, "a price is no name");
    assert_eq!(store.marks("product_search").await, untouched);
    store.crawl(3, menu("Red Ledger", 200)).await;
    assert_eq!(copy(&store).await, 1);
    assert_eq!(ids(&store, of("red")).await, ["a"]);
    assert_eq!(ids(&store, of("blue")).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_names_of_a_deleted_store_are_forgotten() {
    let (store, lakes) = market().await;
    store.database.raw.execute("DELETE FROM dispensaries WHERE id = $1", &[&lakes.id]).await.unwrap();
    assert_eq!(ids(&store, of("blueberry")).await, Vec::<String>::new());
    products::search::forget_gone(&client(&store).await).await.unwrap();
    let left = format!("SELECT count(*) FROM product_search WHERE dispensary_id = {}", lakes.id);
    assert_eq!(store.count(&left).await, 0);
    assert_eq!(store.count("SELECT count(*) FROM product_search").await, 3);
    assert_eq!(store.count("SELECT count(*) FROM product_listing").await, 3);
}

#[tokio::test]
async fn words_are_counted_as_they_come_and_forgotten_when_no_product_has_them() {
    let (store, _) = market().await;
    let of_word =
        |word: &str| format!("SELECT coalesce(sum(products), 0)::bigint FROM search_words WHERE word = '{word}'");
    assert_eq!(store.count(&of_word("granite")).await, 2);
    assert_eq!(store.count("SELECT count(*) FROM search_words WHERE word ~ '[0-9]'").await, 0);
    store.crawl(2, vec![named("ledger", Some("Granite"), "Red Ledger 3.5g")]).await;
    copy(&store).await;
    assert_eq!((store.count(&of_word("red")).await, store.count(&of_word("granite")).await), (1, 3));

    let client = client(&store).await;
    assert!(products::search::count_words(&client).await.unwrap() > 0);
    assert_eq!((store.count(&of_word("red")).await, store.count(&of_word("granite")).await), (1, 2));
    assert_eq!(products::search::count_words(&client).await.unwrap(), 0);
    store.database.raw.execute("DELETE FROM product_search", &[]).await.unwrap();
    products::search::count_words(&client).await.unwrap();
    assert_eq!(store.count("SELECT count(*) FROM search_words").await, 0);
}

#[tokio::test]
async fn a_store_that_an_older_process_copied_is_copied_again() {
    let (store, _) = market().await;
    let as_before = "DELETE FROM product_listing; UPDATE search_stores SET listed_payload_id = NULL, listed_at = NULL";
    store.database.raw.batch_execute(as_before).await.unwrap();
    assert_eq!(found(&store, &of("ledger")).await.stores_waiting, 2);
    assert_eq!(copy(&store).await, 0, "its names are there already");
    assert_eq!(ids(&store, of("ledger")).await, ["ledger"]);
    assert_eq!(found(&store, &of("ledger")).await.stores_waiting, 0);
}

#[tokio::test]
async fn a_long_name_is_found_by_its_beginning() {
    let store = TestStore::new().await;
    let long = format!("Endless {}", "word ".repeat(20_000));
    store.crawl(1, vec![named("a", None, &long), named("b", None, &"x".repeat(100_000))]).await;
    assert_eq!(copy(&store).await, 2);
    assert_eq!(ids(&store, of("endless")).await, ["a"]);
}
