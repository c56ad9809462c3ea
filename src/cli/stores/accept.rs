//! `drover stores accept` and `accept-empty`: let the next answer about a store be believed.

use crate::cli::{Env, ExitCode, StoreName};
use contract::stores::StoreView;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Id, slug or name of the store
    #[arg(allow_negative_numbers = true)]
    store: StoreName,
}

/// One that closes the store, or sells out its menu.
pub async fn mass_change(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    post(args, "accept", env, |store| {
        format!("store {}: the next answer that says the same about {} is believed", store.id, store.name)
    })
    .await
}

/// An empty menu.
pub async fn empty_menu(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    post(args, "accept-empty", env, |store| {
        format!("store {}: {} may have an empty menu from now on", store.id, store.name)
    })
    .await
}

async fn post(
    Args { store }: Args,
    what: &str,
    env: &Env,
    said: impl Fn(&StoreView) -> String,
) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let path = format!("/api/stores/{}/{what}", store.id(&api).await?);
    let accepted: StoreView = api.post(&path, &serde_json::json!({})).await?;
    env.out.either(&accepted, said)?;
    Ok(ExitCode::Ok)
}
