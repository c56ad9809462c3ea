//! The command line: one file per subcommand, plugged in here by a variant of [`Command`] and an arm of
//! [`Command::run`].
//!
//! A subcommand's file has `pub struct Args` (clap) and
//! `pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode>`. Data goes to stdout by
//! [`Env::out`], logs and errors to stderr, as text unless the command is a service; errors become exit codes in
//! one place ([`exit`]).

#[cfg(feature = "demo")]
mod demo;
pub mod exit;
pub mod output;
pub mod process;
pub mod proxies;
pub mod stop;
mod store_name;

mod api;
mod audit;
mod backup;
mod capacity;
mod changes;
mod client;
mod completions;
mod config;
mod db;
mod doctor;
mod download;
mod each;
mod enqueue;
mod env;
mod export;
mod geo;
mod groups;
mod healthcheck;
mod hosts;
mod http;
mod images;
mod input;
mod jobs;
mod list_file;
mod man;
mod media;
mod migrate;
mod missing;
mod notifications;
mod offer_filter;
mod openapi;
mod pause;
mod payload;
mod platforms;
mod prices;
mod products;
mod progress;
mod quality;
mod reload;
mod remote;
mod restore;
mod retailers;
mod retention;
mod scheduler;
mod schedules;
mod service;
mod sparkline;
mod stats;
mod status_line;
mod stores;
mod tasks;
mod tip;
mod token;
mod unit_price;
mod up;
mod values;
mod version;
mod worker;
mod workers;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};

pub use env::Env;
pub use exit::{CliError, ExitCode};
pub use output::Output;
pub use stop::Stop;

use self::client::{ApiClient, ClientError, path_segment, with_query};
use self::each::{Ids, each};
use self::input::Input;
use self::output::{amount, bytes, shown, time};
use self::store_name::StoreName;
use crate::features;
use settings::{Config, Flag, LoadedConfig, Log, Sources};
use telemetry::log;

const GLOBAL: &str = "Global options";

