//! `drover stores enable` and `disable`: switch the crawls of stores on and off.

use crate::cli::{Env, ExitCode, values};
use contract::stores::{StoreChange, StoreView};
use domain::store::StoreId;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Store ids, as shown by `stores list`
    #[arg(required = true, value_name = "ID", value_parser = values::whole_number)]
    stores: Vec<StoreId>,
}

pub async fn run(Args { stores }: Args, crawl_enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let change = StoreChange { crawl_enabled: Some(crawl_enabled), ..StoreChange::default() };
    super::each(env, &stores, async |id| api.put(&format!("/api/stores/{id}"), &change).await, text).await
}

fn text(store: &StoreView) -> String {
    let state = if store.crawl_enabled { "is enabled" } else { "is disabled" };
    format!("store {}: {} {state}", store.id, store.name)
}
