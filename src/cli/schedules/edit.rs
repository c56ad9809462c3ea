//! `drover schedules add | set | enable | disable | remove`: changes the operator's own schedules.

use std::time::Duration;

use serde::Serialize;

use crate::app::data::DataFiles;
use crate::cli::{CliError, Env, ExitCode, groups, values};
use contract::schedules::{SavedSchedule, ScheduleRequest, ScheduleUpdate};
use domain::schedule::INTERVALS;
use domain::store;
use domain::store::Platform;
use domain::store::state_code::StateCode;
use domain::task::role::Role;
use settings::Config;

/// Interval or times of a schedule.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct RecurrenceArgs {
    /// Run at this interval, such as 1h or 30m
    #[arg(long, value_name = "DURATION", value_parser = interval)]
    every: Option<Duration>,
    /// Run at these times, in the syntax of crontab(5): five fields, or six with seconds first, such as '30 6 * * 1-5'
    #[arg(long, value_name = "LINE")]
    cron: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// Unique name of the schedule
    name: String,
    /// Role of its tasks
    #[arg(long, default_value = "payload_fetch")]
    role: Role,
    #[command(flatten)]
    when: RecurrenceArgs,
    /// Time zone of --cron, such as America/Phoenix [default: UTC]
    #[arg(long = "tz", value_name = "ZONE", conflicts_with = "every")]
    time_zone: Option<String>,
    /// Only stores of this group; schedules of the same role without a group then leave these stores out
    #[arg(long, value_parser = store::group::name)]
    group: Option<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<StateCode>,
    /// Only stores of this platform; for store_discovery, search this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Priority from -1000 to 1000; higher runs first [default: the role's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(-1000..=1000_i64))]
    priority: Option<i64>,
}

#[derive(Debug, clap::Args)]
pub struct Set {
    /// Name of the schedule, as shown by `schedules list`
    name: String,
    /// New name
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    #[command(flatten)]
    when: RecurrenceArgs,
    /// Time zone of the cron line, such as America/Phoenix
    #[arg(long = "tz", value_name = "ZONE", conflicts_with_all = ["every", "no_tz"])]
    time_zone: Option<String>,
    /// Read the cron line in UTC
    #[arg(long, conflicts_with = "every")]
    no_tz: bool,
    /// Only stores of this group
    #[arg(long, value_parser = store::group::name, conflicts_with = "no_group")]
    group: Option<String>,
    /// Include stores of all groups
    #[arg(long)]
    no_group: bool,
    /// Only stores in this state, such as AZ
    #[arg(long, conflicts_with = "no_state")]
    state: Option<StateCode>,
    /// Include stores in all states
    #[arg(long)]
    no_state: bool,
    /// Priority from -1000 to 1000; higher runs first
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(-1000..=1000_i64))]
    priority: Option<i64>,
    /// Enable or disable the schedule
    #[arg(long, value_name = "true|false")]
    enabled: Option<bool>,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 5] = [
    ("name", "NAME"),
    ("interval_hours", "--every"),
    ("group_name", "--group"),
    ("time_zone", "--tz"),
    ("state_code", "--state"),
];

pub async fn add(args: Add, env: &Env) -> anyhow::Result<ExitCode> {
    let (interval_hours, cron) = args.when.fields();
    if interval_hours.is_none() && cron.is_none() {
        return Err(CliError::usage("give an interval or times: --every 1h, or --cron '30 6 * * *'").into());
    }
    if let (Role::StoreDiscovery, Some(platform)) = (args.role, args.platform) {
        require_list(platform, &env.config)?;
    }
    let request = ScheduleRequest {
        name: args.name,
        role: args.role.to_string(),
        platform: args.platform.map(|platform| platform.to_string()),
        state_code: args.state,
        group_name: args.group,
        interval_hours,
        cron,
        time_zone: args.time_zone,
        priority: args.priority,
        ..ScheduleRequest::default()
    };
    show(env.api().await?.naming(&FLAGS).post("/api/schedules", &request).await?, env).await
}

fn require_list(platform: Platform, config: &Config) -> anyhow::Result<()> {
    match DataFiles::load(config)?.platforms.get(platform).adapter.lists_stores() {
        true => Ok(()),
        false => {
            let why = format!("--platform: {platform} lists no stores; import them with `drover stores import`");
            Err(CliError::usage(why).into())
        }
    }
}

pub async fn set(args: Set, env: &Env) -> anyhow::Result<ExitCode> {
    let (interval_hours, cron) = args.when.fields();
    let update = ScheduleUpdate {
        name: args.rename,
        interval_hours,
        cron,
        time_zone: if args.no_tz { Some(None) } else { args.time_zone.map(Some) },
        group_name: if args.no_group { Some(None) } else { args.group.map(Some) },
        state_code: if args.no_state { Some(None) } else { args.state.map(Some) },
        priority: args.priority,
        enabled: args.enabled,
        ..ScheduleUpdate::default()
    };
    if update == ScheduleUpdate::default() {
        return Err(CliError::usage(
            "give at least one change: --every, --cron, --tz, --no-tz, --group, --no-group, --state, --no-state, --priority, --enabled or --rename",
        )
        .into());
    }
    change(&args.name, &update, env).await
}

/// Switches a schedule on or off.
pub async fn switch(name: &str, enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    change(name, &ScheduleUpdate { enabled: Some(enabled), ..ScheduleUpdate::default() }, env).await
}

async fn change(name: &str, update: &ScheduleUpdate, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let path = format!("/api/schedules/{}", super::find(&api, name).await?.id);
    let changed: Result<SavedSchedule, _> = api.put(&path, update).await;
    show(changed.map_err(|error| error.naming_flags(&FLAGS))?, env).await
}

pub async fn remove(name: &str, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    api.delete(&format!("/api/schedules/{}", super::find(&api, name).await?.id)).await?;
    env.out.either(&serde_json::json!({ "removed": name }), |_| format!("{name} is removed"))?;
    Ok(ExitCode::Ok)
}

async fn show(saved: SavedSchedule, env: &Env) -> anyhow::Result<ExitCode> {
    let warning = match &saved.schedule.group_name {
        Some(group) => groups::warn_if_empty(&env.api().await?, group).await?,
        _ => None,
    };
    env.out.either(&ShownSchedule { saved: &saved, warning }, |_| super::with_times(&saved.schedule))?;
    if let Some(notice) = &saved.notice {
        env.out.note(notice);
    }
    Ok(ExitCode::Ok)
}

#[derive(Serialize)]
struct ShownSchedule<'a> {
    #[serde(flatten)]
    saved: &'a SavedSchedule,
    /// Its group holds no store.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl RecurrenceArgs {
    /// The fields `interval_hours` and `cron`.
    fn fields(self) -> (Option<f64>, Option<String>) {
        (self.every.map(|every| every.as_secs_f64() / 3600.0), self.cron)
    }
}

fn interval(text: &str) -> Result<Duration, String> {
    let every =
        humantime::parse_duration(text).map_err(|fault| format!("{fault}; expected a duration such as 1h or 30m"))?;
    let is_in_range = INTERVALS.contains(&(every.as_secs_f64() / 3600.0));
    if is_in_range { Ok(every) } else { Err("expected a duration from 4s to 366d".to_owned()) }
}
