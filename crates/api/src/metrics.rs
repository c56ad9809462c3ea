//! `/metrics`: the metrics that this process counts, and the whole service's metrics, read from the database
//! at scrape.
//!
//! Without the database a scrape has only the process's own metrics.

mod gauges;
mod store_counts;

use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use prometheus::{Registry, TextEncoder};
use tokio::task::spawn_blocking;

use super::{AnyQuery, ApiError, ApiState, Caller, MAX_LISTENERS, Viewer};
use contract::overview::StoreCounts;
use contract::pauses::Pause;
use contract::tasks::{ReadyTasks, TaskCounts};
use db::{DbError, hosts, proxies, schedules, tasks, workers};
use domain::host::BreakerState;
use domain::proxy::HealthCounts;
use domain::vocabulary::Word;
use domain::worker::WorkerDocument;
use storage::free_space;
use telemetry::{events, metrics};

pub use store_counts::LatestStoreCounts;

/// Well below the usual timeout of a scrape, so that the process's own metrics always arrive.
const MAX_WAIT: Duration = Duration::from_secs(4);
const TEXT: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];

/// The state of this process that is read at scrape, beside its counts.
struct ProcessMetrics {
    event_clients: usize,
    /// None while the disk does not answer.
    storage_free_bytes: Option<u64>,
}

/// The state of the whole service, read from the database.
struct ServiceMetrics {
    counts: TaskCounts,
    ready: Vec<ReadyTasks>,
    workers: Vec<WorkerDocument>,
    proxies: HealthCounts,
    pauses: Vec<Pause>,
    breakers: Vec<(Word<BreakerState>, i64)>,
    schedule_lateness: f64,
    /// Counts of stores; None if the database takes long to count them.
    stores: Option<StoreCounts>,
}

/// The metrics of the process and of the service, in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "service", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn show(_: Caller<Viewer>, api: State<ApiState>, _: AnyQuery) -> Result<Response, ApiError> {
    service(api).await
}

/// The metrics of the process and of the service.
pub async fn service(State(api): State<ApiState>) -> Result<Response, ApiError> {
    let reading = tokio::time::timeout(MAX_WAIT, ServiceMetrics::read(&api));
    let (process, service) = tokio::join!(ProcessMetrics::read(&api), reading);
    let service = match service {
        Ok(Ok(service)) => Some(service),
        Ok(Err(error)) => absent(&error),
        Err(_) => absent(&format!("no answer within {MAX_WAIT:?}")),
    };
    let registry = Registry::new();
    let text = process.register(&registry).and_then(|()| register_service(&registry, service.as_ref()));
    answer(text.and_then(|()| text_of(&registry)))
}

/// The metrics of the process alone.
pub async fn process(State(api): State<ApiState>) -> Result<Response, ApiError> {
    let registry = Registry::new();
    let registered = ProcessMetrics::read(&api).await.register(&registry);
    answer(registered.and_then(|()| text_of(&registry)))
}

impl ProcessMetrics {
    async fn read(api: &ApiState) -> ProcessMetrics {
        ProcessMetrics {
            event_clients: MAX_LISTENERS - api.listeners.available_permits(),
            storage_free_bytes: tokio::time::timeout(MAX_WAIT, free_bytes(api)).await.unwrap_or(None),
        }
    }

    fn register(&self, registry: &Registry) -> Result<(), prometheus::Error> {
        registry.register(Box::new(gauges::event_clients(self.event_clients)?))?;
        if let Some(bytes) = self.storage_free_bytes {
            registry.register(Box::new(gauges::storage_free_bytes(bytes)?))?;
        }
        Ok(())
    }
}

/// A network disk may keep the thread that asks for long: the next scrapes then wait for this one's thread.
async fn free_bytes(api: &ApiState) -> Option<u64> {
    let place = api.disk_question.clone().acquire_owned().await.ok()?;
    let root = api.files.root()?.to_owned();
    let asked = spawn_blocking(move || {
        let _place = place;
        free_space::free_bytes(&root)
    });
    asked.await.ok()?.ok()
}

impl ServiceMetrics {
    async fn read(api: &ApiState) -> Result<ServiceMetrics, DbError> {
        let client = api.db.api_client().await?;
        Ok(ServiceMetrics {
            counts: tasks::views::counts::counts(&client).await?,
            ready: tasks::views::counts::ready(&client).await?,
            workers: workers::list(&client).await?,
            proxies: proxies::count(&client).await?,
            pauses: tasks::pauses::list(&client).await?,
            breakers: hosts::breakers(&client).await?,
            schedule_lateness: schedules::lateness(&client).await?,
            stores: api.store_counts.read(&client).await?,
        })
    }
}

fn absent(reason: &dyn std::fmt::Display) -> Option<ServiceMetrics> {
    events::scrape_incomplete(reason);
    None
}

fn register_service(registry: &Registry, service: Option<&ServiceMetrics>) -> Result<(), prometheus::Error> {
    registry.register(Box::new(gauges::database_up(service.is_some())?))?;
    let Some(service) = service else { return Ok(()) };
    let (ready, oldest) = gauges::ready_tasks(&service.ready)?;
    registry.register(Box::new(gauges::tasks(&service.counts)?))?;
    registry.register(Box::new(ready))?;
    registry.register(Box::new(oldest))?;
    registry.register(Box::new(gauges::registered_workers(&service.workers)?))?;
    registry.register(Box::new(gauges::known_proxies(service.proxies)?))?;
    registry.register(Box::new(gauges::paused(&service.pauses)?))?;
    if let Some(stores) = &service.stores {
        registry.register(Box::new(gauges::stores(stores)?))?;
    }
    registry.register(Box::new(gauges::hosts(&service.breakers)?))?;
    registry.register(Box::new(gauges::schedule_late_seconds(service.schedule_lateness)?))
}

/// The process's counts, and what is registered here.
fn text_of(registry: &Registry) -> Result<String, prometheus::Error> {
    Ok(metrics::render()? + &TextEncoder::new().encode_to_string(&registry.gather())?)
}

fn answer(text: Result<String, prometheus::Error>) -> Result<Response, ApiError> {
    match text {
        Ok(text) => Ok((TEXT, text).into_response()),
        Err(error) => Err(ApiError::Internal(format!("the metrics could not be written: {error}"))),
    }
}
