//! `drover tasks show ID`: a task with its runs.

use serde_json::Value;

use super::stopped;
use crate::cli::{Env, ExitCode, time};
use contract::tasks::{AttemptView, StoppedClaims, TaskDetail, TaskView};
use domain::task::TaskId;
use domain::task::retry_state::RetryState;
use domain::vocabulary::Word;

pub async fn run(id: TaskId, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let task: TaskDetail = api.get(&format!("/api/tasks/{id}")).await?;
    let stopped = stopped::read(&api).await?;
    env.out.either(&task, |task| text(task, &stopped))?;
    Ok(ExitCode::Ok)
}

fn text(detail: &TaskDetail, stopped: &StoppedClaims) -> String {
    let task = &detail.task;
    let fields = [
        ("task", Some(format!("{} {}", task.id, task.role))),
        ("status", Some(task.status.to_string())),
        ("store", task.dispensary_id.map(|id| named(id, task.dispensary_name.as_deref()))),
        ("platform", task.platform.as_ref().map(ToString::to_string)),
        ("priority", Some(task.priority.to_string())),
        ("retries", Some(retries(task))),
        ("stopped", Some(stopped::reasons(stopped, task).join("; ")).filter(|reasons| !reasons.is_empty())),
        ("due", task.scheduled_for.map(time)),
        ("worker", task.worker_id.clone().map(|id| named(id, task.worker_name.as_deref()))),
        ("created", Some(time(task.created_at))),
        ("ended", task.completed_at.map(time)),
        ("progress", task.progress_message.clone()),
        ("parent", task.parent_task_id.map(|id| id.to_string())),
        ("children", joined(&detail.children)),
        ("waits for", task.depends_on.as_deref().and_then(joined)),
        ("payload", Some(task.payload.to_string())),
        ("result", task.result.as_ref().map(Value::to_string)),
        ("error", task.error_message.clone()),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("{name:<10}{}", value?)));
    let runs = detail.attempts.iter().map(run_line);
    fields.chain(runs).collect::<Vec<_>>().join("\n")
}

fn retries(task: &TaskView) -> String {
    let why = match task.retry_state {
        Some(Word::Known(RetryState::Permanent)) => "; not retried, because the failure is permanent".to_owned(),
        Some(Word::Known(RetryState::UsedUp)) => "; all are used".to_owned(),
        Some(Word::Known(RetryState::Waits)) => {
            format!("; next try {}", task.scheduled_for.map_or_else(|| "now".to_owned(), time))
        }
        Some(Word::Other(_)) | None => String::new(),
    };
    format!("{} of {}{why}", task.retry_count, task.max_retries)
}

/// `run 2     2025-01-10 08:00:00 UTC  failed after 1.2s  worker-any-1f2e3d4c Kryll-3  HTTP 503`
fn run_line(run: &AttemptView) -> String {
    let ended = match (&run.outcome, run.finished_at) {
        (Some(outcome), Some(at)) => format!("{outcome} after {:.1}s", (at - run.claimed_at).as_seconds_f64()),
        (Some(outcome), None) => outcome.to_string(),
        (None, _) => "running".to_owned(),
    };
    let error = run.error.as_deref().map(|error| format!("  {error}")).unwrap_or_default();
    let worker = named(&run.worker_id, run.worker_name.as_deref());
    format!("{:<10}{}  {ended}  {}{error}", format!("run {}", run.fence), time(run.claimed_at), worker)
}

fn named(id: impl std::fmt::Display, name: Option<&str>) -> String {
    name.map_or_else(|| id.to_string(), |name| format!("{id} {name}"))
}

fn joined(ids: &[TaskId]) -> Option<String> {
    let ids: Vec<String> = ids.iter().map(TaskId::to_string).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}
