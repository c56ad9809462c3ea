//! `drover prices`: prices now against those of another time, and by unit between categories, brands, states and weeks.

mod by_unit;
mod changes;

use clap::Subcommand;

use super::{Env, ExitCode};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare prices now with those of another time, largest difference first
    Changes(changes::Args),
    /// Compare prices by gram, millilitre or milligram of THC of what is in stock
    ByUnit(by_unit::Args),
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Changes(args) => changes::run(args, env).await,
        Command::ByUnit(args) => by_unit::run(args, env).await,
    }
}
