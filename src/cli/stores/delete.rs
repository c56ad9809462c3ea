//! `drover stores delete`: deletes stores that were added by mistake.

use crate::cli::store_name::Stores;
use crate::cli::{Env, ExitCode, each};
use contract::stores::DeletedStore;
use domain::amounts::counted;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    stores: Stores,
    /// Delete their products and payloads, too. Without this, a store that has some is not deleted
    #[arg(long)]
    with_products: bool,
}

pub async fn run(Args { stores, with_products }: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let path = |id| format!("/api/stores/{id}?with_products={with_products}");
    let ids = stores.ids(&env.api().await?).await?;
    each(&ids, env, async |api, id| api.deleted(&path(id)).await, text).await
}

fn text(DeletedStore { id, name, products, payloads, is_discovered }: &DeletedStore) -> String {
    let with = match (products, payloads) {
        (0, 0) => String::new(),
        _ => format!(", with {} and {}", counted(*products, "product"), counted(*payloads, "payload")),
    };
    let again = match is_discovered {
        true => ". A store discovery that finds it adds it again; `drover stores disable` keeps a store out",
        false => "",
    };
    format!("store {id} is deleted: {name}{with}{again}")
}
