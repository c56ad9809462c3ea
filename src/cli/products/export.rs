//! `drover products export`: writes the products of one store or of all stores, or with `--history` the changes of their
//! options. Out: stdout, or a file that is written whole or not at all.

mod current;
mod history;

use std::path::PathBuf;

use clap::ValueEnum;

use crate::cli::export::sink::Sink;
use crate::cli::store_name::StoreName;
use crate::cli::{CliError, Env, ExitCode};
use contract::exports::ExportFormat;
use current::ListFormat;
use history::HistoryArgs;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only the store with this id, slug or name [default: all stores]
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// csv, jsonl: an object per line, json: an array with one product per line, or with --history parquet [default: csv,
    /// with --json json or jsonl]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// Write this file, replacing it once all rows are written [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write each change of an option's price, quantity or stock, in place of the current products
    #[arg(long)]
    history: bool,
    #[command(flatten)]
    of_history: HistoryArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Json,
    Jsonl,
    Parquet,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.history {
        true => history::run(args.history_format()?, args, env).await,
        false => current::run(args.list_format(env)?, &args, env).await,
    }
}

impl Args {
    fn history_format(&self) -> Result<Option<ExportFormat>, CliError> {
        match self.format {
            None => Ok(None),
            Some(Format::Csv) => Ok(Some(ExportFormat::Csv)),
            Some(Format::Jsonl) => Ok(Some(ExportFormat::Jsonl)),
            Some(Format::Parquet) => Ok(Some(ExportFormat::Parquet)),
            Some(Format::Json) => Err(CliError::usage("--format: a history is csv, jsonl or parquet")),
        }
    }

    fn list_format(&self, env: &Env) -> Result<ListFormat, CliError> {
        match self.format {
            None if env.out.is_json() => Ok(ListFormat::Json),
            None | Some(Format::Csv) => Ok(ListFormat::Csv),
            Some(Format::Json) => Ok(ListFormat::Json),
            Some(Format::Jsonl) => Ok(ListFormat::Jsonl),
            Some(Format::Parquet) => Err(CliError::usage("--format: parquet needs --history; else csv, json or jsonl")),
        }
    }

    fn sink(&self) -> anyhow::Result<Sink> {
        self.out.as_deref().map_or(Ok(Sink::stdout()), Sink::file)
    }
}
