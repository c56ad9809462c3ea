//! The statements of docs/sql.md answer, for a reader, what a small crawled world says.

use std::collections::BTreeMap;

use db::changes::publisher;
use domain::menu::bundle::{Bundle, Discount};
use domain::menu::product::{Product, Variant};
use tokio_postgres::{Client, SimpleQueryMessage};

use super::reader_of;
use crate::handlers::test_store::{TestStore, product, variant};

/// Each question by its beginning, with rows of its answer: cells with a bar between them; `*` is any text.
const ANSWERS: [(&str, &[&str]); 12] = [
    (
        "Cheapest eighths",
        &[
            "Leaf|Alpine|Kush|3000|8.57",
            "Leaf|Alpine|Dream|3200|9.14",
            "Leaf|Borealis|Haze|3500|10.00",
            "Fern|Alpine|Kush|4800|13.71",
        ],
    ),
    ("Prices that fell", &["*|Leaf|Kush|3.5g|4000|3000|-25.00"]),
    ("Brand against brand", &["Alpine|2|100.0|9.14", "Borealis|1|50.0|10.00"]),
    ("Stores that sold out", &["Fern|Borealis|Haze|3.5g|*"]),
    ("Price of one product", &["*|3.5g|4000|4000||9|t", "*|3.5g|3000|4000|3000|9|t"]),
    ("Days on special", &["Kush|3.5g|0.0"]),
    ("Restocks", &["Leaf|Haze|3.5g|*|9|00:10:00"]),
    ("Products that are new", &["*|Leaf|Alpine|Dream|Flower|3200"]),
    ("Price index", &["Leaf|1|76.9", "Fern|1|123.1"]),
    ("Stores whose prices", &["Fern|1|1|0|9.1", "Leaf|1|1|1|25.0"]),
    ("Options that a store", &["Alpine|Dream|3.5g|3200", "Borealis|Haze|3.5g|3500"]),
    ("Bundles that", &["Leaf|Alpine|Kush|3.5g|2|4500|6.43", "Fern|Alpine|Kush|3.5g|2|7200|10.29"]),
];

fn eighth(name: &str, brand: &str, change: impl FnOnce(&mut Variant)) -> Product {
    let mut option = Variant { size_mg: Some(3500), quantity: Some(9), ..variant("3.5g", 0, 4000) };
    change(&mut option);
    Product {
        name_raw: name.to_owned(),
        brand_name_raw: Some(brand.to_owned()),
        is_in_stock: option.is_in_stock,
        price_rec: option.price_rec,
        special_price_rec: option.special_price_rec,
        variants: vec![option],
        ..product(name)
    }
}

/// On special, and the second one at half its price.
fn kush(price: i32, special: Option<i32>) -> Product {
    let kush = eighth("Kush", "Alpine", |option| (option.price_rec, option.special_price_rec) = (Some(price), special));
    let half_off = Bundle::with_reward(1, 1, Discount::Percent(5000)).unwrap();
    let specials = kush.specials.map(|specials| specials.with_bundles(vec![half_off]));
    Product { specials, ..kush }
}

fn haze(price: i32, quantity: i32) -> Product {
    eighth("Haze", "Borealis", |option| {
        (option.price_rec, option.quantity, option.is_in_stock) = (Some(price), Some(quantity), quantity > 0);
    })
}

fn dream() -> Product {
    eighth("Dream", "Alpine", |option| option.price_rec = Some(3200))
}

/// A menu of these products, and of some that keep it from being suspicious.
fn menu(store: &str, products: impl IntoIterator<Item = Product>) -> Vec<Product> {
    let others = (0..10).map(|nth| Product {
        category: Some("Gear".to_owned()),
        variants: vec![variant("each", 0, 500)],
        ..product(&format!("{store} {nth}"))
    });
    products.into_iter().chain(others).collect()
}

