//! `drover tasks tail`: polls, so that it works behind any pooler and costs the workers nothing.

use std::time::{Duration, Instant};

use crate::cli::{Env, ExitCode};
use db::tasks::views::activity::{Activity, Event};

const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Runs until Ctrl-C. When the database is unavailable it keeps polling, and then prints the events
/// meanwhile.
pub async fn run(env: &Env) -> anyhow::Result<ExitCode> {
    let db = env.db_to_read().await?;
    let mut activity = Activity::begin(&db.client().await?).await?;
    let (mut last_poll, mut is_unavailable) = (Instant::now(), false);
    loop {
        let now = Instant::now();
        let polled = async { activity.poll(&db.client().await?, now - last_poll).await };
        match polled.await {
            Ok(events) => {
                for event in events {
                    env.out.either(&event, line)?;
                }
                (last_poll, is_unavailable) = (now, false);
            }
            Err(error) if error.is_transient() => {
                if !std::mem::replace(&mut is_unavailable, true) {
                    tracing::warn!("{error}; waiting for it");
                }
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn line(event: &Event) -> String {
    let role = event.role.as_deref().unwrap_or("removed");
    let store = event.dispensary_id.map(|id| format!(" store {id}")).unwrap_or_default();
    let took = event.seconds.map(|seconds| format!(" after {seconds:.1}s")).unwrap_or_default();
    let error = event.error.as_deref().map(|error| format!(": {error}")).unwrap_or_default();
    let (at, task, word, worker) = (event.at.format("%T"), event.task_id, &event.event, &event.worker_id);
    format!("{at}  task {task} ({role}{store})  {word}{took}  {worker}{error}")
}
