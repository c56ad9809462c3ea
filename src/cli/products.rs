//! `drover products`: finds products in all stores, shows one with its options, and its prices over time;
//! writes all products to a file.

mod export;
mod history;
mod search;
mod show;

use clap::Subcommand;

use super::{Env, ExitCode, values};
use domain::menu::product::ProductId;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find products of all stores by words of their names and brands, or by filters
    Search(search::Args),
    /// Show a product with its options
    Show {
        /// Product id, as shown by `products search`
        #[arg(allow_negative_numbers = true, value_parser = values::id)]
        id: ProductId,
    },
    /// Show the price and stock history of a product or one of its options, oldest first
    History(history::Args),
    /// Write all products of one store or of all stores, with their prices in cents, as CSV or JSON
    Export(export::Args),
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Search(args) => search::run(args, env).await,
        Command::Show { id } => show::run(id, env).await,
        Command::History(args) => history::run(args, env).await,
        Command::Export(args) => export::run(args, env).await,
    }
}
