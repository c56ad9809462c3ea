//! The proxy table and the pool that lives on it.

mod budgets;
mod cli;
mod deaths;
mod health;
mod pool;
mod secrets;
mod table;

use contract::proxies::{ImportCounts, ProxyFilter, ProxyListing};
use db::proxies::requests::ProxyChange;
use db::{Db, DbError, proxies};
use domain::proxy::{Budgets, ProxyId};
use drover::cli::proxies::list;
use foundation::secrets::SecretKeys;

use testkit::TestDatabase;

/// Every proxy as people see it.
async fn listed(db: &Db) -> Vec<ProxyListing> {
    listed_by(db, Budgets::default()).await
}

/// The same where these are set.
async fn listed_by(db: &Db, budgets: Budgets) -> Vec<ProxyListing> {
    let client = db.client().await.unwrap();
    db::proxies::list(&client, &ProxyFilter::default(), budgets, 1_000).await.unwrap()
}

/// Switches a proxy on or off, as people do.
async fn switch(db: &Db, id: ProxyId, on: bool) -> Result<ProxyListing, DbError> {
    let tx = db.begin().await.unwrap();
    let change = ProxyChange { is_active: Some(on), ..ProxyChange::default() };
    let changed = proxies::requests::change(&tx, id, &change, &SecretKeys::default(), Budgets::default()).await?;
    tx.commit().await.unwrap();
    Ok(changed)
}

/// Imports a list as an operator would write it.
async fn import(database: &TestDatabase, text: &str) -> ImportCounts {
    let list = list::parse("test", text).unwrap();
    db::proxies::import(&database.db, &list.entries, &SecretKeys::default()).await.unwrap()
}
