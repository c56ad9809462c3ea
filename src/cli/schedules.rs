//! `drover schedules`: lists the schedules, which make tasks periodically, adds and changes them, and runs one now.

mod edit;

use clap::Subcommand;

use super::output::{counted, time};
use super::{CliError, Env, ExitCode};
use crate::db::DbError;
use crate::db::schedules::{self, Run, Schedule};

const REMEDY: &str = "`drover schedules list` shows the schedules, of which the first start of `up`, `api` or `scheduler` makes the default ones";

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the schedules with their last and next run
    List,
    /// Add a schedule, such as: schedules add rivals --group rivals --every 1h
    Add(edit::Add),
    /// Change a schedule
    Edit(edit::Edit),
    /// Remove a schedule; its tasks stay. The default ones come back at the next start: `edit --enabled false` switches one off
    Remove {
        /// Its name, as `schedules list` shows it
        name: String,
    },
    /// Run a schedule now; a second time within 10 seconds makes no further tasks
    Trigger {
        /// Its name, as `schedules list` shows it
        name: String,
    },
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::List => list(env).await,
        Command::Add(args) => edit::add(args, env).await,
        Command::Edit(args) => edit::edit(args, env).await,
        Command::Remove { name } => edit::remove(&name, env).await,
        Command::Trigger { name } => trigger(&name, env).await,
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let found = schedules::list(&client).await?;
    let headers = ["name", "role", "state", "group", "recurrence", "prio", "last run", "tasks", "next run", "error"];
    env.out.rows(&found, &headers, cells)?;
    Ok(ExitCode::Ok)
}

async fn trigger(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let run = schedules::trigger(&env.db().await?, name).await.map_err(|error| match error {
        DbError::Missing(what) => CliError::not_found(format!("{what} does not exist; {REMEDY}")).into(),
        other => anyhow::Error::from(other),
    })?;
    env.out.either(&run, text)?;
    Ok(if run.fault.is_some() { ExitCode::Failure } else { ExitCode::Ok })
}

fn text(run: &Run) -> String {
    match &run.fault {
        Some(fault) => format!("{} cannot be run: {fault}", run.schedule),
        None if run.already_made => format!("{} has just run: {}", run.schedule, counted(run.tasks, "task")),
        None => format!("{}: {}", run.schedule, counted(run.tasks, "task")),
    }
}

fn cells(schedule: &Schedule) -> Vec<String> {
    let hours = schedule.interval_hours.map(|hours| format!("every {hours} h"));
    vec![
        schedule.name.clone(),
        schedule.role.to_string(),
        if schedule.enabled { "on" } else { "off" }.to_owned(),
        schedule.group_name.clone().unwrap_or_default(),
        schedule.cron.clone().or(hours).unwrap_or_default(),
        schedule.priority.to_string(),
        schedule.last_run_at.map(time).unwrap_or_default(),
        schedule.last_task_count.map(|tasks| tasks.to_string()).unwrap_or_default(),
        schedule.next_run_at.map(time).unwrap_or_default(),
        schedule.last_error.clone().unwrap_or_default(),
    ]
}
