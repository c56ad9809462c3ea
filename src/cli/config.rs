//! `drover config`: shows the effective configuration, or checks it with its data files.

use std::sync::Arc;

use clap::Subcommand;
use serde::Serialize;

use super::{Env, ExitCode, Output};
use crate::app::data::DataFiles;
use crate::stealth::fingerprint::Evidence;
use crate::stealth::{Fingerprint, tls};
use db::connection::server::Server;
use settings::{Config, ConfigErrors, Fault, LoadedConfig, Setting, Sources};

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Print the effective configuration
    Show {
        /// Show which file, variable or flag set each value
        #[arg(long)]
        origin: bool,
    },
    /// Show what the running service, here or at --url, would take over from the files, and what needs a restart;
    /// values that a variable or a flag sets, for the service or for this command, are left out
    Diff,
    /// Check the configuration and list all faults
    Check {
        /// Also list the fingerprints with their weights and the evidence for their headers
        #[arg(long)]
        fingerprints: bool,
    },
}

#[derive(Serialize)]
struct CheckAnswer {
    ok: bool,
    environment: Option<String>,
    faults: Vec<Fault>,
    fingerprints: Vec<FingerprintSummary>,
}

/// A fingerprint: its share of draws, and the evidence for its headers.
#[derive(Serialize)]
struct FingerprintSummary {
    id: String,
    weight: u32,
    evidence: Evidence,
}

pub async fn run(action: Action, env: &Env) -> anyhow::Result<ExitCode> {
    match action {
        Action::Show { origin } => show(&env.live.current().settings, origin, &env.out)?,
        Action::Diff => diff(env).await?,
        // ran before
        Action::Check { .. } => {}
    }
    Ok(ExitCode::Ok)
}

/// Compares the configuration of this command with that of the running service.
async fn diff(env: &Env) -> anyhow::Result<()> {
    let running: api::Settings = env.running_service().await?.get("/api/config").await?;
    let changes = settings::changes(&of_files(&running.settings), &of_files(&env.live.current().settings));
    if changes.is_empty() && !env.out.is_json() {
        env.out.line("the service has these settings already")?;
        return Ok(());
    }
    env.out.listed("changes", &changes, &["key", "in use", "new", "takes effect"], |change| {
        let when = if change.needs_restart { "after a restart" } else { "with a reload" };
        vec![change.key.clone(), change.from.to_string(), change.to.to_string(), when.to_owned()]
    })?;
    Ok(())
}

/// A service keeps its own variables and flags, and takes over none of this command.
fn of_files(settings: &[Setting]) -> Vec<Setting> {
    settings.iter().filter(|setting| setting.is_of_a_file()).cloned().collect()
}

/// The result of `config check`, which runs before the configuration must be usable; None for other commands.
pub fn check(action: &Action, sources: &Sources, out: &Output) -> Option<anyhow::Result<ExitCode>> {
    let &Action::Check { fingerprints: lists_fingerprints } = action else { return None };
    Some(match Config::load(sources).and_then(usable) {
        Ok(loaded) => {
            let fingerprints = fingerprints(&loaded.config);
            let checked =
                CheckAnswer { ok: true, environment: Some(loaded.environment), faults: Vec::new(), fingerprints };
            out.either(&checked, |checked| text(checked, lists_fingerprints)).map(|()| ExitCode::Ok).map_err(Into::into)
        }
        Err(faults) if out.is_json() => {
            let checked = CheckAnswer { ok: false, environment: None, faults: faults.0, fingerprints: Vec::new() };
            out.value(&checked).map(|()| ExitCode::BadConfig).map_err(Into::into)
        }
        Err(faults) => Err(faults.into()),
    })
}

fn text(checked: &CheckAnswer, lists_fingerprints: bool) -> String {
    if !lists_fingerprints {
        return "the configuration is valid".to_owned();
    }
    let line = |it: &FingerprintSummary| format!("\n  {:<20} weight {:>3}  {}", it.id, it.weight, it.evidence.name());
    let fingerprints: String = checked.fingerprints.iter().map(line).collect();
    format!(
        "the configuration is valid; fingerprints with their weight and the evidence for their headers:{fingerprints}"
    )
}

fn fingerprints(config: &Config) -> Vec<FingerprintSummary> {
    let shown =
        |it: &Arc<Fingerprint>| FingerprintSummary { id: it.id.clone(), weight: it.weight, evidence: it.evidence };
    DataFiles::load(config).iter().flat_map(|files| files.identities.all()).map(shown).collect()
}

/// Checks what loading does not: data files, the CA file and the database's URL.
fn usable(loaded: LoadedConfig) -> Result<LoadedConfig, ConfigErrors> {
    let mut faults = DataFiles::load(&loaded.config).err().unwrap_or_default();
    let config = &loaded.config;
    for (key, file) in
        [("http.extra_ca_file", &config.http.extra_ca_file), ("proxies.extra_ca_file", &config.proxies.extra_ca_file)]
    {
        if let Err(error) = tls::check(file.as_deref()) {
            faults.push(loaded.origin(key), key, error.to_string());
        }
    }
    let database = &loaded.config.database;
    if !database.url.is_empty()
        && let Err(error) = Server::parse(database.url.reveal(), database.connect_timeout)
    {
        faults.push(loaded.origin("database.url"), "database.url", error.to_string());
    }
    faults.into_result().map(|()| loaded)
}

fn show(settings: &[Setting], origin: bool, out: &Output) -> std::io::Result<()> {
    let mut headers = vec!["key", "value"];
    if origin {
        headers.push("origin");
    }
    out.listed("settings", settings, &headers, |setting| {
        let mut cells = vec![setting.key.clone(), setting.value.to_string()];
        if origin {
            cells.push(setting.origin.clone());
        }
        cells
    })
}
