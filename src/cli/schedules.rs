//! `drover schedules`: lists the schedules, which create tasks periodically, adds and changes them, and runs
//! one now.

mod edit;

use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Subcommand;

use super::{ApiClient, CliError, Env, ExitCode, time};
use contract::schedules::{Run, Schedule, ScheduleList};
use domain::amounts::counted;
use domain::schedule;

const DEFAULTS: &str = "the first `drover up`, `api` or `scheduler` creates the default schedules";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the schedules with their last and next run
    List,
    /// Show a schedule with its next runs
    Show {
        /// Name or id of the schedule, as shown by `schedules list`
        name: String,
    },
    /// Add a schedule. Example: schedules add rivals --group rivals --every 1h
    Add(edit::Add),
    /// Change a schedule
    #[command(alias = "edit")]
    Set(edit::Set),
    /// Switch a schedule on
    Enable {
        /// Name or id of the schedule, as shown by `schedules list`
        name: String,
    },
    /// Switch a schedule off
    Disable {
        /// Name or id of the schedule, as shown by `schedules list`
        name: String,
    },
    /// Remove a schedule and keep its tasks. Default schedules come back at the next start: disable them instead
    Remove {
        /// Name or id of the schedule, as shown by `schedules list`
        name: String,
    },
    /// Run a schedule now. A second run within 10 seconds creates no tasks
    Trigger {
        /// Name or id of the schedule, as shown by `schedules list`
        name: String,
    },
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List => list(env).await,
        Command::Show { name } => show(&name, env).await,
        Command::Add(args) => edit::add(args, env).await,
        Command::Set(args) => edit::set(args, env).await,
        Command::Enable { name } => edit::switch(&name, true, env).await,
        Command::Disable { name } => edit::switch(&name, false, env).await,
        Command::Remove { name } => edit::remove(&name, env).await,
        Command::Trigger { name } => trigger(&name, env).await,
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let list: ScheduleList = env.api_to_read().await?.get("/api/schedules").await?;
    let headers =
        ["name", "role", "runs", "state", "group", "recurrence", "prio", "last run", "tasks", "next run", "note"];
    env.out.list(&list, &list.schedules, &headers, cells)?;
    env.out.note_of_none(&list.schedules, format_args!("no schedules yet: {DEFAULTS}"));
    Ok(ExitCode::Ok)
}

async fn show(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let schedule = find(&api, name).await?;
    env.out.either(&schedule, with_times)?;
    Ok(ExitCode::Ok)
}

async fn trigger(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let path = format!("/api/schedules/{}/trigger", find(&api, name).await?.id);
    let run: Run = api.post(&path, &serde_json::json!({})).await?;
    env.out.either(&run, text)?;
    Ok(ExitCode::Ok)
}

/// The schedule with this name, else with this id.
pub async fn find(api: &ApiClient, name: &str) -> anyhow::Result<Schedule> {
    let list: ScheduleList = api.get("/api/schedules").await?;
    let has_name = |schedule: &&Schedule| schedule.name == name;
    let has_id = |schedule: &&Schedule| schedule.id.to_string() == name;
    let found = list.schedules.iter().find(has_name).or_else(|| list.schedules.iter().find(has_id)).cloned();
    let missing = || {
        CliError::not_found({
            format!("schedule '{name}' does not exist: `drover schedules list` shows the schedules; {DEFAULTS}")
        })
    };
    Ok(found.ok_or_else(missing)?)
}

fn text(run: &Run) -> String {
    let has_run = if run.already_made { " ran less than 10 seconds ago" } else { "" };
    let why = run.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
    format!("{}{has_run}: {}{why}", run.schedule, counted(run.tasks, "task"))
}

/// `rivals: payload_fetch of the group rivals every 30m, on, next run 2026-11-26 07:30:00`
fn summary(schedule: &Schedule) -> String {
    let stores = match (&schedule.group_name, &schedule.state_code) {
        (Some(group), _) => format!(" of the group {group}"),
        (None, Some(state)) => format!(" of the state {state}"),
        (None, None) => String::new(),
    };
    let next = match schedule.next_run_at.filter(|_| schedule.enabled) {
        Some(next) => format!("on, next run {}", time(next)),
        None => "off".to_owned(),
    };
    format!("{}: {}{stores} {}, {next}", schedule.name, schedule.role, recurrence(schedule))
}

/// The summary, and the next runs in UTC and, where the schedule has a time zone, on its clock.
fn with_times(schedule: &Schedule) -> String {
    let zone = schedule.time_zone.as_deref();
    let local = |at: &DateTime<Utc>| zone.and_then(|zone| schedule::time_zone::local_time(*at, zone));
    let line = |at: &DateTime<Utc>| match local(at) {
        Some(local) => format!("\n  {} = {local}", time(*at)),
        None => format!("\n  {}", time(*at)),
    };
    let times: String = schedule.upcoming.iter().map(line).collect();
    let head = if times.is_empty() { "" } else { "\nnext runs:" };
    format!("{}{head}{times}", summary(schedule))
}

/// `every 30m`, or the cron expression with its time zone.
fn recurrence(schedule: &Schedule) -> String {
    let every = |hours: f64| {
        let interval = Duration::try_from_secs_f64((hours * 3600.0).round()).unwrap_or_default();
        format!("every {}", humantime::format_duration(interval))
    };
    let cron = schedule.cron.as_ref().map(|line| match &schedule.time_zone {
        Some(zone) => format!("{line} ({zone})"),
        None => line.clone(),
    });
    cron.or(schedule.interval_hours.map(every)).unwrap_or_default()
}

fn cells(schedule: &Schedule) -> Vec<String> {
    vec![
        schedule.name.clone(),
        schedule.role.to_string(),
        if schedule.enabled { "on" } else { "off" }.to_owned(),
        schedule.state_code.as_deref().map(str::to_owned).unwrap_or_default(),
        schedule.group_name.clone().unwrap_or_default(),
        recurrence(schedule),
        schedule.priority.to_string(),
        schedule.last_run_at.map(time).unwrap_or_default(),
        schedule.last_task_count.map(|tasks| tasks.to_string()).unwrap_or_default(),
        schedule.next_run_at.filter(|_| schedule.enabled).map(time).unwrap_or_default(),
        schedule.last_error.as_ref().or(schedule.last_note.as_ref()).cloned().unwrap_or_default(),
    ]
}
