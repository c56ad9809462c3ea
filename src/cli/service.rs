//! What `up`, `api`, `worker` and `scheduler` have in common: start, run until a signal or a failure, drain, say how it ended.

use std::future::Future;

use super::http::Server;
use super::{Env, ExitCode, Refusal, Stop};
use crate::actors::tree::Plan;
use crate::app::App;

/// What a service answers by HTTP.
#[derive(Clone, Copy, Debug)]
pub enum Http {
    Api,
    Probes,
    Nothing,
}

/// Runs the tree until a signal or a failure.
pub async fn run(env: &Env, plan: Plan, http: Http) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signals()?;
    let db = env.db().await?;
    let app = App::start(env.config.clone(), db, env.runtime.clone(), plan).await?;
    let server = match serve(env, &app, http).await {
        Ok(server) => server,
        Err(error) => {
            app.stop(second_signal(&stop)).await;
            return Err(error);
        }
    };
    tokio::select! {
        () = stop.drain.cancelled() => {}
        () = app.failed() => {}
    }
    let cause = app.stop(second_signal(&stop)).await;
    if let Some(server) = server {
        server.close().await;
    }
    match cause {
        Some(message) => Err(Refusal { code: ExitCode::Failure, message }.into()),
        None => Ok(stop.exit_code()),
    }
}

/// The word to give everything back at once.
pub fn second_signal(stop: &Stop) -> impl Future<Output = ()> + Send + use<> {
    let now = stop.now.clone();
    async move { now.cancelled().await }
}

async fn serve(env: &Env, app: &App, http: Http) -> anyhow::Result<Option<Server>> {
    match http {
        Http::Api => Server::api(env, app).await.map(Some),
        Http::Probes => Server::probes(env).await,
        Http::Nothing => Ok(None),
    }
}
