//! `drover stores delete`: deletes stores that were added by mistake.

use crate::cli::{Env, ExitCode, values};
use contract::stores::DeletedStore;
use domain::store::StoreId;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Store ids, as shown by `stores list`
    #[arg(required = true, value_name = "ID", value_parser = values::whole_number)]
    stores: Vec<StoreId>,
    /// Delete their products and payloads, too. Without this, a store that has some is not deleted
    #[arg(long)]
    with_products: bool,
}

pub async fn run(Args { stores, with_products }: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let delete = async |id| api.deleted(&format!("/api/stores/{id}?with_products={with_products}")).await;
    super::each(env, &stores, delete, text).await
}

fn text(DeletedStore { id, name, products, payloads, is_discovered }: &DeletedStore) -> String {
    let with = match (products, payloads) {
        (0, 0) => String::new(),
        _ => format!(", with {products} products and {payloads} payloads"),
    };
    let again = match is_discovered {
        true => ". A store discovery that finds it adds it again; `drover stores disable` keeps a store out",
        false => "",
    };
    format!("store {id} is deleted: {name}{with}{again}")
}
