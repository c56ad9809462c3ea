//! `drover workers`: lists the worker registry, which holds each worker's last heartbeat, orders a worker to
//! pause, to resume or to leave, and scales their pods in Kubernetes.

use clap::Subcommand;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use super::{Env, ExitCode, time};
use crate::app::predecessors;
use contract::workers::{Registry, ScaleRequest, WorkerOrder, WorkerReplicas};
use domain::amounts::counted;
use domain::worker::{WorkerCommand, WorkerDocument};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List all workers with their tasks and resources
    List,
    /// Let a worker finish its tasks and then stop. A process ends with its last worker
    Decommission(Worker),
    /// Pause a worker: it finishes its tasks and claims no new ones
    Pause(Worker),
    /// Resume a paused worker
    Resume(Worker),
    /// Set how many pods of workers Kubernetes runs, within kubernetes.min_replicas and max_replicas
    Scale(Scale),
}

#[derive(Debug, clap::Args)]
pub struct Worker {
    /// Worker id, as shown by `workers list`
    id: String,
}

#[derive(Debug, clap::Args)]
pub struct Scale {
    /// Number of pods
    replicas: u32,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List => list(env).await,
        Command::Decommission(worker) => order(&worker.id, WorkerCommand::Decommission, env).await,
        Command::Pause(worker) => order(&worker.id, WorkerCommand::Pause, env).await,
        Command::Resume(worker) => order(&worker.id, WorkerCommand::Resume, env).await,
        Command::Scale(Scale { replicas }) => scale(replicas, env).await,
    }
}

async fn order(id: &str, command: WorkerCommand, env: &Env) -> anyhow::Result<ExitCode> {
    let path = format!("/api/worker-registry/{}/{command}", utf8_percent_encode(id, NON_ALPHANUMERIC));
    let order: WorkerOrder = env.api().await?.post(&path, &json!({})).await?;
    env.out.either(&order, |order| format!("{}: {} at its next heartbeat", order.worker_id, order.command))?;
    Ok(ExitCode::Ok)
}

async fn scale(replicas: u32, env: &Env) -> anyhow::Result<ExitCode> {
    let answer = env.api().await?.post("/api/workers/k8s/scale", &ScaleRequest { replicas }).await?;
    env.out.either(&answer, scaled)?;
    Ok(ExitCode::Ok)
}

/// `scraper-worker: 8 pods asked for, 5 there, 5 of them ready`
fn scaled(set: &WorkerReplicas) -> String {
    let WorkerReplicas { statefulset, replicas, current_replicas, ready_replicas, .. } = set;
    let numbers = format!(
        "{statefulset}: {} requested, {current_replicas} present, {ready_replicas} of them ready",
        counted(*replicas, "pod")
    );
    match &set.autoscaler {
        None => numbers,
        Some(autoscaler) => format!("{numbers}\n{autoscaler} scales it too, and may set another number"),
    }
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let registry: Registry = env.api_to_read().await?.get("/api/worker-registry").await?;
    let killed = killed(env).await?;
    let headers =
        ["name", "id", "role", "status", "tasks", "task ids", "memory", "cpu", "last heartbeat", "backing off"];
    env.out.list(&registry, &registry.workers, &headers, |worker| cells(worker, &killed))?;
    if !killed.is_empty() {
        env.out.note("the processes of killed workers have ended on this machine: start them again, or put their tasks back with `drover tasks recover`");
    }
    env.out.note_of_none(&registry.workers, "no workers to show: start them with `drover up` or `drover worker`");
    Ok(ExitCode::Ok)
}

/// Ids of registered workers whose process has ended on this machine; their rows say so within three heartbeats.
/// Another machine's processes are known to its own commands alone.
async fn killed(env: &Env) -> anyhow::Result<Vec<String>> {
    match env.is_remote() {
        true => Ok(Vec::new()),
        false => Ok(predecessors::ended(&env.db_to_read().await?.client().await?, &env.config.worker.host).await?),
    }
}

fn cells(worker: &WorkerDocument, killed: &[String]) -> Vec<String> {
    let is_killed = killed.contains(&worker.worker_id);
    let ids: Vec<String> = worker.current_task_ids.iter().map(|id| id.to_string()).collect();
    vec![
        worker.friendly_name.clone(),
        worker.worker_id.clone(),
        worker.role.clone(),
        if is_killed { "killed" } else { worker.status.name() }.to_owned(),
        format!("{}/{}", worker.active_task_count, worker.max_concurrent_tasks),
        ids.join(","),
        format!("{:.0}%", worker.resources.memory_percent),
        format!("{:.0}%", worker.resources.cpu_percent),
        worker.last_heartbeat_at.map(time).unwrap_or_default(),
        worker.resources.backoff_reason.clone().unwrap_or_default(),
    ]
}