/// Two stores, three crawls each, ten minutes apart.
async fn crawled() -> (TestStore, Client) {
    let leaf = TestStore::new().await;
    let fern = leaf.beside("Fern").await;
    leaf.database
        .raw
        .batch_execute(&format!("UPDATE dispensaries SET name = 'Leaf' WHERE id = {}", leaf.id))
        .await
        .unwrap();
    leaf.crawl(0, menu("Leaf", [kush(4000, None), haze(3500, 9)])).await;
    fern.crawl(1, menu("Fern", [kush(4400, None), haze(3300, 9)])).await;
    leaf.crawl(600, menu("Leaf", [kush(4000, Some(3000)), haze(3500, 0)])).await;
    fern.crawl(601, menu("Fern", [kush(4800, None), haze(3300, 0)])).await;
    leaf.crawl(1200, menu("Leaf", [kush(4000, Some(3000)), haze(3500, 9), dream()])).await;
    fern.crawl(1201, menu("Fern", [kush(4800, None), haze(3300, 0)])).await;
    publisher::publish(&leaf.database.db).await.unwrap();
    let reader = reader_of(&leaf.database).await;
    (leaf, reader)
}

/// The statements of the document by the sentence above each.
fn statements() -> BTreeMap<String, String> {
    let document = std::fs::read_to_string(testkit::root().join("docs/sql.md")).unwrap();
    let (_, questions) = document.split_once("## Twelve questions").unwrap();
    let blocks = questions.split("```sql\n").zip(questions.split("```sql\n").skip(1));
    let asked = |(before, after): (&str, &str)| {
        let question = before.trim().lines().last().unwrap().to_owned();
        (question, after.split("```").next().unwrap().to_owned())
    };
    blocks.map(asked).collect()
}

/// Rows as text.
async fn answer(reader: &Client, statement: &str) -> Vec<String> {
    let messages = reader.simple_query(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let row = |message: SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => {
            let cells: Vec<&str> = (0..row.len()).map(|cell| row.get(cell).unwrap_or_default()).collect();
            Some(cells.join("|"))
        }
        _ => None,
    };
    messages.into_iter().filter_map(row).collect()
}

fn is_like(row: &str, expected: &str) -> bool {
    let (cells, wanted): (Vec<&str>, Vec<&str>) = (row.split('|').collect(), expected.split('|').collect());
    cells.len() == wanted.len() && cells.iter().zip(wanted).all(|(cell, wanted)| wanted == "*" || *cell == wanted)
}

#[tokio::test]
async fn each_question_of_the_document_is_answered() {
    let (_store, reader) = crawled().await;
    let statements = statements();
    assert_eq!(statements.len(), ANSWERS.len());
    let mut wrong = Vec::new();
    for (question, expected) in ANSWERS {
        let (_, statement) = statements.iter().find(|(asked, _)| asked.starts_with(question)).unwrap();
        let rows = answer(&reader, statement).await;
        let is_right = rows.len() == expected.len() && rows.iter().zip(expected).all(|(row, like)| is_like(row, like));
        if !is_right {
            wrong.push(format!("{question}:\n  {}", rows.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn the_feed_is_followed_by_its_place_as_the_document_says() {
    let (_store, reader) = crawled().await;
    let document = std::fs::read_to_string(testkit::root().join("docs/sql.md")).unwrap();
    let statement = document.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    let behind = async |seq: &str, n: &str| {
        let placed = statement.replace("120", seq).replace(", 3)", &format!(", {n})"));
        answer(&reader, &placed).await
    };
    let all = answer(&reader, "SELECT * FROM drover_v1.changes ORDER BY seq, n").await;
    assert_eq!(behind("0", "0").await, all);
    let place: Vec<&str> = all[2].split('|').take(2).collect();
    assert_eq!(behind(place[0], place[1]).await, all[3..]);
}

#[tokio::test]
async fn changes_are_those_that_were_published() {
    let (store, reader) = crawled().await;
    let count = async || answer(&reader, "SELECT count(*) FROM drover_v1.changes").await;
    let before = count().await;
    assert_eq!(before, [store.count("SELECT count(*) FROM product_changes").await.to_string()]);
    store.crawl(1800, menu("Leaf", [kush(4000, None), haze(3500, 9), dream()])).await;
    assert_eq!(count().await, before);
    publisher::publish(&store.database.db).await.unwrap();
    assert_ne!(count().await, before);
}

#[tokio::test]
async fn a_product_without_a_miss_was_last_seen_by_the_latest_complete_crawl() {
    let (_store, reader) = crawled().await;
    let sql = "SELECT count(*) FROM drover_v1.products p JOIN drover_v1.stores s USING (store_id) WHERE p.last_seen_at <> s.last_complete_at";
    assert_eq!(answer(&reader, sql).await, ["0"]);
}
