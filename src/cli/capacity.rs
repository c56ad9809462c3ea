//! `drover capacity`: shows waiting and running tasks of each role, and the slots that they need; and whether
//! slots, politeness and proxies suffice for the schedules, or for other stores at another interval.

use std::time::Duration;

use super::{ApiClient, Env, ExitCode, path_segment, values, with_query};
use contract::tasks::RoleCapacity;
use domain::amounts::counted;
use domain::schedule::forecast::{Forecast, RoleForecast, SLOTS, STORES};
use domain::worker::capacity::Capacity;
use settings::durations;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show how many busy slots clear the backlog of this role in 1, 4 and 8 hours
    #[arg(conflicts_with_all = ["stores", "every", "slots"])]
    role: Option<String>,
    /// Forecast what this number of stores needs [default: the stores of the schedules]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(STORES))]
    stores: Option<i64>,
    /// Forecast what a crawl of each store at this interval needs, such as 4h [default: the schedules]
    #[arg(long, value_name = "DURATION", value_parser = durations::parse)]
    every: Option<Duration>,
    /// Forecast what this number of slots can do [default: the slots of the live workers]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(SLOTS))]
    slots: Option<i64>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[("role", "ROLE")]);
    match &args.role {
        Some(role) => show_role(&api, role, env).await?,
        None if args.is_what_if() => show_forecast(&forecast(&api, &args).await?, env)?,
        None => show_backlog(&api, &args, env).await?,
    }
    Ok(ExitCode::Ok)
}

async fn show_role(api: &ApiClient, role: &str, env: &Env) -> anyhow::Result<()> {
    let capacity: RoleCapacity = api.get(&format!("/api/tasks/capacity/{}", path_segment(role))).await?;
    Ok(env.out.either(&capacity, text)?)
}

/// The backlog by role, below the forecast of the present schedules.
async fn show_backlog(api: &ApiClient, args: &Args, env: &Env) -> anyhow::Result<()> {
    let rows: Vec<Capacity> = api.get("/api/tasks/capacity").await?;
    if !env.out.is_json() {
        env.out.line(forecast(api, args).await?.summary)?;
    }
    let headers =
        ["role", "pending", "ready", "active", "done/h", "failed/h", "workers", "seconds", "measured", "hours left"];
    Ok(env.out.listed("capacity", &rows, &headers, cells)?)
}

async fn forecast(api: &ApiClient, args: &Args) -> anyhow::Result<Forecast> {
    let query = [
        ("stores", args.stores.map(|stores| stores.to_string())),
        ("every", args.every.map(|every| humantime::format_duration(every).to_string())),
        ("slots", args.slots.map(|slots| slots.to_string())),
    ];
    Ok(api.get(&with_query("/api/tasks/capacity/forecast", query)).await?)
}

fn show_forecast(forecast: &Forecast, env: &Env) -> std::io::Result<()> {
    if !env.out.is_json() {
        env.out.line(&forecast.summary)?;
    }
    let headers =
        ["role", "runs/h", "seconds a run", "measured", "requests a run", "busy slots", "slots", "requests/s"];
    env.out.list(forecast, &forecast.roles, &headers, forecast_cells)
}

fn forecast_cells(role: &RoleForecast) -> Vec<String> {
    vec![
        role.role.to_string(),
        format!("{:.1}", role.runs_per_hour),
        tenths(role.seconds_per_run),
        counted(role.measured_runs, "run"),
        tenths(role.requests_per_run),
        tenths(role.busy_slots),
        role.slots.to_string(),
        tenths(role.requests_per_second),
    ]
}

impl Args {
    fn is_what_if(&self) -> bool {
        self.stores.is_some() || self.every.is_some() || self.slots.is_some()
    }
}

fn cells(row: &Capacity) -> Vec<String> {
    vec![
        row.role.clone(),
        row.pending_tasks.to_string(),
        row.ready_tasks.to_string(),
        (row.claimed_tasks + row.running_tasks).to_string(),
        row.completed_last_hour.to_string(),
        row.failed_last_hour.to_string(),
        row.active_workers.to_string(),
        tenths(row.avg_duration_sec),
        counted(row.measured_runs, "run"),
        tenths(row.estimated_hours_to_drain),
    ]
}

fn tenths(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.1}"))
}

fn text(role: &RoleCapacity) -> String {
    let RoleCapacity { capacity, workers_needed: needed } = role;
    if capacity.pending_tasks == 0 {
        return format!("{}: no task waits", capacity.role);
    }
    let pending = counted(capacity.pending_tasks, "pending task");
    let (Some(seconds), Some(one), Some(four), Some(eight)) =
        (capacity.avg_duration_sec, needed.for_1_hour, needed.for_4_hours, needed.for_8_hours)
    else {
        return format!("{}: {pending}; no estimate, because no task has completed within the last day", capacity.role);
    };
    format!(
        "{}: {pending} of {seconds:.1} s each (mean of {} within the last day); clearing them in 1 hour takes {}, in 4 hours {four}, in 8 hours {eight}",
        capacity.role,
        counted(capacity.measured_runs, "run"),
        counted(one, "busy slot")
    )
}
