//! `drover tasks tail`: polls, so that it works behind any pooler and costs the workers nothing.

use std::time::{Duration, Instant};

use crate::cli::{Env, ExitCode};
use crate::db::task_views::activity::{Activity, Event};

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Ends by Ctrl-C, or when the database cannot be asked any more.
pub async fn run(env: &Env) -> anyhow::Result<ExitCode> {
    let db = env.db().await?;
    let mut activity = Activity::begin(&db.client().await?).await?;
    let mut last_look = Instant::now();
    loop {
        let since = last_look.elapsed();
        last_look = Instant::now();
        for event in activity.look(&db.client().await?, since).await? {
            env.out.either(&event, line)?;
        }
        tokio::time::sleep(LOOK_EVERY).await;
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
