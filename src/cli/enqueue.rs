//! `drover enqueue`: queues one task, by the same rules as `POST /api/tasks`.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Env, ExitCode, values};
use contract::task_requests::{RequestedTask, TaskRequest};
use domain::role::Role;
use domain::store::StoreId;
use domain::task::TaskId;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(long, help = kinds_of_work())]
    role: String,
    /// The id of the store, for roles that work on one; `drover stores list` shows it
    #[arg(long, value_name = "ID", value_parser = values::whole_number)]
    dispensary: Option<StoreId>,
    /// The menu platform [default: the store's]
    #[arg(long)]
    platform: Option<String>,
    /// Higher runs first, from -1000 to 1000 [default: the role's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// The task's input, such as {"payload_id": 7}
    #[arg(long, value_name = "JSON", value_parser = values::json)]
    payload: Option<Value>,
    /// Not before this time, such as 2025-01-10T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    at: Option<DateTime<Utc>>,
    /// Only once this task or job is completed; may be given several times
    #[arg(long = "after", value_name = "ID", value_parser = values::whole_number)]
    after: Vec<TaskId>,
    /// A key that one open task at a time may have [default: role, store and payload]
    #[arg(long, value_name = "KEY")]
    dedup_key: Option<String>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let request = TaskRequest {
        role: args.role,
        dispensary_id: args.dispensary,
        platform: args.platform,
        priority: args.priority,
        scheduled_for: args.at,
        payload: args.payload.unwrap_or_default(),
        depends_on: Some(args.after).filter(|ids| !ids.is_empty()),
        dedup_key: args.dedup_key,
        ..TaskRequest::default()
    };
    let made = env.api().await?.post("/api/tasks", &request).await;
    let made: RequestedTask = made.map_err(|error| error.naming_flags(flag))?;
    env.out.either(&made, text)?;
    Ok(ExitCode::Ok)
}

/// Also for a discovery (`drover tasks generate discovery`).
pub fn text(RequestedTask { task, raised }: &RequestedTask) -> String {
    let raise = if *raised { format!(" waited already and has priority {} now", task.priority) } else { String::new() };
    format!("task {}: {}{raise}", task.id, task.role)
}

/// The flag that sets a field of the request.
fn flag(field: &str) -> String {
    match field {
        "dispensary_id" => "--dispensary".to_owned(),
        "scheduled_for" => "--at".to_owned(),
        "depends_on" => "--after".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

fn kinds_of_work() -> String {
    let [others @ .., last] = Role::CRAWL.map(Role::name);
    format!("The kind of work: {} or {last}", others.join(", "))
}
