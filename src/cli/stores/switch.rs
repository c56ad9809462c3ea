//! `drover stores enable` and `disable`: switch the crawls of stores on and off.

use crate::cli::store_name::Stores;
use crate::cli::{Env, ExitCode, each};
use contract::stores::{StoreChange, StoreView};

pub async fn run(stores: Stores, crawl_enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let ids = stores.ids(&env.api().await?).await?;
    let change = StoreChange { crawl_enabled: Some(crawl_enabled), ..StoreChange::default() };
    each(&ids, env, async |api, id| api.put(&format!("/api/stores/{id}"), &change).await, text).await
}

fn text(store: &StoreView) -> String {
    let state = if store.crawl_enabled { "is enabled" } else { "is disabled" };
    format!("store {}: {} {state}", store.id, store.name)
}
