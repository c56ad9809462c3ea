//! `drover db`: opens psql on the configured database; adds logins of analysts; starts the private server and prints its
//! URL, or stops it.

mod reader;

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{CliError, Env, ExitCode};
use crate::app::database;
use db::schema;
use private_server::StoppedServer;

const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Number of unanswered polls in a row after which a server counts as stopped.
const MAX_MISSED_POLLS: u32 = 3;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the private server and print its URL. It stops after 10 minutes without a client, or with `db stop`
    Url,
    /// Open psql on the configured or private database
    Psql {
        /// Arguments for psql, such as -c 'SELECT 1'; a --dir among them is for drover
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Add a login that may read the views of drover_v1 and nothing else (docs/sql.md)
    Reader(reader::Args),
    /// Stop the private server, even if it is in use
    Stop,
    /// Keep the server running until it has had no client for `idle`; `db url` starts this process
    #[command(hide = true)]
    Hold {
        server: String,
        #[arg(long, value_parser = humantime::parse_duration, default_value = "10m")]
        idle: Duration,
    },
}

#[derive(Serialize)]
struct Answer<'a> {
    url: &'a str,
}

impl Command {
    /// Takes `--dir` out of the arguments for psql, where the parser has left it because it follows one of
    /// them. psql has no such option.
    pub fn take_dir(&mut self) -> Result<Option<PathBuf>, CliError> {
        let Command::Psql { args } = self else { return Ok(None) };
        let Some(at) = args.iter().position(|arg| arg == "--dir" || arg.starts_with("--dir=")) else { return Ok(None) };
        let dir = match args.remove(at).strip_prefix("--dir=") {
            Some(dir) => dir.to_owned(),
            None if at < args.len() => args.remove(at),
            None => String::new(),
        };
        match dir.is_empty() {
            true => Err(CliError::usage("--dir: name a data directory")),
            false => Ok(Some(dir.into())),
        }
    }
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Url => url(env).await,
        Command::Psql { args } => psql(&args, env).await,
        Command::Reader(args) => reader::run(args, env).await,
        Command::Stop => stop(env).await,
        Command::Hold { server, idle } => hold(&server, idle).await,
    }
}

async fn url(env: &Env) -> anyhow::Result<ExitCode> {
    require_private(env)?;
    let server = database::start_private(&env.config).await?;
    server.keep_through_exec()?;
    Process::new(std::env::current_exe()?)
        .args(["db", "hold", server.url()])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the process that keeps the server running")?;
    env.out.either(&Answer { url: server.url() }, |answer| answer.url.to_owned())?;
    Ok(ExitCode::Ok)
}

/// Replaces this process by psql, which inherits the lock that keeps the server running.
async fn psql(args: &[String], env: &Env) -> anyhow::Result<ExitCode> {
    env.require_data()?;
    let database = env.database().await?;
    database.keep_through_exec()?;
    let mut psql = Process::new("psql");
    database.connect(&mut psql).map_err(CliError::bad_config)?;
    Err(cannot_run("psql", psql.args(args).exec()))
}

/// The error of a client program of Postgres that was not started.
pub fn cannot_run(program: &str, error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let remedy = "install postgresql-client (macOS: brew install libpq)";
            CliError::unavailable(format!("{program} was not found; {remedy}")).into()
        }
        _ => anyhow::Error::from(error).context(format!("cannot run {program}")),
    }
}

async fn stop(env: &Env) -> anyhow::Result<ExitCode> {
    require_private(env)?;
    let dir = private_server::dir_in(env.config.data_dir());
    if !dir.exists() {
        let fault =
            format!("there is no private server: {} does not exist; name its data directory with --dir", dir.display());
        return Err(CliError::not_found(fault).into());
    }
    let found = private_server::stop(&dir).await?;
    let dir = dir.display();
    env.out.line(match found {
        StoppedServer::NotRunning => format!("No private server runs in {dir}."),
        StoppedServer::Unused => format!("The private server in {dir} is stopped."),
        StoppedServer::InUse => format!(
            "The private server in {dir} is stopped. It was in use: restart `drover up` and other services that used it."
        ),
    })?;
    Ok(ExitCode::Ok)
}

/// Holds the inherited lock, and never starts a server itself.
async fn hold(server: &str, idle: Duration) -> anyhow::Result<ExitCode> {
    // outlives the terminal of the command
    let _ = nix::unistd::setsid();
    let (mut last_client, mut missed) = (Instant::now(), 0);
    while last_client.elapsed() < idle && missed < MAX_MISSED_POLLS {
        sleep(POLL_INTERVAL.min(idle)).await;
        match schema::server_info::has_clients(server).await {
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
    Err(CliError::usage("a database URL is configured, so no private server is in use; choose one with --dir").into())
}
