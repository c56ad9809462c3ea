//! `drover hosts`: what each host does to all processes together, and what they may send it.

mod robots;

use std::fmt::Write;
use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;
use url::Url;

use robots::RobotsListing;

use super::output::time;
use super::{CliError, Env, ExitCode};
use crate::db::hosts::{self, HostRow};
use crate::db::{self, DbError};
use crate::domain::host::{HostState, Permission};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show every host that was asked (the default)
    List,
    /// Show all that is known of one host
    Show {
        /// Its name, or an address there
        #[arg(value_parser = host_name)]
        host: String,
    },
    /// Forget what is known of a host: its hold and its breaker end, within ten seconds for running workers, and its robots.txt is
    /// fetched again
    Reset {
        /// Its name, or an address there
        #[arg(value_parser = host_name)]
        host: String,
    },
}

#[derive(Serialize)]
struct HostListing {
    host: String,
    /// What the host does and since when, for people.
    does: String,
    #[serde(flatten)]
    state: HostState,
}

/// All that is known of one host.
#[derive(Serialize)]
struct HostDetail {
    #[serde(flatten)]
    listing: HostListing,
    robots: Vec<RobotsListing>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        None | Some(Command::List) => list(env).await,
        Some(Command::Show { host }) => show(&host, env).await,
        Some(Command::Reset { host }) => reset(&host, env).await,
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let found: Vec<HostListing> = hosts::list(&client, None).await?.into_iter().map(HostListing::from).collect();
    let headers = ["host", "breaker", "since", "rate", "answers", "refused", "failed", "throttled", "does"];
    env.out.rows(&found, &headers, |HostListing { host, does, state }| {
        vec![
            host.clone(),
            state.breaker.state.to_string(),
            time(state.breaker.breaker_since),
            rate(state),
            state.answers.to_string(),
            state.refusals.to_string(),
            state.failures.to_string(),
            state.throttles.to_string(),
            does.clone(),
        ]
    })?;
    Ok(ExitCode::Ok)
}

async fn show(host: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let found = hosts::list(&client, Some(host)).await?.pop().ok_or_else(|| never_asked(host))?;
    let policy = env.config.politeness.robots_policy(host);
    let robots = db::robots::of_host(&client, host).await?.into_iter().map(|row| RobotsListing::new(row, policy));
    let shown = HostDetail { listing: found.into(), robots: robots.collect() };
    env.out.either(&shown, text)?;
    Ok(ExitCode::Ok)
}

async fn reset(host: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db().await?.client().await?;
    match hosts::reset(&client, host).await {
        Err(DbError::Missing(_)) => return Err(never_asked(host)),
        done => done?,
    }
    db::robots::forget(&client, host).await?;
    env.out.either(&serde_json::json!({ "host": host, "reset": true }), |_| format!("{host} is forgotten"))?;
    Ok(ExitCode::Ok)
}

/// As the table names it: in small letters, of an address the host alone.
fn host_name(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = url.unwrap_or_else(|| text.trim().to_ascii_lowercase());
    if host.is_empty() { Err("expected a host such as menu.example.com".to_owned()) } else { Ok(host) }
}

fn never_asked(host: &str) -> anyhow::Error {
    CliError::not_found(format!("{host} was never asked: `drover hosts list` shows those that were")).into()
}

impl From<HostRow> for HostListing {
    fn from(row: HostRow) -> Self {
        HostListing { does: does(&row), host: row.host, state: row.state }
    }
}

fn does(HostRow { state, now, .. }: &HostRow) -> String {
    match state.permission(*now) {
        Permission::Free => match state.trouble() {
            Some(trouble) => format!("{} since {} UTC", trouble.what, time(trouble.since)),
            None => "answers".to_owned(),
        },
        Permission::Held { left, status } => format!("throttles us (status {status}); on hold for {}", seconds(left)),
        Permission::Refusing(refusing) if refusing.is_probed => {
            format!("{} since {} UTC; a probe is under way", refusing.why, time(refusing.since))
        }
        Permission::Refusing(refusing) => {
            format!("{} since {} UTC; next probe in {}", refusing.why, time(refusing.since), seconds(refusing.left))
        }
        Permission::ProbeDue => {
            let refusing = state.refusing(Duration::ZERO);
            format!("{} since {} UTC; a probe is due", refusing.why, time(refusing.since))
        }
    }
}

fn seconds(left: Duration) -> String {
    format!("{} s", left.as_secs_f64().ceil())
}

fn rate(state: &HostState) -> String {
    match state.rate.configured_rate > 0.0 {
        true => format!("{:.1}/{:.1}", state.rate.rate, state.rate.configured_rate),
        false => "no limit".to_owned(),
    }
}

fn text(HostDetail { listing, robots }: &HostDetail) -> String {
    let HostListing { host, does, state } = listing;
    let mut text = format!("{host} {does}\n");
    let latency = state.rate.latency_ms.map(|ms| format!("{ms:.0} ms")).unwrap_or_default();
    let lines = [
        ("breaker", format!("{} since {}", state.breaker.state, time(state.breaker.breaker_since))),
        ("opened in a row", state.breaker.opens_in_a_row.to_string()),
        ("probes", state.breaker.probe.to_string()),
        ("next probe", state.breaker.probe_at.map(time).unwrap_or_default()),
        ("hold until", state.hold.hold_until.map(time).unwrap_or_default()),
        ("requests/s", format!("{}, {} process(es)", rate(state), state.processes.len())),
        ("usual answer", latency),
        ("answers", state.answers.to_string()),
        ("refused", state.refusals.to_string()),
        ("failed (5xx)", state.failures.to_string()),
        ("throttled", state.throttles.to_string()),
    ];
    for (name, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        // writing to a string cannot fail
        let _ = writeln!(text, "  {name:<16} {value}");
    }
    text.extend(robots.iter().map(RobotsListing::text));
    text.trim_end().to_owned()
}
