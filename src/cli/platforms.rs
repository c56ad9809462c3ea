//! `drover platforms`: drover's data about a menu platform: the hashes of its persisted queries.

mod hashes;

use clap::Subcommand;

use super::{Env, ExitCode};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List or add the hashes of persisted queries
    #[command(subcommand)]
    Hashes(hashes::Command),
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Hashes(command) => hashes::run(command, env).await,
    }
}
