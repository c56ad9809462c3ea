//! `drover platforms`: drover's data about a menu platform: the hashes of its persisted queries.

mod hashes;

use clap::Subcommand;

use super::{Env, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List or add the hashes of persisted queries
    Hashes(hashes::Args),
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Hashes(args) => hashes::run(args, env).await,
    }
}
