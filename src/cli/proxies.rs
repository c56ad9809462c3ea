//! `drover proxies`: imports, lists and checks proxies.

pub mod list;

mod check;
mod draft;
mod import;
mod rekey;

use std::fmt::Display;

use clap::Subcommand;

use super::output::time;
use super::{Env, ExitCode};
use crate::db::proxies::{self, ProxyListing};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add proxies from a CSV with a header, or from lines and URLs, part by part; nothing is added when any line is wrong
    Import(import::Args),
    /// Show every proxy and how it has behaved
    List,
    /// Try every proxy that is not switched off; exit code 5 when some failed, 1 when all did
    Check,
    /// Store every password encrypted with secrets.key, in parts, while workers run; exit code 5 when some could not be read
    Rekey {
        /// Change nothing, and count
        #[arg(long)]
        dry_run: bool,
    },
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Import(args) => import::run(args, env).await,
        Command::List => list(env).await,
        Command::Check => check::run(env).await,
        Command::Rekey { dry_run } => rekey::run(dry_run, env).await,
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let found = proxies::list(&client).await?;
    let headers =
        ["id", "proxy", "user", "state", "ok", "failed", "403s", "ms", "last used", "cooldown until", "last error"];
    env.out.rows(&found, &headers, row)?;
    Ok(ExitCode::Ok)
}

fn row(proxy: &ProxyListing) -> Vec<String> {
    vec![
        proxy.id.to_string(),
        address(&proxy.protocol, &proxy.host, proxy.port),
        proxy.username.clone().unwrap_or_default(),
        proxy.state.to_string(),
        proxy.success_count.to_string(),
        proxy.failure_count.to_string(),
        proxy.consecutive_403_count.to_string(),
        proxy.avg_response_time_ms.map(|ms| format!("{ms:.0}")).unwrap_or_default(),
        proxy.last_used_at.map(time).unwrap_or_default(),
        proxy.cooldown_until.map(time).unwrap_or_default(),
        proxy.last_error.clone().unwrap_or_default(),
    ]
}

/// As a URL, IPv6 in brackets.
fn address(protocol: impl Display, host: &str, port: impl Display) -> String {
    if host.contains(':') { format!("{protocol}://[{host}]:{port}") } else { format!("{protocol}://{host}:{port}") }
}
