//! Reads of the crawled data by people and programs: payloads, products, stores, analytics.

mod analytics;
mod payload_memory;
mod payloads;
mod prices;
mod product_series;
mod products;
mod search;
mod stores;

use db::Client;

use crate::handlers::test_store::TestStore;

async fn client(store: &TestStore) -> Client {
    store.database.db.api_client().await.unwrap()
}
