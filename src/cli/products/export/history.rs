//! `drover products export --history`: writes the changes of options, as the API streams them.
//!
//! In: the answer of `/api/export/option_history`. Out: its bytes, and their number. An answer that breaks off leaves no
//! file.

use std::io::{self, IsTerminal};

use chrono::{DateTime, Utc};
use serde_json::json;

use super::Args;
use super::sink::Sink;
use crate::cli::progress::CommandProgress;
use crate::cli::values::{self, Since};
use crate::cli::{ApiClient, CliError, Env, ExitCode, bytes, store_name, with_query};
use contract::exports::{Dataset, ExportFormat};
use domain::amounts::counted;
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

pub async fn run(format: ExportFormat, args: &Args, env: &Env) -> anyhow::Result<ExitCode> {
    if format == ExportFormat::Parquet && args.out.is_none() && io::stdout().is_terminal() {
        return Err(
            CliError::usage("a terminal cannot show Parquet: give --out FILE, or redirect standard output").into()
        );
    }
    let api = env.api_to_read().await?.naming(&[]);
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let mut sink = args.sink()?;
    let progress = CommandProgress::of_bytes(env);
    let path = args.path(format, store);
    let copied = tokio::select! {
        copied = copy(&api, &path, &mut sink, &progress) => copied?,
        () = progress.until_stopped() => return Ok(progress.interrupted(args.remains())),
    };
    drop(progress);
    sink.finish()?;
    if let Some(path) = &args.out {
        let Copied { rows, bytes: size } = copied;
        let of = rows.map_or("the history".to_owned(), |rows| counted(rows, "row"));
        let text = format!("{of} ({}) written to {}", bytes(size), path.display());
        env.out.either(&json!({ "rows": rows, "bytes": size, "file": path }), |_| text)?;
    }
    Ok(ExitCode::Ok)
}

struct Copied {
    /// None: the answer did not say.
    rows: Option<i64>,
    bytes: i64,
}

async fn copy(api: &ApiClient, path: &str, sink: &mut Sink, progress: &CommandProgress) -> anyhow::Result<Copied> {
    let mut answer = api.download(path).await?;
    let mut bytes = 0;
    while let Some(piece) = answer.next().await? {
        bytes += piece.len() as i64;
        progress.advance(piece.len() as u64);
        sink.write(piece.into()).await?;
    }
    Ok(Copied { rows: answer.rows(), bytes })
}

impl Args {
    /// Text about the destination of an export that a signal ended.
    fn remains(&self) -> &'static str {
        match self.out {
            Some(_) => "the file is as it was before",
            None => "the output ends in the middle",
        }
    }

    fn path(&self, format: ExportFormat, store: Option<i64>) -> String {
        let HistoryArgs { since, until, group, state, brand, category, columns } = &self.of_history;
        let now = Clock::system().utc();
        let query = [
            ("format", Some(format.name().to_owned())),
            ("since", since.map(|since| since.beginning(now).to_rfc3339())),
            ("until", until.map(|until| until.to_rfc3339())),
            ("store", store.map(|store| store.to_string())),
            ("group", group.clone()),
            ("state", state.clone()),
            ("brand", brand.clone()),
            ("category", category.clone()),
            ("columns", columns.clone()),
        ];
        with_query(&format!("/api/export/{}", Dataset::OptionHistory), query)
    }
}
