//! `drover proxies import FILE|-`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;

use crate::cli::{Env, ExitCode};
use crate::db::proxies::{self, Imported};
use crate::domain::proxy::list::{self, ProxyList, Remark};

/// Far more than a list of proxies needs.
const MAX_BYTES: u64 = 16 << 20;

/// Faults that are shown; who has more mends these first.
const MAX_FAULTS: usize = 100;

#[derive(Serialize)]
struct Answer {
    #[serde(flatten)]
    imported: Imported,
    duplicates: Vec<String>,
}

pub async fn run(file: &Path, env: &Env) -> anyhow::Result<ExitCode> {
    let name = if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() };
    let text = read(file.to_owned()).await.with_context(|| format!("{name} cannot be read"))?;
    let list = list::parse(&name, &text).map_err(|faults| refusal(&faults))?;
    if list.entries.is_empty() {
        bail!("{name} holds no proxies");
    }
    let imported = proxies::import(&env.db().await?, &list.entries).await?;
    env.out.either(&answer(imported, &list), told)?;
    Ok(ExitCode::Ok)
}

/// Standard input may take its time, so it is read where waiting does no harm.
async fn read(file: PathBuf) -> anyhow::Result<String> {
    let bytes = tokio::task::spawn_blocking(move || read_all(&file)).await??;
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("it is not UTF-8 text"))
}

fn read_all(file: &Path) -> anyhow::Result<Vec<u8>> {
    let source: Box<dyn Read> =
        if file == Path::new("-") { Box::new(std::io::stdin()) } else { Box::new(File::open(file)?) };
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("it is larger than {} MiB", MAX_BYTES >> 20);
    }
    Ok(bytes)
}

fn refusal(faults: &[Remark]) -> anyhow::Error {
    let mut lines: Vec<String> = faults.iter().take(MAX_FAULTS).map(Remark::to_string).collect();
    if faults.len() > MAX_FAULTS {
        lines.push(format!("and {} more", faults.len() - MAX_FAULTS));
    }
    lines.push("nothing was imported".to_owned());
    anyhow::anyhow!(lines.join("\n"))
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