/// A durable, supervised crawler of dispensary menus on Postgres.
#[derive(Debug, Parser)]
#[command(name = "drover", version, long_version = features::VERSION.as_str(), arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    /// Read configuration files from this directory; they override the built-in ones [default: ./config if it exists]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Use the private database in this data directory, even if another database is configured, and the settings of its service [default: the configured one]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    dir: Option<PathBuf>,
    /// Send the command to the server at this address, with the token in DROVER_TOKEN [default: use the database directly]
    #[arg(long, global = true, value_name = "URL", help_heading = GLOBAL)]
    url: Option<String>,
    /// Print data as JSON
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the HTTP API and run the schedules, without workers
    Api(api::Args),
    /// List who changed what
    Audit(audit::Args),
    /// Copy the database and its files into a directory, while services run
    Backup(backup::Args),
    /// Show the backlog of each role and how many slots would finish it in an hour; forecast what the schedules, or other stores, need
    Capacity(capacity::Args),
    /// Print a completion script for your shell: bash, elvish, fish, powershell or zsh
    Completions(completions::Args),
    /// Show or check the configuration
    #[command(subcommand)]
    Config(config::Action),
    /// Open psql on the database; add logins of analysts; start or stop the private server
    #[command(subcommand)]
    Db(db::Command),
    /// Crawl simulated platforms, in a temporary directory or in --dir
    #[cfg(feature = "demo")]
    Demo(demo::Args),
    /// Check this machine and the database, and name a remedy for each fault
    Doctor(doctor::Args),
    /// Add one task to the queue
    Enqueue(enqueue::Args),
    /// Write changes, products, options, their history, or stores, as CSV, JSON lines or Parquet
    Export(export::Args),
    /// Look up the location of an IP address
    #[command(subcommand)]
    Geo(geo::Command),
    /// List, rename and delete groups of stores
    #[command(subcommand)]
    Groups(groups::Command),
    /// Join stores of several platforms that are the same shop
    #[command(subcommand)]
    Retailers(retailers::Command),
    /// Check whether the service on this machine, or at --url, works; exit code 1 if not
    Healthcheck(healthcheck::Args),
    /// Follow changes of prices, specials, stock and products
    #[command(subcommand)]
    Changes(changes::Command),
    /// List stores with faulty data: no full crawl for a long time, halved menus, missing prices, unknown keys or
    /// words, suspicious changes
    #[command(subcommand)]
    Quality(quality::Command),
    /// List the hosts that drover sends requests to; show, open, close or reset one
    Hosts(hosts::Args),
    /// Download missing images of products and brands
    #[command(subcommand)]
    Images(images::Command),
    /// List, show, add and change media jobs
    #[command(subcommand)]
    Jobs(jobs::Command),
    /// List, add and change what media jobs watch, and list the items that they found
    Media(media::Args),
    /// Print the manual page, or write one page for each command
    Man(man::Args),
    /// Bring the database schema up to date
    #[command(subcommand)]
    Migrate(migrate::Command),
    /// List notifications of ended jobs, send them again, or test an endpoint
    #[command(subcommand)]
    Notifications(notifications::Command),
    /// Print the API description (OpenAPI 3.1)
    Openapi(openapi::Args),
    /// Pause everything, or one family, role, pod, worker, host or store; list what is paused
    Pause(pause::Args),
    /// List, show, compare or replay payloads (stored menus as the platform sent them)
    #[command(subcommand)]
    Payload(payload::Command),
    /// List the menu platforms with their keys and hashes; add a hash
    Platforms(platforms::Args),
    /// Compare prices with those of another day, and by unit
    #[command(subcommand)]
    Prices(prices::Command),
    /// Find products, show one, follow its price, or export all of them
    #[command(subcommand)]
    Products(products::Command),
    /// Import, list, export, test or switch proxies
    #[command(subcommand)]
    Proxies(proxies::Command),
    /// Restore the database and its files from a backup
    Restore(restore::Args),
    /// Resume what was paused: everything, or one family, role, pod, worker, host or store
    Resume(pause::ResumeArgs),
    /// Delete crawled data that is older than your retention settings
    #[command(subcommand)]
    Retention(retention::Command),
    /// Run only the schedules, which create tasks periodically
    Scheduler(scheduler::Args),
    /// List, add or change schedules, or run one now
    #[command(subcommand)]
    Schedules(schedules::Command),
    /// Chart tasks, waits, runs, products, requests, blocks, unanswered or bytes over time
    Stats(stats::Args),
    /// Add, import, list, group, enable or disable stores
    #[command(subcommand)]
    Stores(stores::Command),
    /// List, show, follow and change tasks, or create tasks for many stores
    #[command(subcommand)]
    Tasks(tasks::Command),
    /// Create, list and revoke API tokens
    #[command(subcommand)]
    Token(token::Command),
    /// Run everything in one process: API, schedules and pods of workers
    Up(up::Args),
    /// Print the version
    Version(version::Args),
    /// Run one pod (a named group) of workers, without API and schedules
    Worker(worker::Args),
    /// List the workers of all processes; pause, resume or decommission one
    #[command(subcommand)]
    Workers(workers::Command),
}

