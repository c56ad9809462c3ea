//! `drover changes`: changes of prices, specials, stock and products between the crawls of a store.

mod filter;
mod rules;
mod tail;

use clap::Subcommand;

use super::{Env, ExitCode};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print changes as they are found, one a line, until Ctrl-C
    Tail(tail::Args),
    /// Send changes to an endpoint: a webhook, a mail address or a topic of ntfy
    #[command(subcommand)]
    Rules(rules::Command),
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Tail(args) => tail::run(args, env).await,
        Command::Rules(command) => rules::run(command, env).await,
    }
}
