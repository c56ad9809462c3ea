//! `/livez` (the process is up) and `/readyz` (whether its dependencies work, each with its own state).

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::{Actors, AnyQuery, Anyone, ApiState, Health};
use contract::health::{Check, CheckState, Liveness, LivenessStatus, Readiness, ReadinessChecks, ReadinessStatus};
use db::{Client, schema, tasks};

/// Probes usually wait a few seconds for an answer.
const MAX_WAIT: Duration = Duration::from_secs(3);

const MAX_PAUSES_SHOWN: usize = 5;
/// State of what only the database knows.
const UNKNOWN: &str = "unknown: the database is unavailable";

/// Whether the process is up.
#[utoipa::path(get, path = "/livez", tag = "service", responses((status = 200, body = Liveness)))]
pub async fn livez(_: Anyone, _: AnyQuery) -> Json<Liveness> {
    Json(Liveness { status: LivenessStatus::Ok })
}

/// Whether everything that the process needs works.
#[utoipa::path(get, path = "/readyz", tag = "service",
               responses((status = 200, body = Readiness), (status = 503, body = Readiness, description = "Something is degraded")))]
pub async fn readyz(_: Anyone, State(api): State<ApiState>, _: AnyQuery) -> (StatusCode, Json<Readiness>) {
    let from_database = match tokio::time::timeout(MAX_WAIT, database(&api)).await {
        Ok(checks) => checks,
        Err(_) => DatabaseChecks::without(format!("no answer within {MAX_WAIT:?}"), &api.health),
    };
    let DatabaseChecks { database, migrations, pauses } = from_database;
    let actors = actors(&(api.health.actors)());
    let parts = ReadinessChecks { database, migrations, proxies: proxies(&api.health), actors, pauses };
    let all = [&parts.database, &parts.migrations, &parts.proxies, &parts.actors];
    match all.iter().any(|check| check.state == CheckState::Degraded) {
        false => (StatusCode::OK, Json(Readiness { status: ReadinessStatus::Ready, parts })),
        true => (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status: ReadinessStatus::Degraded, parts })),
    }
}

/// Checks that need the database, by one connection.
struct DatabaseChecks {
    database: Check,
    /// The schema.
    migrations: Check,
    pauses: Check,
}

async fn database(api: &ApiState) -> DatabaseChecks {
    let connected = async {
        let client = api.db.api_client().await?;
        schema::server_info::read(&client).await.map(|_| client)
    };
    match connected.await {
        Ok(client) => DatabaseChecks {
            database: Check::ok(),
            migrations: migrations(&client, &api.health.migrated).await,
            pauses: paused(&client).await,
        },
        Err(_) => DatabaseChecks::without("unavailable", &api.health),
    }
}

impl DatabaseChecks {
    fn without(detail: impl ToString, health: &Health) -> DatabaseChecks {
        let migrations = match health.migrated.load(Ordering::Relaxed) {
            true => Check::ok(),
            false => Check::degraded(UNKNOWN),
        };
        let pauses = Check { detail: Some(UNKNOWN.to_owned()), ..Check::ok() };
        DatabaseChecks { database: Check::degraded(detail), migrations, pauses }
    }
}

/// Check of the pauses. Never degraded: an operator wanted it so.
async fn paused(client: &Client) -> Check {
    let detail = match tasks::pauses::list(client).await {
        Ok(pauses) if pauses.is_empty() => None,
        Ok(pauses) => {
            let named =
                pauses.iter().take(MAX_PAUSES_SHOWN).map(|pause| format!("{} ({})", pause.target(), pause.reason));
            let named = named.collect::<Vec<_>>().join(", ");
            let more = pauses.len().saturating_sub(MAX_PAUSES_SHOWN);
            Some(if more == 0 { format!("paused: {named}") } else { format!("paused: {named}, and {more} more") })
        }
        Err(_) => Some("unknown: the pauses cannot be read".to_owned()),
    };
    Check { detail, ..Check::ok() }
}

async fn migrations(client: &Client, known: &AtomicBool) -> Check {
    if known.load(Ordering::Relaxed) {
        return Check::ok();
    }
    match schema::migrate::status_on(client).await {
        Ok(status) if status.is_current() => {
            known.store(true, Ordering::Relaxed);
            Check::ok()
        }
        Ok(status) => {
            Check::degraded(format!("migrations or objects missing: {}; run: drover migrate up", status.missing()))
        }
        Err(schema::migrate::MigrateError::Db(_)) => Check::degraded(UNKNOWN),
        Err(error) => Check::degraded(error),
    }
}

fn proxies(health: &Health) -> Check {
    let Some(pool) = health.proxies.as_ref().map(|pool| *pool.borrow()) else {
        return Check { state: CheckState::Unused, detail: None, pool: None };
    };
    let check = if pool.usable > 0 { Check::ok() } else { Check::degraded("no proxy is usable: nothing is fetched") };
    Check { pool: Some(pool), ..check }
}

fn actors(actors: &Actors) -> Check {
    match actors {
        Actors::Running => Check::ok(),
        Actors::Draining => Check::degraded("draining"),
        Actors::Failed { cause } => Check::degraded(cause),
    }
}
