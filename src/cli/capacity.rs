//! `drover capacity`: shows waiting and running tasks of each role, and the workers that it needs.

use super::client::path_segment;
use super::output::counted;
use super::{Env, ExitCode};
use contract::tasks::RoleCapacity;
use domain::capacity::Capacity;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show how many workers clear the backlog of this role in 1, 4 and 8 hours
    role: Option<String>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let Some(role) = args.role else {
        let rows: Vec<Capacity> = api.get("/api/tasks/capacity").await?;
        let headers = ["role", "pending", "ready", "active", "done/h", "failed/h", "workers", "seconds", "hours left"];
        env.out.listed("capacity", &rows, &headers, cells)?;
        return Ok(ExitCode::Ok);
    };
    let capacity = api.get(&format!("/api/tasks/capacity/{}", path_segment(&role))).await;
    let capacity: RoleCapacity = capacity.map_err(|error| error.naming_flags(|_| "ROLE".to_owned()))?;
    env.out.either(&capacity, text)?;
    Ok(ExitCode::Ok)
}

fn cells(row: &Capacity) -> Vec<String> {
    let tenths = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.1}"));
    vec![
        row.role.clone(),
        row.pending_tasks.to_string(),
        row.ready_tasks.to_string(),
        (row.claimed_tasks + row.running_tasks).to_string(),
        row.completed_last_hour.to_string(),
        row.failed_last_hour.to_string(),
        row.active_workers.to_string(),
        tenths(row.avg_duration_sec),
        tenths(row.estimated_hours_to_drain),
    ]
}

fn text(role: &RoleCapacity) -> String {
    let RoleCapacity { capacity, workers_needed: needed } = role;
    let pending = counted(capacity.pending_tasks, "pending task");
    let (Some(seconds), Some(one), Some(four), Some(eight)) =
        (capacity.avg_duration_sec, needed.for_1_hour, needed.for_4_hours, needed.for_8_hours)
    else {
        return format!("{}: {pending}; no estimate, because no task has completed within the last day", capacity.role);
    };
    format!(
        "{}: {pending} of {seconds:.1} s each; clearing them in 1 hour takes {}, in 4 hours {four}, in 8 hours {eight}",
        capacity.role,
        counted(one, "worker")
    )
}
