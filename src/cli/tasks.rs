//! `drover tasks`: lists the queue, shows one task with its runs, follows runs as they begin and end, and
//! changes tasks.

mod bulk;
mod change;
mod filter;
mod generate;
mod list;
mod show;
mod stopped;
mod tail;

use clap::Subcommand;

use super::{Env, ExitCode, Ids, values};
use domain::task::TaskId;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List tasks, newest first, below a summary of the whole queue
    List(list::Args),
    /// Show a task with all of its runs
    Show {
        /// Task id, as shown by `tasks list`
        #[arg(allow_negative_numbers = true, value_parser = values::id)]
        id: TaskId,
    },
    /// Retry failed or cancelled tasks, by id. `tasks bulk retry` takes filters such as --status
    Retry(Ids),
    /// Cancel tasks that have not ended, by id. `tasks bulk cancel` takes filters such as --status
    Cancel(Ids),
    /// Change the priority or start time of pending tasks
    Set(change::Set),
    /// Delete tasks that no worker holds, by id. `tasks bulk delete` takes filters such as --status
    Delete(Ids),
    /// Retry, cancel, delete or reprioritize all tasks that match. Example: tasks bulk retry --status failed --error 503
    Bulk(bulk::Args),
    /// Create tasks for many stores: a day of crawls, all stores of a state, or a search for new stores
    #[command(subcommand)]
    Generate(generate::GenerateCommand),
    /// Put tasks of dead workers back into the queue
    Recover(generate::Recover),
    /// Print runs as they start and end, until Ctrl-C
    Tail,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list::run(args, env).await,
        Command::Show { id } => show::run(id, env).await,
        Command::Retry(ids) => change::retry(ids, env).await,
        Command::Cancel(ids) => change::cancel(ids, env).await,
        Command::Set(args) => change::set(args, env).await,
        Command::Delete(ids) => change::delete(ids, env).await,
        Command::Bulk(args) => bulk::run(args, env).await,
        Command::Generate(command) => generate::run(command, env).await,
        Command::Recover(args) => generate::recover(args, env).await,
        Command::Tail => tail::run(env).await,
    }
}
