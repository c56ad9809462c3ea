//! `cargo xtask`: chores that need more than a shell script.

mod screenshots;

use clap::Parser;

/// Chores of the repository
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Take pictures of every page of the dashboard into docs/images
    Screenshots(screenshots::Args),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    match Chore::parse() {
        Chore::Screenshots(args) => screenshots::run(args).await,
    }
}
