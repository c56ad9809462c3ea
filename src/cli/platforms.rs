//! `drover platforms`: the menu platforms with their keys and hashes, which they change without notice.

mod check;
mod hashes;
mod list;

use clap::Subcommand;

use super::{Env, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the platforms with the state of their keys and hashes (the default)
    ///
    /// KEY: where it comes from, and how it fared; its value is never shown. HASHES: by operation, with their last success and last
    /// refusal. NEXT READ: from then on a page of a menu may be read for the key.
    List,
    /// Ask a platform for one page of a menu as a browser and under drover's own name, through up to two groups of proxies; exit
    /// code 1 when no setting works
    ///
    /// A group is the proxies at one host. Each request takes a proxy that no crawl has used for a minute, and changes no health. It
    /// works for a platform that is switched off, too.
    Check(check::Args),
    /// List or add the hashes of persisted queries
    #[command(subcommand)]
    Hashes(hashes::Command),
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        None | Some(Command::List) => list::run(env).await,
        Some(Command::Check(args)) => check::run(args, env).await,
        Some(Command::Hashes(command)) => hashes::run(command, env).await,
    }
}
