//! `drover proxies import FILE|-`: adds the proxies of a list, or changes their credentials, part by part.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::list;
use crate::cli::input::{self, Input};
use crate::cli::progress::CommandProgress;
use crate::cli::{CliError, Env, ExitCode};
use contract::proxies::ImportedProxy::Fields;
use contract::proxies::{ImportCounts, Imported, ProxyImport};

/// Maximum proxies that one transaction adds.
const PART: usize = 1_000;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Columns: host, port, protocol, username, password, state_code, timezone; - reads standard input
    file: PathBuf,
    /// Write lines with faults to this file, each below its faults, and import the others; without this option, the
    /// whole list is refused
    #[arg(long, value_name = "FILE")]
    skip_bad: Option<PathBuf>,
}

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    imported: Imported,
    duplicates: Vec<String>,
    /// Lines written to the file of `--skip-bad`.
    refused: usize,
    /// Entries not imported because the command was stopped.
    remaining: usize,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text } = Input::read(&args.file).await?;
    let list = list::read(&name, &text).map_err(|fault| input::refusal(&[fault]))?;
    input::skip_bad(&name, list.header, &list.bad, args.skip_bad.as_deref())?;
    if list.entries.is_empty() && list.bad.is_empty() {
        return Err(CliError::usage(format!("{name} holds no proxies")).into());
    }
    let api = env.api().await?;
    let progress = CommandProgress::begin(env, "proxies");
    progress.set_total(list.entries.len() as u64);
    let mut imported = Imported::default();
    let mut done = 0;
    for part in list.entries.chunks(PART) {
        if progress.is_stopped() {
            break;
        }
        let part_of =
            ProxyImport { dry_run: false, proxies: part.iter().cloned().map(|entry| Fields(entry.into())).collect() };
        let answered = api.post::<Imported>("/api/proxies/import", &part_of).await;
        let stopped = || format!("{done} of {} were imported; import the list again", list.entries.len());
        let Imported { counts, located } = answered.with_context(stopped)?;
        imported.counts += counts;
        imported.located += located;
        done += part.len();
        progress.advance(part.len() as u64);
    }
    drop(progress);
    let remaining = list.entries.len() - done;
    let answer = Answer { imported, duplicates: list.duplicates, refused: list.bad.len(), remaining };
    env.out.either(&answer, |answer| text_of(answer, args.skip_bad.as_deref()))?;
    Ok(input::code(answer.remaining, answer.refused))
}

fn text_of(answer: &Answer, skip_bad: Option<&Path>) -> String {
    let Imported { counts: ImportCounts { created, updated, unchanged }, located } = answer.imported;
    let mut lines = answer.duplicates.clone();
    lines.push(format!("proxies added: {created}, changed: {updated}, unchanged: {unchanged}"));
    if located > 0 {
        lines.push(format!("states found by address: {located}"));
    }
    lines.extend(input::outcome(answer.remaining, answer.refused, skip_bad));
    lines.join("\n")
}
