//! `drover stores import FILE|-`: adds the stores of a list, part by part, each part in one transaction.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::{bad_host_here, file, import_part};
use crate::cli::input::{self, Input};
use crate::cli::progress::CommandProgress;
use crate::cli::{CliError, Env, ExitCode};
use crate::platforms::MenuAddresses;
use contract::stores::{ImportedStore, ImportedStores, MAX_IMPORTED, RenamedStore};
use domain::amounts::counted;
use domain::store::StoreId;
use domain::store::group::MAX_GROUPS;

/// Maximum number of stores that are named for one reason.
const MAX_NAMED: usize = 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV file with a header, or - for standard input. Columns: name, platform, platform_dispensary_id, slug, menu_url, api_host,
    /// api_path, city, state, timezone, groups (separated by semicolons). A store that exists is only added to the groups of its line
    file: PathBuf,
    /// Import the correct lines, and write the wrong ones with their faults to this file
    #[arg(long, value_name = "FILE")]
    skip_bad: Option<PathBuf>,
}

#[derive(Default, Serialize)]
struct Answer {
    imported: Vec<ImportedStore>,
    /// Tasks queued that look up the ids of imported stores at their platforms.
    look_ups: usize,
    /// Stores that existed already; only the groups of those counted next changed.
    known: usize,
    /// Existing stores that were put into the groups named in their lines.
    grouped: usize,
    /// Existing stores that were not, because of the maximum number of groups of a store.
    full: Vec<StoreId>,
    /// Existing stores whose lines have a slug that is not theirs any more.
    renamed: Vec<RenamedStore>,
    /// Lines written to the file of `--skip-bad`.
    refused: usize,
    /// Stores not imported because the command was stopped.
    remaining: usize,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text } = Input::read(&args.file).await?;
    let urls = MenuAddresses::of(&env.config);
    let list =
        file::read(&name, &text, &urls, |store| bad_host_here(store, env)).map_err(|fault| input::refusal(&[fault]))?;
    input::skip_bad(&name, Some(list.header), &list.bad, args.skip_bad.as_deref())?;
    if list.stores.is_empty() && list.bad.is_empty() {
        return Err(CliError::usage(format!("{name} has no stores")).into());
    }
    let api = env.api().await?;
    let progress = CommandProgress::begin(env, "stores");
    progress.set_total(list.stores.len() as u64);
    let mut answer = Answer { refused: list.bad.len(), remaining: list.stores.len(), ..Answer::default() };
    for part in list.stores.chunks(MAX_IMPORTED) {
        fail::fail_point!("stores.import_part");
        if progress.is_stopped() {
            break;
        }
        let so_far = || {
            format!(
                "imported: {} of {}; run the same command again for the rest",
                answer.done(),
                counted(list.stores.len(), "store")
            )
        };
        let ImportedStores { imported, known, grouped, full, renamed } =
            import_part(&api, part).await.with_context(so_far)?;
        answer.look_ups += imported.iter().filter(|store| store.entry_point_task_id.is_some()).count();
        answer.imported.extend(imported);
        answer.known += known.len();
        answer.grouped += grouped;
        answer.full.extend(full);
        answer.renamed.extend(renamed);
        answer.remaining -= part.len();
        progress.advance(part.len() as u64);
    }
    drop(progress);
    env.out.either(&answer, |answer| text_of(answer, args.skip_bad.as_deref()))?;
    Ok(input::code(answer.remaining, answer.refused + answer.full.len()))
}

impl Answer {
    fn done(&self) -> usize {
        self.imported.len() + self.known
    }
}

fn text_of(answer: &Answer, skip_bad: Option<&Path>) -> String {
    let mut lines = vec![format!("stores imported: {}, known already: {}", answer.imported.len(), answer.known)];
    if answer.look_ups > 0 {
        lines.push(format!("look-ups of menu ids queued: {}", answer.look_ups));
    }
    if answer.grouped > 0 {
        lines.push(format!("known stores added to the groups of their lines: {}", answer.grouped));
    }
    if !answer.full.is_empty() {
        let ids: Vec<String> = answer.full.iter().take(MAX_NAMED).map(ToString::to_string).collect();
        lines.push(format!(
            "known stores not added to the groups of their lines: {} (the maximum is {MAX_GROUPS} groups): {}",
            answer.full.len(),
            ids.join(", ")
        ));
    }
    lines.extend(answer.renamed.iter().take(MAX_NAMED).map(renamed));
    if answer.renamed.len() > MAX_NAMED {
        lines.push(format!("and {} with another slug now", counted(answer.renamed.len() - MAX_NAMED, "other store")));
    }
    lines.extend(input::outcome(answer.remaining, answer.refused, skip_bad));
    lines.join("\n")
}

/// The reason why a line with an old slug adds no store.
pub fn renamed(RenamedStore { id, former_slug, slug }: &RenamedStore) -> String {
    let now = slug.as_ref().map_or("has no slug now".to_owned(), |slug| format!("has the slug {slug} now"));
    format!("store {id} was {former_slug} and {now}; to add another store as {former_slug}, give its platform id")
}
