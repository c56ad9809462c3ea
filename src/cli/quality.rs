//! `drover quality`: lists stores with faulty data.

use clap::Subcommand;

use super::client::{ClientError, with_query};
use super::output::time;
use super::store_name::{self, StoreName};
use super::{Env, ExitCode, values};
use contract::quality::QualityPage;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List faulty stores, newest finding first
    List(List),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only this kind: blind_store (no full crawl for three intervals), halved_menu, empty_prices, unknown_keys, suspicious_switch or unknown_words
    #[arg(long)]
    kind: Option<String>,
    /// Only the store with this id, slug or name
    #[arg(long, alias = "dispensary", value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Maximum number of findings
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::List(List { kind, store, limit }) = args.command;
    let api = env.api_to_read().await?;
    let store = store_name::id_of(store.as_ref(), &api).await?;
    let query = [("kind", kind), ("dispensary_id", store.map(|id| id.to_string())), ("limit", Some(limit.to_string()))];
    let page = api.get(&with_query("/api/quality", query)).await;
    let page: QualityPage = page.map_err(|error: ClientError| error.naming_flags(flag))?;
    env.out.list(&page, &page.findings, &["store", "name", "kind", "since", "finding"], |finding| {
        vec![
            finding.dispensary_id.to_string(),
            finding.dispensary_name.clone(),
            finding.kind.to_string(),
            time(finding.since),
            finding.detail.clone(),
        ]
    })?;
    env.out
        .note_of_none(&page.findings, "no findings to show: the latest check of the crawled data found nothing wrong");
    env.out.note_of_more(page.next_cursor.is_some(), limit);
    Ok(ExitCode::Ok)
}

/// The flag that sets a parameter.
fn flag(field: &str) -> String {
    match field {
        "dispensary_id" => "--store".to_owned(),
        other => format!("--{other}"),
    }
}
