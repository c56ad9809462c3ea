//! `drover proxies`: imports, lists, changes and checks proxies.

pub mod checker;
pub mod list;

mod check;
mod export;
mod import;
mod rekey;

use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::json;

use super::{Env, ExitCode, bytes, time, values, with_query};
use contract::proxies::{ProxyBench, ProxyListing, ProxyPage, ProxyTest};
use domain::proxy::{ProxyId, ShownHealth, address};
use domain::store::Platform;
use foundation::clock::Clock;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add proxies from a CSV with a header, or from lines and URLs, part by part; nothing is added when any line is wrong
    Import(import::Args),
    /// Show proxies and how each has behaved
    ///
    /// GOOD OF LATEST: share of its latest requests, up to 100, that a host answered and did not refuse; its health follows from them.
    /// Requests for images do not count towards either. HOSTS: hosts that refuse it or give no answer through it,
    /// beside hosts that answer. OK EVER, FAILED EVER: its requests since it was added that were answered, and that
    /// failed by its fault; refusals do not count towards either. BYTES TODAY: since midnight in its time zone, both
    /// directions; workers add theirs every 20 s. BYTES LEFT: of its budget for today.
    List {
        /// untested, healthy, refused (by hosts), failing (no answers), benched or off
        #[arg(long, value_parser = values::word::<ShownHealth>)]
        health: Option<ShownHealth>,
        /// Maximum number of proxies
        #[arg(long, value_name = "N", default_value_t = 500, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
        limit: i64,
    },
    /// Write every proxy as a CSV that `import` reads
    Export(export::Args),
    /// Switch a proxy on, and end its cooldown
    Enable(IdArg),
    /// Switch a proxy off: no task uses it until it is switched on
    Disable(IdArg),
    /// Delete a proxy; its counts of past requests stay
    Delete(IdArg),
    /// Send one request through a proxy, as tasks do; exit code 1 when it failed. Its health does not change
    Test(IdArg),
    /// Try every proxy that is not switched off; exit code 5 when some failed, 1 when all did. Their health does not
    /// change
    Check {
        /// Platform that is asked
        #[arg(long, value_name = "PLATFORM", default_value_t = checker::DEFAULT_PLATFORM)]
        platform: Platform,
    },
    /// Store every password and credential encrypted with secrets.key, in parts, while workers run; exit code 5 when some could not
    /// be read
    Rekey {
        /// Only count, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, clap::Args)]
pub struct IdArg {
    /// The proxy's id, as `proxies list` shows it
    #[arg(allow_negative_numbers = true, value_parser = values::id)]
    id: ProxyId,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Import(args) => import::run(args, env).await,
        Command::List { health, limit } => list(health, limit, env).await,
        Command::Export(args) => export::run(&args, env).await,
        Command::Enable(IdArg { id }) => switch(id, true, env).await,
        Command::Disable(IdArg { id }) => switch(id, false, env).await,
        Command::Delete(IdArg { id }) => delete(id, env).await,
        Command::Test(IdArg { id }) => test(id, env).await,
        Command::Check { platform } => check::run(platform, env).await,
        Command::Rekey { dry_run } => rekey::run(dry_run, env).await,
    }
}

async fn list(health: Option<ShownHealth>, limit: i64, env: &Env) -> anyhow::Result<ExitCode> {
    let filters = [("health", health.map(|health| health.to_string())), ("limit", Some(limit.to_string()))];
    let page: ProxyPage = env.api_to_read().await?.get(&with_query("/api/proxies", filters)).await?;
    let headers = [
        "id",
        "proxy",
        "user",
        "health",
        "good of latest",
        "hosts",
        "benched",
        "ok ever",
        "failed ever",
        "refused in a row",
        "ms",
        "bytes today",
        "bytes left",
        "rests until",
        "last used",
        "last error",
    ];
    let now = Clock::system().utc();
    env.out.list(&page, &page.proxies, &headers, |proxy| row(proxy, now))?;
    env.out.note_of_none(&page.proxies, "no proxies to show: add proxies with `drover proxies import FILE`");
    env.out.note_of_more(page.next_cursor.is_some(), limit);
    Ok(ExitCode::Ok)
}

async fn switch(id: ProxyId, on: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let proxy: ProxyListing = api.put(&format!("/api/proxies/{id}"), &json!({"is_active": on})).await?;
    env.out.either(&proxy, |proxy| {
        let address = address(&proxy.protocol, &proxy.host, proxy.port);
        format!("proxy {id} ({address}) is {}", proxy.health)
    })?;
    Ok(ExitCode::Ok)
}

async fn delete(id: ProxyId, env: &Env) -> anyhow::Result<ExitCode> {
    env.api().await?.delete(&format!("/api/proxies/{id}")).await?;
    env.out.either(&json!({"id": id, "deleted": true}), |_| format!("proxy {id} is deleted"))?;
    Ok(ExitCode::Ok)
}

async fn test(id: ProxyId, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let tested: ProxyTest = api.post(&format!("/api/proxies/{id}/test"), &json!({})).await?;
    env.out.either(&tested, |tested| match (&tested.reason, tested.latency_ms) {
        (Some(reason), _) => format!("proxy {id} FAILED: {reason}"),
        (None, latency) => format!("proxy {id} is ok: answered in {} ms", latency.unwrap_or_default()),
    })?;
    Ok(if tested.ok { ExitCode::Ok } else { ExitCode::Failure })
}

fn row(proxy: &ProxyListing, now: DateTime<Utc>) -> Vec<String> {
    vec![
        proxy.id.to_string(),
        address(&proxy.protocol, &proxy.host, proxy.port),
        proxy.username.clone().unwrap_or_default(),
        proxy.health.to_string(),
        proxy.healthy_share.map(|share| good_of_latest(share, proxy.recent_requests)).unwrap_or_default(),
        proxy.hosts_text.clone(),
        proxy.benched.iter().map(|bench| bench_text(bench, now)).collect::<Vec<_>>().join(", "),
        proxy.success_count.to_string(),
        proxy.failure_count.to_string(),
        proxy.consecutive_403_count.to_string(),
        proxy.avg_response_time_ms.map(|ms| format!("{ms:.0}")).unwrap_or_default(),
        bytes(proxy.bytes_today),
        proxy.budget_left.map(bytes).unwrap_or_default(),
        proxy.rests_until.map(time).unwrap_or_default(),
        proxy.last_used_at.map(time).unwrap_or_default(),
        proxy.last_error.clone().unwrap_or_default(),
    ]
}

/// `96 % of 100`: requests that a host answered and did not refuse.
fn good_of_latest(share: f64, requests: i64) -> String {
    format!("{:.0} % of {requests}", 100.0 * share)
}

/// `menu.test 42s`: where it is benched, and for how long.
fn bench_text(bench: &ProxyBench, now: DateTime<Utc>) -> String {
    let left = (bench.until - now).to_std().unwrap_or_default();
    let left = humantime::format_duration(Duration::from_secs(left.as_secs()));
    format!("{} {left}", bench.host.as_deref().unwrap_or("everywhere"))
}
