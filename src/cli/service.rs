//! What `up`, `worker`, `scheduler` and `api` have in common: start, run until a signal or a failure, drain, say how it ended.

use std::future::Future;

use super::{Env, ExitCode, Refusal, Stop};
use crate::actors::tree::Plan;
use crate::app::App;

/// Runs the tree until a signal or a failure, with `beside` running next to it.
pub async fn run(
    env: &Env,
    plan: Plan,
    beside: impl AsyncFnOnce(&App, &Stop) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signals()?;
    let db = env.db().await?;
    let app = App::start(env.config.clone(), db, env.runtime.clone(), plan).await?;
    let side = async {
        beside(&app, &stop).await?;
        // a side that has nothing to do must not end the process
        std::future::pending::<anyhow::Result<()>>().await
    };
    let failed = tokio::select! {
        () = stop.drain.cancelled() => None,
        () = app.failed() => None,
        ended = side => ended.err(),
    };
    end(app, &stop, failed).await
}

async fn end(app: App, stop: &Stop, failed: Option<anyhow::Error>) -> anyhow::Result<ExitCode> {
    let cause = app.stop(second_signal(stop)).await;
    if let Some(error) = failed {
        return Err(error);
    }
    match cause {
        Some(message) => Err(Refusal { code: ExitCode::Failure, message }.into()),
        None => Ok(stop.exit_code()),
    }
}

pub fn second_signal(stop: &Stop) -> impl Future<Output = ()> + Send + use<> {
    let now = stop.now.clone();
    async move { now.cancelled().await }
}
