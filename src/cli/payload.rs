//! `drover payload`: lists payloads, shows one with the content of its file, compares two, and replays them.

mod diff;
mod list;
mod replay;

use std::collections::BTreeMap;

use clap::Subcommand;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{CliError, Env, ExitCode, missing, values};
use crate::platforms;
use domain::menu::NormalMenu;
use domain::payload::{Payload, PayloadId};
use storage::{Payloads, Place, StoredMenu};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List payloads, newest first
    List(list::Args),
    /// Show a payload and the contents of its file
    Show {
        /// Payload id, as shown by `payload list`
        #[arg(allow_negative_numbers = true, value_parser = values::id)]
        id: PayloadId,
        /// Print the answers of the platform unchanged, in one JSON array
        #[arg(long)]
        data: bool,
    },
    /// Compare two payloads of a store: added and removed products, changed prices, stock and options
    Diff(diff::Args),
    /// Re-parse stored menus in the background, after a parser change. Safe to interrupt: run it again to continue
    Replay(replay::Args),
}

#[derive(Serialize)]
struct PayloadSummary {
    #[serde(flatten)]
    payload: Payload,
    pages: usize,
    products: usize,
    in_stock: usize,
    warnings: BTreeMap<&'static str, usize>,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list::run(args, env).await,
        Command::Diff(args) => diff::run(args, env).await,
        Command::Show { id, data } => show(id, data, env).await,
        Command::Replay(args) => replay::run(args, env).await,
    }
}

async fn show(id: PayloadId, data: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let payload = db::payloads::get(&client, id).await?;
    let payload =
        payload.ok_or_else(|| CliError::not_found(missing::with_remedy(&format!("payload {id} does not exist"))))?;
    let owner = db::schema::installation::storage_owner(&client).await?;
    let files = Payloads::new(Place::of(&env.config)?, owner);
    let stored = files.read(&payload.storage_path, &payload.sha256).await?;
    if data {
        env.out.value(&pages(&stored)?)?;
        return Ok(ExitCode::Ok);
    }
    let menu = platforms::normalise(payload.platform, &stored.pages())?;
    env.out.either(&PayloadSummary::new(payload, &stored, &menu), text)?;
    Ok(ExitCode::Ok)
}

fn pages(stored: &StoredMenu) -> anyhow::Result<Vec<&RawValue>> {
    let pages = stored.pages().into_iter().map(|page| serde_json::from_slice(page.body));
    Ok(pages.collect::<Result<_, _>>()?)
}

impl PayloadSummary {
    fn new(payload: Payload, stored: &StoredMenu, menu: &NormalMenu) -> Self {
        let in_stock = menu.products.iter().filter(|product| product.is_in_stock).count();
        let (pages, products) = (stored.pages().len(), menu.products.len());
        PayloadSummary { payload, pages, products, in_stock, warnings: menu.warnings.by_kind() }
    }
}

fn text(shown: &PayloadSummary) -> String {
    let PayloadSummary { payload, .. } = shown;
    let task = payload.task_id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let warnings: Vec<String> = shown.warnings.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    let lines = [
        ("payload", payload.id.to_string()),
        ("store", payload.dispensary_id.to_string()),
        ("platform", payload.platform.to_string()),
        ("task", task),
        ("fetched", payload.fetched_at.to_rfc3339()),
        ("file", payload.storage_path.clone()),
        ("bytes", payload.bytes.to_string()),
        ("sha256", payload.sha256.clone()),
        ("coverage", coverage(payload)),
        ("pages", shown.pages.to_string()),
        ("products", format!("{}, {} in stock", shown.products, shown.in_stock)),
        ("warnings", if warnings.is_empty() { "none".to_owned() } else { warnings.join(", ") }),
    ];
    lines.map(|(name, value)| format!("{name:<10}{value}")).join("\n")
}

/// An empty menu has no coverage.
fn coverage(payload: &Payload) -> String {
    match payload.total_count {
        0 => "-".to_owned(),
        total => format!("{:.2} % ({} of {total})", payload.coverage * 100.0, payload.product_count),
    }
}