impl Command {
    async fn run(self, env: &Env) -> anyhow::Result<ExitCode> {
        match self {
            Command::Api(args) => api::run(args, env).await,
            Command::Audit(args) => audit::run(args, env).await,
            Command::Backup(args) => backup::run(args, env).await,
            Command::Capacity(args) => capacity::run(args, env).await,
            Command::Completions(args) => completions::run(args, env),
            Command::Config(action) => config::run(action, env).await,
            Command::Db(command) => db::run(command, env).await,
            #[cfg(feature = "demo")]
            Command::Demo(args) => demo::run(args, env).await,
            Command::Doctor(args) => doctor::run(args, env).await,
            Command::Enqueue(args) => enqueue::run(args, env).await,
            Command::Export(args) => export::run(args, env).await,
            Command::Geo(command) => geo::run(command, env).await,
            Command::Groups(command) => groups::run(command, env).await,
            Command::Retailers(command) => retailers::run(command, env).await,
            Command::Healthcheck(args) => healthcheck::run(args, env).await,
            Command::Changes(command) => changes::run(command, env).await,
            Command::Quality(command) => quality::run(command, env).await,
            Command::Hosts(args) => hosts::run(args, env).await,
            Command::Images(command) => images::run(command, env).await,
            Command::Jobs(command) => jobs::run(command, env).await,
            Command::Media(args) => media::run(args, env).await,
            Command::Man(args) => man::run(args),
            Command::Migrate(command) => migrate::run(command, env).await,
            Command::Notifications(command) => notifications::run(command, env).await,
            Command::Openapi(args) => openapi::run(args, env),
            Command::Pause(args) => pause::run(args, env).await,
            Command::Payload(command) => payload::run(command, env).await,
            Command::Platforms(args) => platforms::run(args, env).await,
            Command::Prices(command) => prices::run(command, env).await,
            Command::Products(command) => products::run(command, env).await,
            Command::Proxies(command) => proxies::run(command, env).await,
            Command::Restore(args) => restore::run(args, env).await,
            Command::Resume(args) => pause::resume(args, env).await,
            Command::Retention(command) => retention::run(command, env).await,
            Command::Scheduler(args) => scheduler::run(args, env).await,
            Command::Schedules(command) => schedules::run(command, env).await,
            Command::Stats(args) => stats::run(args, env).await,
            Command::Stores(command) => stores::run(command, env).await,
            Command::Tasks(command) => tasks::run(command, env).await,
            Command::Token(command) => token::run(command, env).await,
            Command::Up(args) => up::run(args, env).await,
            Command::Version(args) => version::run(args, env).await,
            Command::Worker(args) => worker::run(args, env).await,
            Command::Workers(command) => workers::run(command, env).await,
        }
    }

    /// Programs read the log of a service; people read the few lines of other commands, wherever they go.
    fn log_format(&self) -> &'static str {
        if self.is_service() { "auto" } else { "pretty" }
    }

    /// Log settings: beside a progress bar only errors, and beside a status line no line for each task, unless the level is set.
    fn log(&self, loaded: &LoadedConfig) -> Log {
        let mut log = loaded.config.log.clone();
        if !self.is_service() {
            log.format = self.log_format().to_owned();
        }
        if !std::io::stderr().is_terminal() || loaded.is_changed("log.level") {
            return log;
        }
        match self.quiet_level() {
            Some(level) if log.format != "json" => Log { level: level.to_owned(), ..log },
            _ => log,
        }
    }

    /// The level on a terminal, where something else shows the progress.
    fn quiet_level(&self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "demo")]
            Command::Demo(args) if !args.verbose => Some("error"),
            Command::Images(_) => Some("error"),
            Command::Up(up::Args { verbose: false }) | Command::Worker(worker::Args { verbose: false, .. }) => {
                Some(WITHOUT_RUNS)
            }
            _ => None,
        }
    }

    /// Whether it is a demo, which shows a progress bar.
    fn is_demo(&self) -> bool {
        match self {
            #[cfg(feature = "demo")]
            Command::Demo(_) => true,
            _ => false,
        }
    }

    /// Whether it works with the settings of the service in the directory that `--dir` names. A service starts with those of its
    /// own files, and `config` compares and checks files.
    fn follows_the_service(&self) -> bool {
        !self.is_service() && !self.is_demo() && !matches!(self, Command::Config(_))
    }

    fn is_of_this_machine(&self) -> bool {
        self.is_demo()
            || self.is_service()
            || matches!(self, Command::Images(_) | Command::Db(_) | Command::Doctor(_) | Command::Migrate(_))
    }

    /// Whether it runs until a signal ends it, which is then a successful end.
    fn is_service(&self) -> bool {
        matches!(self, Command::Api(_) | Command::Scheduler(_) | Command::Up(_) | Command::Worker(_))
    }
}

/// The levels without a line for each task.
const WITHOUT_RUNS: &str = "info,drover::events::runs=warn";

/// Runs the whole program.
pub fn main() -> std::process::ExitCode {
    process::prepare();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(error),
    };
    let log_format = cli.command.log_format();
    let code = exit::code(start(cli), log_format);
    log::flush();
    code
}

/// All commands with their flags and texts.
fn command() -> clap::Command {
    Cli::command()
}

