//! `drover changes tail`.
//!
//! In: the feed of the API, read by cursor. Out: a line a change; with `--json` a document a line, whose `cursor` is where
//! `--since` continues.

use std::io::IsTerminal;

use chrono::{DateTime, Utc};

use crate::cli::store_name::{self, StoreName};
use crate::cli::{Env, ExitCode, Output, time, values, with_query};
use contract::changes::{ChangePage, ChangeView};
use domain::menu::changes::ChangeKind;

/// How long the API waits for changes before it answers that there are none.
const WAIT: &str = "20s";
const LIMIT: &str = "1000";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Continue behind this cursor, as printed with --json [default: only changes from now on]
    #[arg(long, value_name = "CURSOR", conflicts_with = "from")]
    since: Option<String>,
    /// Begin with the changes at or after this time: a time as in RFC 3339, or a day
    #[arg(long, value_name = "TIME", value_parser = values::since)]
    from: Option<DateTime<Utc>>,
    /// End once all changes so far are printed
    #[arg(long)]
    no_follow: bool,
    /// Only this kind (several: separated by commas): price_drop, price_rise, special_start, special_end, sold_out, restocked, low_stock, new,
    /// gone or returned
    #[arg(long, value_delimiter = ',', value_parser = values::word::<ChangeKind>)]
    kind: Vec<ChangeKind>,
    /// Only the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only stores of this group
    #[arg(long)]
    group: Option<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only products of this brand
    #[arg(long)]
    brand: Option<String>,
    /// Only products of this category
    #[arg(long)]
    category: Option<String>,
    /// Only changes of the price by this percentage or more
    #[arg(long, value_name = "PERCENT", value_parser = values::percentage)]
    min_percent: Option<f64>,
    /// Only changes of the price by this much or more, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    min_change: Option<i32>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[("min_cents", "--min-change")]);
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let kinds: Vec<&str> = args.kind.iter().map(|kind| kind.name()).collect();
    let filter = [
        ("kind", Some(kinds.join(",")).filter(|kinds| !kinds.is_empty())),
        ("store", store.map(|store| store.to_string())),
        ("group", args.group),
        ("state", args.state),
        ("brand", args.brand),
        ("category", args.category),
        ("min_percent", args.min_percent.map(|percent| percent.to_string())),
        ("min_cents", args.min_change.map(|cents| cents.to_string())),
        ("limit", Some(LIMIT.to_owned())),
    ];
    let wait = (!args.no_follow).then(|| WAIT.to_owned());
    let mut since = [("since", args.since), ("from", args.from.map(|from| from.to_rfc3339()))];
    if !args.no_follow && std::io::stderr().is_terminal() {
        env.out.note("waiting for changes; Ctrl-C ends");
    }
    loop {
        let query = [("wait", wait.clone())].into_iter().chain(since).chain(filter.clone());
        let page: ChangePage = api.get(&with_query("/api/changes", query)).await?;
        page.changes.iter().try_for_each(|change| print(change, &env.out))?;
        if args.no_follow && page.caught_up {
            return Ok(ExitCode::Ok);
        }
        since = [("since", Some(page.next_cursor)), ("from", None)];
    }
}

fn print(change: &ChangeView, out: &Output) -> std::io::Result<()> {
    out.either(change, |change| format!("{}  {} · {}", time(change.crawled_at), change.text, change.store))
}
