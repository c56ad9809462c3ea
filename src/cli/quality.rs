//! `drover quality`: lists stores with faulty data.

use clap::Subcommand;

use super::store_name::{self, StoreName};
use super::{Env, ExitCode, time, values, with_query};
use contract::quality::QualityPage;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List faulty stores, newest finding first
    List(List),
}

#[derive(Debug, clap::Args)]
pub struct List {
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

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::List(List { kind, store, limit }) = command;
    let api = env.api_to_read().await?.naming(&[("dispensary_id", "--store")]);
    let store = store_name::id_of(store.as_ref(), &api).await?;
    let query = [("kind", kind), ("dispensary_id", store.map(|id| id.to_string())), ("limit", Some(limit.to_string()))];
    let page: QualityPage = api.get(&with_query("/api/quality", query)).await?;
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
