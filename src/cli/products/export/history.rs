//! `drover products export --history`: writes the changes of options, as `drover export option_history` does.

use chrono::{DateTime, Utc};

use super::Args;
use crate::cli::export::ExportFile;
use crate::cli::values::{self, Since};
use crate::cli::{Env, ExitCode, store_name};
use contract::exports::{Dataset, ExportFormat};
use foundation::clock::Clock;

#[derive(Debug, clap::Args)]
pub struct HistoryArgs {
    /// Only changes since this day (UTC) or time, or of this span until now, such as 7d
    #[arg(long, value_name = "DAY|TIME|SPAN", requires = "history", value_parser = values::since_or_span)]
    since: Option<Since>,
    /// Only changes until the end of this day (UTC), or before this time
    #[arg(long, value_name = "DAY|TIME", requires = "history", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// Only stores of this group
    #[arg(long, value_name = "NAME", requires = "history")]
    group: Option<String>,
    /// Only stores of this state (two letters)
    #[arg(long, value_name = "STATE", requires = "history")]
    state: Option<String>,
    /// Only products of this brand, in any letter case
    #[arg(long, value_name = "NAME", requires = "history")]
    brand: Option<String>,
    /// Only products of this category, in any letter case
    #[arg(long, value_name = "NAME", requires = "history")]
    category: Option<String>,
    /// Only these columns, in this order, separated by commas [default: all]
    #[arg(long, value_name = "COLUMN,…", requires = "history")]
    columns: Option<String>,
}

pub async fn run(format: Option<ExportFormat>, args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[]);
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let HistoryArgs { since, until, group, state, brand, category, columns } = args.of_history;
    let now = Clock::system().utc();
    let filters = [
        ("since", since.map(|since| since.beginning(now).to_rfc3339())),
        ("until", until.map(|until| until.to_rfc3339())),
        ("store", store.map(|store| store.to_string())),
        ("group", group),
        ("state", state),
        ("brand", brand),
        ("category", category),
        ("columns", columns),
    ];
    ExportFile { dataset: Dataset::OptionHistory, format, out: args.out }.write(&api, filters, env).await
}
