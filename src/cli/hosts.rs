//! `drover hosts`: the state of each host, seen by all processes together, and its limits.

mod robots;

use std::fmt::Write;

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::json;
use url::Url;

use super::{ApiClient, CliError, ClientError, Env, ExitCode, path_segment, time, values, with_query};
use contract::hosts::{BreakerChange, HostDetail, HostListing, HostPage, HostUpdate};
use domain::host::HostState;
use domain::http::host_name::HostName;

/// Number of hosts per request.
const PAGE: &str = "500";

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the hosts that drover sends requests to (the default)
    List,
    /// Show one host with its breaker, limits and robots.txt
    Show {
        /// Name of the host, or a URL on it
        #[arg(value_parser = host_name)]
        host: String,
    },
    /// Stop all requests to a host within a second, until you close its breaker: the same as `drover pause host`
    Open {
        /// Name of the host, or a URL on it
        #[arg(value_parser = host_name)]
        host: String,
        /// Try the host with one request at this time; its answer closes the breaker [default: in a year]
        #[arg(long, value_name = "DAY|TIME", value_parser = values::since)]
        until: Option<DateTime<Utc>>,
        /// Reason shown with the tasks that wait for this host
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
    },
    /// Close the breaker of a host, to send requests to it again
    Close {
        /// Name of the host, or a URL on it
        #[arg(value_parser = host_name)]
        host: String,
    },
    /// Reset a host: close its breaker, end its hold and fetch its robots.txt again. Workers follow within ten seconds
    Reset {
        /// Name of the host, or a URL on it
        #[arg(value_parser = host_name)]
        host: String,
    },
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        None | Some(Command::List) => list(env).await,
        Some(Command::Show { host }) => show(&host, env).await,
        Some(Command::Open { host, until, why }) => {
            change(&host, &HostUpdate { breaker: BreakerChange::Open, until, why }, env).await
        }
        Some(Command::Close { host }) => {
            change(&host, &HostUpdate { breaker: BreakerChange::Closed, until: None, why: None }, env).await
        }
        Some(Command::Reset { host }) => reset(&host, env).await,
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let page = all(&env.api_to_read().await?).await?;
    let headers = ["host", "breaker", "since", "rate", "answers", "refused", "failed", "throttled", "does"];
    env.out.list(&page, &page.hosts, &headers, |HostListing { host, does, state }| {
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
    env.out.note_of_none(&page.hosts, "no hosts to show: the first request to a host adds it");
    Ok(ExitCode::Ok)
}

/// All pages in one.
async fn all(api: &ApiClient) -> Result<HostPage, ClientError> {
    let mut all = HostPage { hosts: Vec::new(), next_cursor: None };
    loop {
        let query = [("limit", Some(PAGE.to_owned())), ("cursor", all.next_cursor.take())];
        let page: HostPage = api.get(&with_query("/api/hosts", query)).await?;
        all.hosts.extend(page.hosts);
        all.next_cursor = page.next_cursor;
        if all.next_cursor.is_none() {
            return Ok(all);
        }
    }
}

async fn show(host: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let found = env.api_to_read().await?.get(&path(host)).await;
    let shown: HostDetail = found.map_err(|error| explained(host, error))?;
    env.out.either(&shown, text)?;
    Ok(ExitCode::Ok)
}

async fn change(host: &str, update: &HostUpdate, env: &Env) -> anyhow::Result<ExitCode> {
    let changed = env.api().await?.put(&path(host), update).await;
    let listing: HostListing = changed.map_err(|error: ClientError| explained(host, error.naming_flags(&[])))?;
    env.out.either(&listing, |listing| format!("{host} {}", listing.does))?;
    Ok(ExitCode::Ok)
}

async fn reset(host: &str, env: &Env) -> anyhow::Result<ExitCode> {
    env.api().await?.delete(&path(host)).await.map_err(|error| explained(host, error))?;
    env.out.either(&json!({ "host": host, "reset": true }), |_| format!("{host} is reset"))?;
    Ok(ExitCode::Ok)
}

fn path(host: &str) -> String {
    format!("/api/hosts/{}", path_segment(host))
}

/// Normalises a name as the table has it: in lower case, and only the host of an address.
fn host_name(text: &str) -> Result<String, String> {
    let url = Url::parse(text).ok().and_then(|url| url.host_str().map(str::to_owned));
    let host = url.unwrap_or_else(|| text.trim().to_ascii_lowercase());
    let name = host.parse::<HostName>().map_err(|_| "expected a host such as menu.example.com")?;
    Ok(name.to_string())
}

/// Names the command that lists the existing hosts, where the host does not exist.
fn explained(host: &str, error: ClientError) -> anyhow::Error {
    match error.code {
        ExitCode::NotFound => CliError::not_found(format!(
            "{host} is unknown, because drover has sent it no request; `drover hosts list` shows all known hosts"
        ))
        .into(),
        _ => error.into(),
    }
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
    robots.iter().for_each(|listing| text.push_str(&robots::text(listing)));
    text.trim_end().to_owned()
}
