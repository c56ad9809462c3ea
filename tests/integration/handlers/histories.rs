//! The set-based statements against the pure rule, over random histories of crawls, partial crawls, replays
//! and late payloads.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use domain::menu::product::{Product, StockStatus};
use domain::menu::stock::{PayloadOrder, PayloadPosition, Stock};
use domain::payload::Payload;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::test_store::{MIN_COVERAGE, TestStore, product};

const HISTORIES: u64 = 25;
const STEPS: i64 = 14;
const IDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The pure rule's result for the same history.
#[derive(Default)]
struct Model {
    last: Option<PayloadPosition>,
    rows: BTreeMap<String, Expected>,
}

struct Expected {
    stock: Stock,
    /// Newest complete crawl, and newest crawl at all, that held it.
    seen_whole: DateTime<Utc>,
    seen: DateTime<Utc>,
}

impl Model {
    fn refresh(&mut self, payload: &Payload, products: &[Product]) {
        let place = PayloadPosition { fetched_at: payload.fetched_at, id: payload.id };
        let turn = PayloadOrder::of(place, self.last);
        if turn == PayloadOrder::Older {
            return;
        }
        self.last = Some(place);
        let whole = payload.is_complete(MIN_COVERAGE);
        for product in products {
            let stock = Stock::seen(product.is_in_stock, product.stock_status);
            let row = self.rows.entry(product.provider_product_id.clone()).or_insert(Expected {
                stock,
                seen_whole: payload.fetched_at,
                seen: payload.fetched_at,
            });
            (row.stock, row.seen) = (stock, payload.fetched_at);
            if whole {
                row.seen_whole = payload.fetched_at;
            }
        }
        let held: BTreeSet<_> = products.iter().map(|product| product.provider_product_id.as_str()).collect();
        if turn == PayloadOrder::Newest && whole {
            let absent = self.rows.iter_mut().filter(|(id, _)| !held.contains(id.as_str()));
            absent.for_each(|(_, row)| row.stock = row.stock.missed());
        }
    }
}

#[tokio::test]
async fn statements_and_the_pure_rule_agree() {
    let first = TestStore::new().await;
    for seed in 0..HISTORIES {
        let store = first.beside(&format!("Store {seed}")).await;
        live_through(seed, &store).await;
    }
}

async fn live_through(seed: u64, store: &TestStore) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut model = Model::default();
    let mut done: Vec<(Payload, Vec<Product>)> = Vec::new();
    for step in 0..STEPS {
        let (payload, products) = match rng.random_range(0..6) {
            0 if !done.is_empty() => done[rng.random_range(0..done.len())].clone(),
            kind => {
                let products = feed(&mut rng);
                let coverage = if kind == 1 { 0.6 } else { 1.0 };
                (store.payload(step, products.len(), coverage).await, products)
            }
        };
        store.refresh(&payload, products.clone()).await;
        model.refresh(&payload, &products);
        compare(seed, step, store, &model).await;
        assert_eq!(store.snapshots(&payload).await, products.len() as i64, "seed {seed}, step {step}");
        done.push((payload, products));
    }
}

async fn compare(seed: u64, step: i64, store: &TestStore, model: &Model) {
    for id in IDS {
        let row = store.row(id).await;
        let expected = model.rows.get(id);
        assert_eq!(row.as_ref().map(|row| row.stock), expected.map(|row| row.stock), "seed {seed}, step {step}, {id}");
        if let (Some(row), Some(expected)) = (row, expected) {
            let known = expected.seen_whole.min(expected.seen)..=expected.seen;
            assert!(known.contains(&row.last_seen_at), "seed {seed}, step {step}, {id}: {row:?} not in {known:?}");
        }
    }
}

fn feed(rng: &mut StdRng) -> Vec<Product> {
    let held: Vec<&str> = IDS.into_iter().filter(|_| rng.random_bool(0.55)).collect();
    held.into_iter().map(|id| random_product(rng, id)).collect()
}

fn random_product(rng: &mut StdRng, id: &str) -> Product {
    let (is_in_stock, stock_status) = match rng.random_range(0..5) {
        0 => (false, StockStatus::Oos),
        1 => (true, StockStatus::Unknown),
        _ => (true, StockStatus::InStock),
    };
    Product { is_in_stock, stock_status, price_rec: Some(rng.random_range(1..3)), ..product(id) }
}
