//! The proxy table and the pool that lives on it.

mod cli;
mod deaths;
mod pool;
mod secrets;
mod table;

use drover::cli::proxies::list;
use drover::secrets::SecretKeys;

use crate::support::TestDatabase;

/// Imports a list as an operator would write it.
async fn import(database: &TestDatabase, text: &str) -> drover::db::proxies::ImportCounts {
    let list = list::parse("test", text).unwrap();
    drover::db::proxies::import(&database.db, &list.entries, &SecretKeys::default()).await.unwrap()
}
