//! `drover workers`: lists the worker registry, where each worker describes itself with its heartbeat.

use clap::Subcommand;

use super::output::time;
use super::{Env, ExitCode};
use crate::api::workers::Registry;
use crate::domain::worker::WorkerDocument;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every worker with its tasks and resources
    List,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::List = args.command;
    let registry: Registry = env.api_to_read().await?.get("/api/worker-registry").await?;
    let headers =
        ["name", "id", "role", "status", "tasks", "task ids", "memory", "cpu", "last heartbeat", "backing off"];
    env.out.list(&registry, &registry.workers, &headers, cells)?;
    Ok(ExitCode::Ok)
}

fn cells(worker: &WorkerDocument) -> Vec<String> {
    let ids: Vec<String> = worker.current_task_ids.iter().map(|id| id.to_string()).collect();
    vec![
        worker.friendly_name.clone(),
        worker.worker_id.clone(),
        worker.role.clone(),
        worker.status.name().to_owned(),
        format!("{}/{}", worker.active_task_count, worker.max_concurrent_tasks),
        ids.join(","),
        format!("{:.0}%", worker.resources.memory_percent),
        format!("{:.0}%", worker.resources.cpu_percent),
        worker.last_heartbeat_at.map(time).unwrap_or_default(),
        worker.resources.backoff_reason.clone().unwrap_or_default(),
    ]
}
