//! `drover doctor`: looks for what would keep drover from working here, and says what to do about each finding.

use serde::Serialize;

use super::{Env, ExitCode, process};

/// What 75 workers with their sockets and files need, with room to spare.
const FILES_NEEDED: u64 = 4096;

#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    ok: bool,
    says: String,
    /// What to do about it; none when it is well.
    remedy: Option<String>,
}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let findings = vec![configuration(env), storage(env), files()];
    env.out.rows(&findings, &["check", "", "says"], |finding| {
        let mark = if finding.ok { "ok" } else { "FAULT" };
        let remedy = finding.remedy.as_deref().map(|remedy| format!(": {remedy}")).unwrap_or_default();
        vec![finding.check.to_owned(), mark.to_owned(), format!("{}{remedy}", finding.says)]
    })?;
    Ok(if findings.iter().all(|finding| finding.ok) { ExitCode::Ok } else { ExitCode::Failure })
}

impl Finding {
    fn well(check: &'static str, says: impl Into<String>) -> Self {
        Finding { check, ok: true, says: says.into(), remedy: None }
    }

    fn fault(check: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, ok: false, says: says.into(), remedy: Some(remedy.into()) }
    }
}

/// A bad one has ended the process before this.
fn configuration(env: &Env) -> Finding {
    Finding::well(
        "configuration",
        format!("environment {}, {} keys", env.loaded.environment, env.loaded.settings.len()),
    )
}

fn storage(env: &Env) -> Finding {
    let root = env.config.storage_root();
    let says = root.display().to_string();
    match std::fs::create_dir_all(root).and_then(|()| tempfile::NamedTempFile::new_in(root)) {
        Ok(_) => Finding::well("storage", format!("{says} is writable")),
        Err(error) => Finding::fault(
            "storage",
            format!("{says} is not writable ({error})"),
            "give this user the directory, or set storage.root to another",
        ),
    }
}

fn files() -> Finding {
    match process::file_limit() {
        Some(limit) if limit >= FILES_NEEDED => Finding::well("open files", format!("{limit} allowed")),
        limit => Finding::fault(
            "open files",
            format!("only {} allowed", limit.unwrap_or(0)),
            format!("raise the hard limit to {FILES_NEEDED} (ulimit -Hn, LimitNOFILE=)"),
        ),
    }
}
