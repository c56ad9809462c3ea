//! `settings.toml` of a data directory: the settings of the service that runs there, or ran there last, for the commands that
//! `--dir` sends to it. They judge proxies, capacity and the age of data as the service does.
//!
//! In: the settings of a service. Out: the file, and its layer. It has no secrets, and no setting of the process alone, such as
//! its addresses.

use std::io;
use std::path::Path;

use super::errors::ConfigErrors;
use super::layers::{Layer, Schema};
use super::show::{Setting, is_secret};

const FILE: &str = "settings.toml";

/// Sections that say how a service crawls.
const SECTIONS: [&str; 11] = [
    "changes",
    "http",
    "images",
    "media",
    "platform",
    "politeness",
    "proxies",
    "queue",
    "retention",
    "topology",
    "worker",
];

/// Replaces the file at once: a command reads the old one or the new one.
pub async fn keep(dir: &Path, settings: &[Setting]) -> io::Result<()> {
    let temporary = dir.join(format!("{FILE}.tmp"));
    tokio::fs::write(&temporary, text(settings)).await?;
    tokio::fs::rename(&temporary, dir.join(FILE)).await
}

/// None without a file. Lines that this version does not read are left out: another one may have written them.
pub fn layer(dir: &Path, schema: &Schema) -> Option<Layer> {
    let path = dir.join(FILE);
    let text = std::fs::read_to_string(&path).ok()?;
    Some(schema.file(&path.display().to_string(), &text, &mut ConfigErrors::default()))
}

fn text(settings: &[Setting]) -> String {
    let kept = settings.iter().filter(|setting| is_kept(&setting.key) && !setting.value.is_null());
    // numbers, texts and lists are written in TOML as in JSON
    let lines: String = kept.map(|Setting { key, value, .. }| format!("{key} = {value}\n")).collect();
    format!("# written by the service of this directory, for commands with --dir\n{lines}")
}

fn is_kept(key: &str) -> bool {
    key.split_once('.').is_some_and(|(section, _)| SECTIONS.contains(&section)) && !is_secret(key)
}
