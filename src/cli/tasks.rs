//! `drover tasks`: lists the queue, shows one task with its runs, and follows runs as they begin and end.

mod list;
mod show;
mod tail;

use clap::Subcommand;

use super::{Env, ExitCode, values};
use crate::domain::task::TaskId;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List tasks, newest first, below a summary of the queue
    List(list::Args),
    /// Show a task with the timeline of its runs
    Show {
        /// Its id, as `tasks list` shows it
        #[arg(value_parser = values::whole_number)]
        id: TaskId,
    },
    /// Print runs as they begin and end, until Ctrl-C
    Tail,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::List(args) => list::run(args, env).await,
        Command::Show { id } => show::run(id, env).await,
        Command::Tail => tail::run(env).await,
    }
}
