//! `drover stores accept`: lets the next answer that closes a store, or sells out its menu, be believed.

use crate::cli::{Env, ExitCode, values};
use contract::stores::StoreView;
use domain::store::StoreId;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store's id, as `stores list` shows it
    #[arg(value_name = "ID", value_parser = values::whole_number)]
    store: StoreId,
}

pub async fn run(Args { store }: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let accepted: StoreView =
        env.api().await?.post(&format!("/api/stores/{store}/accept"), &serde_json::json!({})).await?;
    env.out.either(&accepted, |store| {
        format!("store {}: the next answer that says the same of {} is believed", store.id, store.name)
    })?;
    Ok(ExitCode::Ok)
}
