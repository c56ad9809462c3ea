//! `/livez` (the process is up) and `/readyz` (what it stands on, each part with its own state).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use tokio::sync::watch;

use super::router::Shared;
use crate::db::{Db, migrate, vitals};
use crate::domain::proxy::PoolState;

/// A probe that waits longer is as good as unanswered.
const WITHIN: Duration = Duration::from_secs(3);

/// What the rest of the process tells of itself; the caller of the API fills it.
#[derive(Clone)]
pub struct Health {
    /// None in a process whose work needs no proxies.
    pub proxies: Option<watch::Receiver<PoolState>>,
    pub actors: Arc<dyn Fn() -> Actors + Send + Sync>,
    /// A schema that was once current stays so as long as this program runs.
    migrated: Arc<AtomicBool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actors {
    Running,
    /// On the way out; nothing new is begun.
    Draining,
    Failed {
        cause: String,
    },
}

impl Health {
    pub fn new(
        proxies: Option<watch::Receiver<PoolState>>,
        actors: impl Fn() -> Actors + Send + Sync + 'static,
    ) -> Self {
        Health { proxies, actors: Arc::new(actors), migrated: Arc::default() }
    }
}

#[derive(Serialize)]
pub struct Live {
    status: &'static str,
}

#[derive(Serialize)]
pub struct Readiness {
    /// `ready` or `degraded`.
    status: &'static str,
    parts: Parts,
}

#[derive(Serialize)]
struct Parts {
    database: Part,
    migrations: Part,
    proxies: Part,
    actors: Part,
}

#[derive(Serialize)]
struct Part {
    state: Condition,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(flatten)]
    pool: Option<PoolState>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Condition {
    Ok,
    /// Not of this process.
    Unused,
    Degraded,
}

pub async fn livez() -> Json<Live> {
    Json(Live { status: "ok" })
}

pub async fn readyz(State(api): State<Shared>) -> (StatusCode, Json<Readiness>) {
    let (database, migrations) = tokio::join!(database(&api.db), migrations(&api.db, &api.health.migrated));
    let parts = Parts { database, migrations, proxies: proxies(&api.health), actors: actors(&(api.health.actors)()) };
    let all = [&parts.database, &parts.migrations, &parts.proxies, &parts.actors];
    match all.iter().any(|part| part.state == Condition::Degraded) {
        false => (StatusCode::OK, Json(Readiness { status: "ready", parts })),
        true => (StatusCode::SERVICE_UNAVAILABLE, Json(Readiness { status: "degraded", parts })),
    }
}

async fn database(db: &Db) -> Part {
    let asked = async { vitals::read(&db.api_client().await?).await };
    match tokio::time::timeout(WITHIN, asked).await {
        Ok(Ok(_)) => Part::ok(),
        Ok(Err(_)) => Part::degraded("unavailable"),
        Err(_) => Part::degraded(format!("no answer within {WITHIN:?}")),
    }
}

async fn migrations(db: &Db, known: &AtomicBool) -> Part {
    if known.load(Ordering::Relaxed) {
        return Part::ok();
    }
    match tokio::time::timeout(WITHIN, migrate::status(db)).await {
        Ok(Ok(status)) if status.is_current() => {
            known.store(true, Ordering::Relaxed);
            Part::ok()
        }
        Ok(Ok(status)) => Part::degraded(format!("{} missing", status.pending.len() + status.objects.len())),
        Ok(Err(migrate::MigrateError::Db(_))) => Part::degraded("unknown: the database is unavailable"),
        Ok(Err(error)) => Part::degraded(error),
        Err(_) => Part::degraded(format!("no answer within {WITHIN:?}")),
    }
}

fn proxies(health: &Health) -> Part {
    let Some(pool) = health.proxies.as_ref().map(|pool| *pool.borrow()) else {
        return Part { state: Condition::Unused, detail: None, pool: None };
    };
    let part = if pool.active > 0 { Part::ok() } else { Part::degraded("none is active: nothing is fetched") };
    Part { pool: Some(pool), ..part }
}

fn actors(actors: &Actors) -> Part {
    match actors {
        Actors::Running => Part::ok(),
        Actors::Draining => Part::degraded("draining"),
        Actors::Failed { cause } => Part::degraded(cause),
    }
}

impl Part {
    fn ok() -> Self {
        Part { state: Condition::Ok, detail: None, pool: None }
    }

    fn degraded(why: impl ToString) -> Self {
        Part { state: Condition::Degraded, detail: Some(why.to_string()), pool: None }
    }
}
