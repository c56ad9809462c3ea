//! What `up`, `api`, `worker` and `scheduler` have in common: start, run until a signal or a failure, drain, say how it ended.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use super::http::{self, Server};
use super::{Env, ExitCode, Refusal, Stop};
use crate::actors::plan::Plan;
use crate::app::App;
use crate::db::{Db, DbError, proxies};
use crate::domain::proxy::PoolState;
use crate::events;

/// What a service answers by HTTP.
#[derive(Clone, Copy, Debug)]
pub enum Http {
    Api,
    Probes,
    Nothing,
}

/// Runs the tree until a signal or a failure.
pub async fn run(env: &Env, plan: Plan, http: Http) -> anyhow::Result<ExitCode> {
    // a port that is taken is told before anything is begun
    let port = open_port(env, http).await?;
    let db = database(env).await?;
    if !plan.pods.is_empty() && proxies::count(&db.client().await?).await? == PoolState::default() {
        events::no_proxies();
    }
    let stop = Stop::on_signals()?;
    let app = App::start(env.config.clone(), db, env.runtime.clone(), plan).await?;
    let server = port.map(|port| serve(env, &app, port)).transpose()?;
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

/// How long a service waits for a database that is late.
const PATIENCE: Duration = Duration::from_secs(30);
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The database with its schema, once it is there. After a while it is left to whoever starts services to start this one anew.
pub async fn database(env: &Env) -> anyhow::Result<Db> {
    let begun = Instant::now();
    loop {
        match env.db().await {
            Err(error) if is_late(&error) && begun.elapsed() < PATIENCE => {
                events::database_awaited(&format_args!("{error:#}"));
            }
            answer => return answer,
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// A server that cannot be reached may be; one that cannot be made will not be by waiting.
fn is_late(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<DbError>().is_some_and(DbError::is_unavailable))
}

/// The word to give everything back at once.
pub fn second_signal(stop: &Stop) -> impl Future<Output = ()> + Send + use<> {
    let now = stop.now.clone();
    async move { now.cancelled().await }
}

/// A bound listener and what it is for.
enum Port {
    Api(TcpListener),
    Probes(TcpListener),
}

async fn open_port(env: &Env, http: Http) -> Result<Option<Port>, Refusal> {
    Ok(match http {
        Http::Api => Some(Port::Api(http::listen_for_api(env).await?)),
        Http::Probes => http::listen_for_probes(env).await?.map(Port::Probes),
        Http::Nothing => None,
    })
}

fn serve(env: &Env, app: &App, port: Port) -> anyhow::Result<Server> {
    match port {
        Port::Api(listener) => Server::api(env, app, listener),
        Port::Probes(listener) => Server::probes(env, listener),
    }
}
