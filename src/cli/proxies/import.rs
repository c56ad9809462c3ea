//! `drover proxies import FILE|-`: adds the proxies of a list, or changes their credentials.

use std::path::Path;

use serde::Serialize;

use super::list;
use crate::cli::input::{self, Input};
use crate::cli::{CliError, Env, ExitCode};
use crate::db::proxies::{self, ImportCounts};

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    imported: ImportCounts,
    duplicates: Vec<String>,
}

pub async fn run(file: &Path, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text: list } = Input::read(file).await?;
    let list = list::parse(&name, &list).map_err(|faults| input::refusal(&faults))?;
    if list.entries.is_empty() {
        return Err(CliError::usage(format!("{name} holds no proxies")).into());
    }
    let imported = proxies::import(&env.db().await?, &list.entries).await?;
    env.out.either(&Answer { imported, duplicates: list.duplicates }, text)?;
    Ok(ExitCode::Ok)
}

fn text(answer: &Answer) -> String {
    let ImportCounts { created, updated, unchanged } = answer.imported;
    let mut lines = answer.duplicates.clone();
    lines.push(format!("proxies added: {created}, changed: {updated}, unchanged: {unchanged}"));
    lines.join("\n")
}
