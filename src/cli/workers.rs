//! `drover workers`: lists the worker registry, which holds each worker's last heartbeat, and orders a worker
//! to pause, to resume or to leave.

use clap::Subcommand;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::output::time;
use super::{Env, ExitCode};
use contract::workers::{Registry, WorkerOrder};
use domain::worker::{WorkerCommand, WorkerDocument};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List all workers with their tasks and resources
    List,
    /// Let a worker finish its tasks and then stop. A process ends with its last worker
    Decommission(Worker),
    /// Let a worker finish its tasks and claim no new ones
    Pause(Worker),
    /// Let a paused worker claim tasks again
    Resume(Worker),
}

#[derive(Debug, clap::Args)]
struct Worker {
    /// Worker id, as shown by `workers list`
    id: String,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::List => list(env).await,
        Command::Decommission(worker) => order(&worker.id, WorkerCommand::Decommission, env).await,
        Command::Pause(worker) => order(&worker.id, WorkerCommand::Pause, env).await,
        Command::Resume(worker) => order(&worker.id, WorkerCommand::Resume, env).await,
    }
}

async fn order(id: &str, command: WorkerCommand, env: &Env) -> anyhow::Result<ExitCode> {
    let path = format!("/api/worker-registry/{}/{command}", utf8_percent_encode(id, NON_ALPHANUMERIC));
    let order: WorkerOrder = env.api().await?.post(&path, &json!({})).await?;
    env.out.either(&order, |order| format!("{}: {} at its next heartbeat", order.worker_id, order.command))?;
    Ok(ExitCode::Ok)
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let registry: Registry = env.api_to_read().await?.get("/api/worker-registry").await?;
    let headers =
        ["name", "id", "role", "status", "tasks", "task ids", "memory", "cpu", "last heartbeat", "backing off"];
    env.out.list(&registry, &registry.workers, &headers, cells)?;
    env.out.note_of_none(&registry.workers, "no workers to show: start them with `drover up` or `drover worker`");
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
