//! `drover proxies export`: prints every proxy as a CSV that `drover proxies import` reads.
//!
//! Passwords leave the database only by `--with-passwords`, and only on the database itself: the API never
//! returns them.

use anyhow::Context;

use crate::cli::{CliError, Env, ExitCode, with_query};
use contract::proxies::{ProxyListing, ProxyPage};
use db::proxies::{self, LoadedProxies};
use domain::proxy::{Proxy, ProxyRow};
use export::csv_cell;
use telemetry::events;

const HEADER: [&str; 7] = ["host", "port", "protocol", "username", "password", "state_code", "timezone"];
const PAGE: i64 = 500;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also write the passwords, in plain text; only if the command uses the database directly
    #[arg(long)]
    with_passwords: bool,
}

pub async fn run(args: &Args, env: &Env) -> anyhow::Result<ExitCode> {
    let (rows, unreadable) = match args.with_passwords {
        true => with_passwords(env).await?,
        false => (without_passwords(env).await?, 0),
    };
    let mut csv = csv::Writer::from_writer(std::io::stdout().lock());
    csv.write_record(HEADER)?;
    for row in &rows {
        csv.write_record(row.iter().map(|cell| csv_cell::escaped(cell).into_owned()))?;
    }
    csv.flush().context("the list cannot be written")?;
    Ok(if unreadable == 0 { ExitCode::Ok } else { ExitCode::PartialFailure })
}

type Record = [String; HEADER.len()];

/// Reads the API page by page.
async fn without_passwords(env: &Env) -> anyhow::Result<Vec<Record>> {
    let api = env.api_to_read().await?;
    let (mut records, mut cursor) = (Vec::new(), None);
    loop {
        let query = [("limit", Some(PAGE.to_string())), ("cursor", cursor)];
        let page: ProxyPage = api.get(&with_query("/api/proxies", query)).await?;
        records.extend(page.proxies.into_iter().map(listed));
        match page.next_cursor {
            Some(next) => cursor = Some(String::from(next)),
            None => return Ok(records),
        }
    }
}

/// Also counts unreadable passwords; their proxies are left out, which is reported.
async fn with_passwords(env: &Env) -> anyhow::Result<(Vec<Record>, usize)> {
    if !env.config.client.url.is_empty() {
        let remedy = "run the command without --url on a machine with access to the database, or omit --with-passwords";
        return Err(CliError::usage(format!("--with-passwords: the API never answers passwords; {remedy}")).into());
    }
    let client = env.db_to_read().await?.client().await?;
    let LoadedProxies { rows, unreadable } = proxies::load(&client, &env.config.secrets.keys()).await?;
    for proxy in &unreadable {
        events::proxy_unreadable(proxy.id, &format!("{}:{}", proxy.host, proxy.port), &proxy.error);
    }
    Ok((rows.into_iter().map(loaded).collect(), unreadable.len()))
}

fn listed(proxy: ProxyListing) -> Record {
    let [username, state, timezone] = [proxy.username, proxy.state_code, proxy.timezone].map(Option::unwrap_or_default);
    [proxy.host, proxy.port.to_string(), proxy.protocol.to_string(), username, String::new(), state, timezone]
}

fn loaded(row: ProxyRow) -> Record {
    let Proxy { protocol, host, port, username, password, .. } = row.proxy;
    let [username, password] = [username, password].map(Option::unwrap_or_default);
    let [state, timezone] = [row.state_code, row.timezone].map(Option::unwrap_or_default);
    [host, port.to_string(), protocol.to_string(), username, password, state, timezone]
}
