//! `drover tasks retry | cancel | set | delete`: changes tasks by their ids, one after the other.

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::cli::{ApiClient, CliError, ClientError, Env, ExitCode, Ids, each, values};
use contract::task_changes::TaskChange;
use contract::tasks::TaskView;

#[derive(Debug, clap::Args)]
pub struct Set {
    #[command(flatten)]
    tasks: Ids,
    /// Priority from -1000 to 1000; higher runs first
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// Run it no earlier than this time, such as 2025-01-10T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "now")]
    at: Option<DateTime<Utc>>,
    /// Run it as soon as a worker is free
    #[arg(long)]
    now: bool,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 1] = [("scheduled_for", "--at")];

pub async fn retry(Ids { ids }: Ids, env: &Env) -> anyhow::Result<ExitCode> {
    each(&ids, env, async |api, id| api.post(&format!("/api/tasks/{id}/retry"), &json!({})).await, text).await
}

pub async fn cancel(Ids { ids }: Ids, env: &Env) -> anyhow::Result<ExitCode> {
    each(&ids, env, async |api, id| api.post(&format!("/api/tasks/{id}/cancel"), &json!({})).await, text).await
}

pub async fn set(args: Set, env: &Env) -> anyhow::Result<ExitCode> {
    let scheduled_for = if args.now { Some(None) } else { args.at.map(Some) };
    let change = TaskChange { priority: args.priority, scheduled_for };
    if change == TaskChange::default() {
        return Err(CliError::usage("give at least one change: --priority, --at or --now").into());
    }
    let put = async |api: &ApiClient, id| {
        let changed = api.put(&format!("/api/tasks/{id}"), &change).await;
        changed.map_err(|error: ClientError| error.naming_flags(&FLAGS))
    };
    each(&args.tasks.ids, env, put, text).await
}

pub async fn delete(Ids { ids }: Ids, env: &Env) -> anyhow::Result<ExitCode> {
    let delete = async |api: &ApiClient, id| {
        api.delete(&format!("/api/tasks/{id}")).await?;
        Ok(json!({ "deleted": id }))
    };
    each(&ids, env, delete, |answer| format!("task {} is deleted", answer["deleted"])).await
}

fn text(task: &TaskView) -> String {
    let time = task.scheduled_for.map(|at| format!(", not before {}", crate::cli::output::time(at)));
    format!("task {} {}: {}, priority {}{}", task.id, task.role, task.status, task.priority, time.unwrap_or_default())
}
