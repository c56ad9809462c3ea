//! `drover db`: the private database server from the outside.

use std::os::unix::process::CommandExt;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{Env, ExitCode, Refusal};
use crate::config::Flag;
use crate::db::embedded;
use crate::db::open;

const LOOK_EVERY: Duration = Duration::from_secs(2);
/// A server that does not answer this often in a row was stopped.
const MISSED_LOOKS: u32 = 3;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The data directory whose private server is meant [default: the configured one]
    #[arg(long, global = true, value_name = "DIR")]
    dir: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the private server and print its URL; it runs until 10 minutes without a client, or `db stop`
    Url,
    /// Open psql on the database, further arguments are psql's own
    Psql {
        /// What psql is to be told, such as -c 'SELECT 1'
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Stop the private server, whoever uses it
    Stop,
    /// What `db url` leaves behind: uses the server until it has had no client for a while
    #[command(hide = true)]
    Hold {
        url: String,
        #[arg(long, value_parser = humantime::parse_duration, default_value = "10m")]
        idle: Duration,
    },
}

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
}

impl Args {
    /// A directory that was named is meant, whatever database is configured.
    pub fn flags(&self) -> Vec<Flag> {
        let Some(dir) = &self.dir else { return Vec::new() };
        [("database.dir", dir.clone()), ("database.url", String::new())]
            .map(|(key, value)| Flag { name: "--dir", key, value })
            .to_vec()
    }
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Url => url(env).await,
        Command::Psql { args } => psql(&args, env).await,
        Command::Stop => stop(env).await,
        Command::Hold { url, idle } => hold(&url, idle).await,
    }
}

async fn url(env: &Env) -> anyhow::Result<ExitCode> {
    require_private(env)?;
    let server = open::start_private(&env.config).await?;
    server.keep_through_exec()?;
    Process::new(std::env::current_exe()?)
        .args(["db", "hold", server.url()])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("run the process that keeps the server")?;
    env.out.either(&Answer { url: server.url() }, |answer| answer.url.to_owned())?;
    Ok(ExitCode::Ok)
}

/// Becomes psql, which inherits the lock that keeps the server.
async fn psql(args: &[String], env: &Env) -> anyhow::Result<ExitCode> {
    let database = env.database().await?;
    database.keep_through_exec()?;
    let (url, password) = without_password(&database.url).ok_or_else(|| {
        Refusal::usage(
            "the password in the database URL would stand in psql's command line: put it into PGPASSWORD or ~/.pgpass",
        )
    })?;
    let mut psql = Process::new("psql");
    psql.arg(url).args(args);
    if let Some(password) = password {
        psql.env("PGPASSWORD", password);
    }
    let error = psql.exec();
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            Err(Refusal::unavailable("psql was not found; install postgresql-client (macOS: brew install libpq)")
                .into())
        }
        _ => Err(error).context("run psql"),
    }
}

async fn stop(env: &Env) -> anyhow::Result<ExitCode> {
    require_private(env)?;
    embedded::stop(&embedded::dir_in(env.config.data_dir())).await?;
    Ok(ExitCode::Ok)
}

/// Holds the lock that it was started with, and never starts a server itself.
async fn hold(url: &str, idle: Duration) -> anyhow::Result<ExitCode> {
    // outlives the terminal that asked for the URL
    let _ = nix::unistd::setsid();
    let (mut last_client, mut missed) = (Instant::now(), 0);
    while last_client.elapsed() < idle && missed < MISSED_LOOKS {
        sleep(LOOK_EVERY.min(idle)).await;
        match embedded::has_clients(url).await {
            Ok(true) => (last_client, missed) = (Instant::now(), 0),
            Ok(false) => missed = 0,
            Err(_) => missed += 1,
        }
    }
    Ok(ExitCode::Ok)
}

fn require_private(env: &Env) -> anyhow::Result<()> {
    if env.config.database.url.is_empty() {
        return Ok(());
    }
    Err(Refusal::usage("a database URL is configured, so there is no private server; name its data directory by --dir")
        .into())
}

/// Every process of the machine can read a command line. Takes the password out of a URL or key-value string; none where that
/// is not sure to succeed.
fn without_password(url: &str) -> Option<(String, Option<String>)> {
    if let Ok(parsed) = url::Url::parse(url) {
        return url_without_password(parsed);
    }
    let may_hold_one = |word: &str| word.contains("://") || word.contains(['\'', '\\']) || !word.contains('=');
    let (secret, kept): (Vec<&str>, Vec<&str>) = url.split_whitespace().partition(|word| word.starts_with("password="));
    let password = secret.last().map(|word| &word["password=".len()..]);
    if kept.iter().any(|word| may_hold_one(word)) || password.is_some_and(may_hold_blanks) {
        return None;
    }
    Some((kept.join(" "), password.map(|it| it.trim_matches('\'').to_owned())))
}

fn may_hold_blanks(value: &str) -> bool {
    value.contains('\\') || value.starts_with('\'') != (value.len() > 1 && value.ends_with('\''))
}

fn url_without_password(mut url: url::Url) -> Option<(String, Option<String>)> {
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut password = url.password().map(decoded);
    if password.is_some() {
        url.set_password(None).ok()?;
    }
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    if let Some((_, value)) = pairs.iter().rfind(|(name, _)| name == "password") {
        password = Some(value.clone());
        url.query_pairs_mut().clear().extend_pairs(pairs.iter().filter(|(name, _)| name != "password"));
    }
    Some((url.into(), password))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("postgresql://u:p%40ss@h:5433/d?sslmode=require", "postgresql://u@h:5433/d?sslmode=require", Some("p@ss"))]
    #[case(
        "postgresql://h/d?user=u&password=s3&sslmode=require",
        "postgresql://h/d?user=u&sslmode=require",
        Some("s3")
    )]
    #[case("postgresql:///drover?host=/run/a&user=u", "postgresql:///drover?host=/run/a&user=u", None)]
    #[case("host=h password='p' user=u", "host=h user=u", Some("p"))]
    #[case("host=h user=u", "host=h user=u", None)]
    fn a_password_never_stands_in_the_command_line(
        #[case] url: &str,
        #[case] shown: &str,
        #[case] password: Option<&str>,
    ) {
        assert_eq!(without_password(url), Some((shown.to_owned(), password.map(str::to_owned))));
    }

    #[rstest]
    #[case::several_hosts("postgresql://u:s3@h1:5432,h2:5432/d")]
    #[case::a_quoted_blank("host=h password='se cret' user=u")]
    #[case::an_escaped_blank("host=h password=se\\ cret user=u")]
    #[case::blanks_around_the_sign("host=h password = secret user=u")]
    fn a_password_that_cannot_be_taken_out_for_sure_goes_nowhere(#[case] url: &str) {
        assert_eq!(without_password(url), None);
    }
}
