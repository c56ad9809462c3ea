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

/// Switches one store after the other. A store that cannot be switched is named, and does not stop the
/// others.
pub async fn run(Args { stores }: Args, crawl_enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let change = StoreChange { crawl_enabled: Some(crawl_enabled), ..StoreChange::default() };
    let mut refused = Vec::new();
    for id in &stores {
        match api.put::<StoreView>(&format!("/api/stores/{id}"), &change).await {
            Ok(store) => env.out.either(&store, text)?,
            Err(error) => refused.push(error),
        }
    }
    if refused.len() < stores.len() {
        refused.iter().for_each(|error| tracing::error!("{error}"));
        return Ok(if refused.is_empty() { ExitCode::Ok } else { ExitCode::PartialFailure });
    }
    match refused.into_iter().next() {
        Some(error) => Err(error.into()),
        None => Ok(ExitCode::Ok),
    }
}

fn text(store: &StoreView) -> String {
    let state = if store.crawl_enabled { "is enabled" } else { "is disabled" };
    format!("store {}: {} {state}", store.id, store.name)
}
