//! `drover enqueue`: queues one task, by the same rules as `POST /api/tasks`.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::store_name::{self, StoreName};
use super::{Env, ExitCode, values};
use contract::task_requests::{RequestedTask, TaskRequest};
use domain::task::TaskId;
use domain::task::role::Role;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(long, help = kinds_of_work())]
    role: String,
    /// Id, slug or name of the store; required for roles that work on a store
    #[arg(long, alias = "dispensary", value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// The menu platform [default: the store's]
    #[arg(long)]
    platform: Option<String>,
    /// Priority from -1000 to 1000; higher runs first [default: the role's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// Input of the task, such as {"payload_id": 7}
    #[arg(long, value_name = "JSON", value_parser = values::json)]
    payload: Option<Value>,
    /// Run it no earlier than this time, such as 2025-01-10T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    at: Option<DateTime<Utc>>,
    /// Run it after this task or job has completed; repeat the option for several
    #[arg(long = "after", value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    after: Vec<TaskId>,
    /// Refuse the task while another open task has this key [default: role, store and payload]
    #[arg(long, value_name = "KEY")]
    dedup_key: Option<String>,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 3] = [("dispensary_id", "--store"), ("scheduled_for", "--at"), ("depends_on", "--after")];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let request = TaskRequest {
        role: args.role,
        dispensary_id: store,
        platform: args.platform,
        priority: args.priority,
        scheduled_for: args.at,
        payload: args.payload.unwrap_or_default(),
        depends_on: Some(args.after).filter(|ids| !ids.is_empty()),
        dedup_key: args.dedup_key,
        ..TaskRequest::default()
    };
    let made: RequestedTask = api.naming(&FLAGS).post("/api/tasks", &request).await?;
    env.out.either(&made, text)?;
    Ok(ExitCode::Ok)
}

/// Also for a discovery (`drover tasks generate discovery`).
pub fn text(RequestedTask { task, raised }: &RequestedTask) -> String {
    let raise =
        if *raised { format!(" was waiting already and now has priority {}", task.priority) } else { String::new() };
    format!("task {}: {}{raise}", task.id, task.role)
}

fn kinds_of_work() -> String {
    let mut names: Vec<&str> = Role::CRAWL.into_iter().map(Role::name).collect();
    let last = names.pop().unwrap_or_default();
    format!("Role of the task: {} or {last}", names.join(", "))
}
