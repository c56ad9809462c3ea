//! `drover schedules add | edit | remove`: schedules of the operator's own.

use std::time::Duration;

use serde::Serialize;

use super::REMEDY;
use crate::app::data::DataFiles;
use crate::cli::{CliError, Env, ExitCode, groups, values};
use crate::config::Config;
use crate::db::DbError;
use crate::db::schedules::{self, NewSchedule, Schedule, ScheduleChange};
use crate::domain::group;
use crate::domain::role::Role;
use crate::domain::schedule::{INTERVALS, Recurrence};
use crate::domain::store::Platform;
use crate::platforms::Registry;

const MAX_NAME: usize = 80;

/// When it runs.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct When {
    /// So often, such as 1h or 30m
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    every: Option<Duration>,
    /// At these times in UTC: six fields, seconds first, such as '0 30 6 * * *'
    #[arg(long, value_name = "LINE")]
    cron: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// A name of its own
    name: String,
    /// The kind of work
    #[arg(long, default_value = "payload_fetch")]
    role: Role,
    #[command(flatten)]
    when: When,
    /// Only the stores of this group; schedules of the role without a group then leave them out
    #[arg(long, value_parser = group::name)]
    group: Option<String>,
    /// Only the stores of this state
    #[arg(long, value_parser = state_code)]
    state: Option<String>,
    /// Only the stores of this platform; for store_discovery, the platform that is asked
    #[arg(long)]
    platform: Option<Platform>,
    /// Higher runs first, from -1000 to 1000 [default: the role's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(-1000..=1000_i32))]
    priority: Option<i32>,
}

#[derive(Debug, clap::Args)]
pub struct Edit {
    /// Its name, as `schedules list` shows it
    name: String,
    #[command(flatten)]
    when: When,
    /// Only the stores of this group
    #[arg(long, value_parser = group::name, conflicts_with = "no_group")]
    group: Option<String>,
    /// The stores of all groups
    #[arg(long)]
    no_group: bool,
    /// Higher runs first, from -1000 to 1000
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(-1000..=1000_i32))]
    priority: Option<i32>,
    /// Whether it runs
    #[arg(long, value_name = "true|false")]
    enabled: Option<bool>,
}

pub async fn add(args: Add, env: &Env) -> anyhow::Result<ExitCode> {
    let name = args.name.trim().to_owned();
    if name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control) {
        return Err(CliError::usage(format!("a schedule's name has 1 to {MAX_NAME} bytes in one line")).into());
    }
    let Some(recurrence) = args.when.recurrence() else {
        return Err(CliError::usage("say when it runs: --every 1h, or --cron '0 30 6 * * *'").into());
    };
    if args.group.is_some() && !args.role.per_store() {
        return Err(CliError::usage(format!("--group: {} tasks have no store", args.role)).into());
    }
    if args.role == Role::StoreDiscovery && args.platform.is_none() {
        return Err(CliError::usage("--platform: a store_discovery schedule needs a platform, such as dutchie").into());
    }
    if let (Role::StoreDiscovery, Some(platform)) = (args.role, args.platform) {
        require_list(platform, &env.config)?;
    }
    let new = NewSchedule {
        name: name.clone(),
        role: args.role,
        platform: args.platform,
        state_code: args.state,
        group_name: args.group,
        priority: args.priority.unwrap_or(args.role.default_priority()),
        recurrence,
    };
    let client = env.db().await?.client().await?;
    schedules::add(&client, &new).await.map_err(|error| match error {
        DbError::Conflict { .. } => CliError::conflict(format!("a schedule named '{name}' exists already")).into(),
        other => refused(other),
    })?;
    show(&name, env).await
}

fn require_list(platform: Platform, config: &Config) -> anyhow::Result<()> {
    let DataFiles { states, platforms, .. } = DataFiles::load(config)?;
    match Registry::new(config, platforms, &states)?.get(platform).adapter.lists_stores() {
        true => Ok(()),
        false => {
            let why = format!("--platform: {platform} lists no stores: import them with `drover stores import`");
            Err(CliError::usage(why).into())
        }
    }
}

pub async fn edit(args: Edit, env: &Env) -> anyhow::Result<ExitCode> {
    let change = ScheduleChange {
        recurrence: args.when.recurrence(),
        group_name: if args.no_group { Some(None) } else { args.group.map(Some) },
        priority: args.priority,
        enabled: args.enabled,
    };
    if change == ScheduleChange::default() {
        return Err(CliError::usage(
            "say what to change: --every, --cron, --group, --no-group, --priority or --enabled",
        )
        .into());
    }
    let client = env.db().await?.client().await?;
    schedules::edit(&client, &args.name, &change).await.map_err(refused)?;
    show(&args.name, env).await
}

pub async fn remove(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db().await?.client().await?;
    schedules::remove(&client, name).await.map_err(refused)?;
    env.out.either(&serde_json::json!({ "removed": name }), |_| format!("{name} is removed"))?;
    Ok(ExitCode::Ok)
}

async fn show(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db().await?.client().await?;
    let all = schedules::list(&client).await?;
    for schedule in all.iter().filter(|schedule| schedule.name == name) {
        let warning = match &schedule.group_name {
            Some(group) => groups::warn_if_empty(&client, group).await?,
            None => None,
        };
        env.out.either(&Shown { schedule, warning }, |shown| {
            super::cells(shown.schedule).join("  ").trim_end().to_owned()
        })?;
    }
    Ok(ExitCode::Ok)
}

#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    schedule: &'a Schedule,
    /// Its group holds no store.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

fn refused(error: DbError) -> anyhow::Error {
    match error {
        DbError::Missing(what) => CliError::not_found(format!("{what} does not exist; {REMEDY}")).into(),
        DbError::Other(fault) => CliError::usage(fault).into(),
        other => other.into(),
    }
}

impl When {
    fn recurrence(self) -> Option<Recurrence> {
        let hours = self.every.map(|every| Recurrence::EveryHours(every.as_secs_f64() / 3600.0));
        hours.or(self.cron.map(Recurrence::Cron))
    }
}

fn interval(text: &str) -> Result<Duration, String> {
    let every = humantime::parse_duration(text).map_err(|fault| format!("{fault}; expected one such as 1h or 30m"))?;
    let is_in_range = INTERVALS.contains(&(every.as_secs_f64() / 3600.0));
    if is_in_range { Ok(every) } else { Err("expected a duration from 4s to 366d".to_owned()) }
}

fn state_code(text: &str) -> Result<String, String> {
    let code = text.to_ascii_uppercase();
    let is_code = code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_uppercase());
    if is_code { Ok(code) } else { Err("expected two letters, such as AZ".to_owned()) }
}
