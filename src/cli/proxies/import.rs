//! `drover proxies import FILE|-`.

use std::path::Path;

use serde::Serialize;

use crate::cli::input::{self, Input};
use crate::cli::{Env, ExitCode, Refusal};
use crate::db::proxies::{self, Imported};
use crate::domain::proxy::list::{self, ProxyList, Remark};

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    imported: Imported,
    duplicates: Vec<String>,
}

pub async fn run(file: &Path, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text } = Input::read(file).await?;
    let list = list::parse(&name, &text).map_err(|faults| refusal(&faults))?;
    if list.entries.is_empty() {
        return Err(Refusal::usage(format!("{name} holds no proxies")).into());
    }
    let imported = proxies::import(&env.db().await?, &list.entries).await?;
    env.out.either(&answer(imported, &list), told)?;
    Ok(ExitCode::Ok)
}

fn refusal(faults: &[Remark]) -> Refusal {
    let faults: Vec<String> = faults.iter().map(Remark::to_string).collect();
    input::refusal(&faults)
}

fn answer(imported: Imported, list: &ProxyList) -> Answer {
    Answer { imported, duplicates: list.duplicates.iter().map(Remark::to_string).collect() }
}

fn told(answer: &Answer) -> String {
    let Imported { created, updated, unchanged } = answer.imported;
    let mut lines = answer.duplicates.clone();
    lines.push(format!("{created} added, {updated} changed, {unchanged} as they were"));
    lines.join("\n")
}