/// Settings given as flags; they override files and variables.
fn flags(cli: &Cli) -> Vec<Flag> {
    let of_command = match &cli.command {
        Command::Worker(args) => args.flags(),
        _ => Vec::new(),
    };
    let dir = cli.dir.as_deref().map(Path::to_string_lossy);
    let dir = dir.map(|dir| [("database.dir", dir.into_owned()), ("database.url", String::new())]);
    let dir = dir.into_iter().flatten().map(|(key, value)| Flag { name: "--dir", key, value });
    let url = cli.url.clone().map(|value| Flag { name: "--url", key: "client.url", value });
    of_command.into_iter().chain(dir).chain(url).collect()
}

fn start(mut cli: Cli) -> anyhow::Result<ExitCode> {
    if let Command::Db(command) = &mut cli.command
        && let Some(dir) = command.take_dir()?
    {
        cli.dir = Some(dir);
    }
    let stop = Stop::on_signals()?;
    let out = Output::new(cli.json);
    if cli.url.is_some() && cli.command.is_of_this_machine() {
        return Err(CliError::usage("--url: this command works only on this machine, without a server").into());
    }
    let flags = flags(&cli);
    let kept_in = cli.dir.clone().filter(|_| cli.command.follows_the_service());
    let sources = Sources { kept_in, ..Sources::of_process(cli.config, flags) };
    if let Command::Config(action) = &cli.command
        && let Some(result) = config::check(action, &sources, &out)
    {
        return result;
    }
    let loaded = Config::load(&sources)?;
    log::start(&cli.command.log(&loaded));
    let runtime = Arc::new(tokio::runtime::Builder::new_multi_thread().enable_all().build()?);
    let env = Env::new(loaded, sources, out, runtime.clone(), stop, cli.dir);
    let result = runtime.block_on(run(cli.command, &env));
    // dropping a runtime waits for its blocking calls, and one of them may hang
    std::mem::forget((env, runtime));
    result
}

async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    let is_service = command.is_service();
    tokio::select! {
        result = command.run(env) => result,
        () = env.stop.ends_command() => Ok(if is_service { env.stop.exit_code() } else { ExitCode::Interrupted }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser would confuse the two.
    #[test]
    fn no_command_has_an_argument_with_the_name_of_one_that_all_share() {
        let shared: Vec<String> =
            command().get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.get_id().to_string()).collect();
        let mut left: Vec<clap::Command> = command().get_subcommands().cloned().collect();
        assert!(shared.contains(&"url".to_owned()));
        while let Some(command) = left.pop() {
            for arg in command.get_arguments() {
                assert!(!shared.contains(&arg.get_id().to_string()), "{}: {}", command.get_name(), arg.get_id());
            }
            left.extend(command.get_subcommands().cloned());
        }
    }

    /// `command` and its subcommands, each with its `--help` text, without the options that all share.
    fn help_of(command: &mut clap::Command, path: &str, into: &mut String) {
        let help = command.render_help().to_string();
        let own = help.split("\nGlobal options:").next().unwrap_or_default();
        into.push_str(&format!("## {path}\n\n{}\n\n", own.trim_end()));
        for below in command.get_subcommands_mut() {
            help_of(below, &format!("{path} {}", below.get_name().to_owned()), into);
        }
    }

    #[test]
    fn the_sample_list_of_proxies_can_be_imported() {
        let list = proxies::list::parse("proxies.csv", include_str!("../../config/examples/proxies.csv")).unwrap();
        assert!(list.entries.len() > 1 && list.duplicates.is_empty(), "{list:?}");
    }

    #[test]
    fn clap_accepts_the_definitions_of_all_commands() {
        command().debug_assert();
    }

    #[test]
    #[cfg(feature = "demo")]
    fn what_commands_say_of_themselves_is_as_written_down() {
        let mut all = command().term_width(100);
        all.build();
        let mut help = String::new();
        help_of(&mut all, "drover", &mut help);
        let written = include_str!("../../docs/commands.txt");
        if help != written {
            let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
            std::fs::create_dir_all(&dir).unwrap();
            let now = dir.join("commands.txt");
            std::fs::write(&now, &help).unwrap();
            panic!("read it, and if it is meant: cp {} docs/commands.txt", now.display());
        }
    }
}
