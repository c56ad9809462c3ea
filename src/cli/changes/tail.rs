//! `drover changes tail`.
//!
//! In: the feed of the API, read by cursor. Out: a line a change; with `--json` a document a line, whose `cursor` is where
//! `--since` continues.

use std::io::IsTerminal;

use chrono::{DateTime, Utc};

use super::filter::ChangeFilter;
use crate::cli::store_name;
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
    #[command(flatten)]
    only: ChangeFilter,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[("min_cents", "--min-change")]);
    let kinds: Vec<&str> = args.kind.iter().map(|kind| kind.name()).collect();
    let ChangeFilter { store, group, state, brand, category, min_percent, min_change } = args.only;
    let store = store_name::id_of(store.as_ref(), &api).await?;
    let filter = [
        ("kind", Some(kinds.join(",")).filter(|kinds| !kinds.is_empty())),
        ("store", store.map(|store| store.to_string())),
        ("group", group),
        ("state", state),
        ("brand", brand),
        ("category", category),
        ("min_percent", min_percent.map(|percent| percent.to_string())),
        ("min_cents", min_change.map(|cents| cents.to_string())),
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
