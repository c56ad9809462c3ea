//! `drover stores enable` and `disable`: switch the crawls of stores on and off.

use crate::cli::each::{Ids, each};
use crate::cli::{Env, ExitCode};
use contract::stores::{StoreChange, StoreView};

pub async fn run(Ids { ids }: Ids, crawl_enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let change = StoreChange { crawl_enabled: Some(crawl_enabled), ..StoreChange::default() };
    each(&ids, env, async |api, id| api.put(&format!("/api/stores/{id}"), &change).await, text).await
}

fn text(store: &StoreView) -> String {
    let state = if store.crawl_enabled { "is enabled" } else { "is disabled" };
    format!("store {}: {} {state}", store.id, store.name)
}
