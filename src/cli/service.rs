//! The common part of `up`, `api`, `worker` and `scheduler`: start, run until a signal or a failure, drain,
//! report the result.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use super::http::{Listeners, for_local_clients};
use super::reload::{self, Hangups};
use super::{CliError, Env, ExitCode, Stop, status_line};
use crate::actors::plan::Plan;
use crate::actors::tree::Drained;
use crate::app::{App, PreparedApp};
use crate::features::NO_MEDIA;
use crate::handlers;
use dashboard::IS_BUILT;
use db::{Db, DbError, access, proxies};
use domain::proxy::HealthCounts;
use settings::Setting;
use supervision::service_manager;
use telemetry::events;

/// HTTP endpoints of a service, beside its probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http {
    Api,
    Nothing,
}

/// How a service looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The log, as it looks everywhere else.
    Log,
    /// A status line in place of the log's lines for each task.
    Status,
}

impl Look {
    pub fn of(verbose: bool) -> Look {
        if verbose { Look::Log } else { Look::Status }
    }
}

/// Runs the tree that `plan` makes from the database, until a signal or a failure.
pub async fn run(
    env: &Env,
    http: Http,
    look: Look,
    plan: impl AsyncFn(&Db) -> anyhow::Result<Plan>,
) -> anyhow::Result<ExitCode> {
    // first of all: who sees that the process is there may ask it to reload
    let hangups = Hangups::listen();
    // bound before the rest, so that a port in use ends the command at once
    let listeners = Listeners::bind(&env.config, http == Http::Api).await?;
    let ServiceParts { db, app, has_token } = once_available(async || prepare(env, http, &plan).await).await?;
    let stop = env.stop.take_over();
    let app = app.start().await?;
    let servers = listeners.serve(env, env.live.clone(), &env.config, &app, db)?;
    if let Some(address) = servers.api {
        announce(env, address, has_token);
    }
    service_manager::ready();
    tokio::select! {
        () = stop.drain.cancelled() => {}
        () = app.until_failed() => {}
        never = reload::follow(hangups, &env.sources, &env.live) => match never {},
        never = keep_settings(env), if http == Http::Api => match never {},
        never = status_line::keep_showing(), if look == Look::Status => match never {},
    }
    service_manager::stopping();
    let (Drained { tasks, cause }, ()) = tokio::join!(app.stop(second_signal(&stop)), drain_delay(env, &stop));
    servers.close().await;
    events::stopped(tasks.ended, tasks.given_back);
    match cause {
        Some(message) => Err(CliError { code: ExitCode::Failure, message }.into()),
        None => Ok(stop.exit_code()),
    }
}

/// Keeps the settings in use in the data directory, with each change, for commands with `--dir`.
async fn keep_settings(env: &Env) -> Infallible {
    let mut changes = env.live.subscribe();
    loop {
        let settings = changes.borrow_and_update().settings.clone();
        if env.config.database.url.is_empty() {
            keep_in(env.config.data_dir(), &settings).await;
        }
        if changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Keeps the settings in a file. Without it, commands use the settings of their own files.
pub async fn keep_in(dir: &Path, settings: &[Setting]) {
    if let Err(error) = settings::kept::keep(dir, settings).await {
        events::settings_not_kept(dir, &error);
    }
}

/// The time in which load balancers see that this service is not ready any more.
async fn drain_delay(env: &Env, stop: &Stop) {
    if stop.drain.is_cancelled() {
        let _ = tokio::time::timeout(env.config.probes.drain_delay, stop.now.cancelled()).await;
    }
}

/// The parts of a service that has all it needs to start.
struct ServiceParts {
    db: Db,
    app: PreparedApp,
    /// Whether an API token exists.
    has_token: bool,
}

/// Reads and writes everything in the database that the service needs before it starts. It may be repeated.
async fn prepare(
    env: &Env,
    http: Http,
    plan: &impl AsyncFn(&Db) -> anyhow::Result<Plan>,
) -> anyhow::Result<ServiceParts> {
    let db = env.service_db().await?;
    let has_token = http == Http::Api && access::api_tokens::exist(&db.client().await?).await?;
    if http == Http::Api {
        require_token(env, has_token)?;
    }
    let plan = plan(&db).await?;
    require_built(&plan)?;
    if !plan.pods.is_empty() && proxies::count(&db.client().await?).await? == HealthCounts::default() {
        events::no_proxies();
    }
    let app = App::prepare(env.live.clone(), db.clone(), env.runtime.clone(), plan).await?;
    Ok(ServiceParts { db, app, has_token })
}

/// Refuses pods with roles that this build cannot run: their tasks would fail for all.
fn require_built(plan: &Plan) -> Result<(), CliError> {
    let mut roles = plan.pods.iter().flat_map(|pod| pod.roles.roles());
    match roles.find(|role| !handlers::is_built(**role)) {
        None => Ok(()),
        Some(role) => Err(CliError { code: ExitCode::Usage, message: format!("role {role}: {}", NO_MEDIA) }),
    }
}

/// Logs the address of the dashboard, and who may open it.
fn announce(env: &Env, address: SocketAddr, has_token: bool) {
    if !IS_BUILT {
        return;
    }
    let who = match has_token {
        true => "log in with a token",
        false => "open to this machine until the first token exists",
    };
    let base_path = &env.config.api.base_path;
    tracing::info!("Dashboard: http://{}{base_path}/admin, {who}", for_local_clients(address));
}

/// Requires a token on an address that others can reach: no caller is trusted without one.
fn require_token(env: &Env, has_token: bool) -> Result<(), CliError> {
    if env.config.api.is_loopback() || has_token {
        return Ok(());
    }
    let listen = &env.config.api.listen;
    Err(CliError::bad_config(format!(
        "api.listen is {listen}, which other machines can reach, and no token exists: create one with `drover token create --role admin --name …`"
    )))
}

/// Refuses to start anything that sends requests while no proxy is switched on.
pub async fn require_proxies(db: &Db) -> anyhow::Result<()> {
    let pool = proxies::count(&db.client().await?).await?;
    if pool.switched_on() > 0 {
        return Ok(());
    }
    let text =
        "no proxy is enabled, and drover sends no request without one: add proxies with `drover proxies import FILE`";
    Err(CliError::bad_config(text).into())
}

/// Maximum time that a service waits for a database that is unreachable, read-only or locked.
const MAX_DATABASE_WAIT: Duration = Duration::from_secs(30);
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Repeats `step` while the database does not let it succeed. Fails after [`MAX_DATABASE_WAIT`]; systemd or
/// Kubernetes then restarts the process.
async fn once_available<T>(step: impl AsyncFn() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        match step().await {
            Err(error) if is_transient(&error) && begun.elapsed() < MAX_DATABASE_WAIT => {
                events::database_awaited(&format_args!("{error:#}"));
            }
            answer => return answer,
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// An unreachable server may come up later; a private server that does not start will not.
fn is_transient(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<DbError>().is_some_and(DbError::is_transient))
}

/// The signal to give all tasks back at once.
pub fn second_signal(stop: &Stop) -> impl Future<Output = ()> + Send + use<> {
    let now = stop.now.clone();
    async move { now.cancelled().await }
}
