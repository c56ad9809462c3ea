//! `drover tasks`: lists the queue, shows one task with its runs, follows runs as they begin and end, and
//! changes tasks.

mod bulk;
mod change;
mod filter;
mod generate;
mod list;
mod show;
mod tail;

use clap::Subcommand;

use super::each::Ids;
use super::{Env, ExitCode, values};
use domain::task::TaskId;

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
    /// Put failed or cancelled tasks back to pending, with all of their retries
    Retry(Ids),
    /// Cancel tasks that have not ended; a running one stops at its worker's next heartbeat
    Cancel(Ids),
    /// Change the priority or time of pending tasks
    Set(change::Set),
    /// Remove tasks that no worker has, with their runs
    Delete(Ids),
    /// Retry, cancel, delete or reprioritize all tasks that match: tasks bulk retry --status failed --error 503
    Bulk(bulk::Args),
    /// Make the tasks of many stores: a day's crawls, a state's stores, a platform's discovery
    Generate(generate::Args),
    /// Put tasks back whose lease has run out, or that gave no sign for some minutes
    Recover(generate::Recover),
    /// Print runs as they begin and end, until Ctrl-C
    Tail,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::List(args) => list::run(args, env).await,
        Command::Show { id } => show::run(id, env).await,
        Command::Retry(ids) => change::retry(ids, env).await,
        Command::Cancel(ids) => change::cancel(ids, env).await,
        Command::Set(args) => change::set(args, env).await,
        Command::Delete(ids) => change::delete(ids, env).await,
        Command::Bulk(args) => bulk::run(args, env).await,
        Command::Generate(args) => generate::run(args, env).await,
        Command::Recover(args) => generate::recover(args, env).await,
        Command::Tail => tail::run(env).await,
    }
}
