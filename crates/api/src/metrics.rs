//! `/metrics`: the metrics that this process counts, and the whole service's metrics, read from the database
//! at scrape.
//!
//! Without the database a scrape has only the process's own metrics.

use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use prometheus::core::Collector;
use prometheus::{GaugeVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder};
use strum::VariantArray;

use super::access::{Caller, Viewer};
use super::{ApiError, ApiState};
use contract::pauses::Pause;
use contract::tasks::{ReadyTasks, TaskCounts};
use db::{Db, DbError, pauses, proxies, task_views, workers};
use domain::pause::PauseScope;
use domain::proxy::HealthCounts;
use domain::role::Role;
use domain::vocabulary::Word;
use domain::worker::{WorkerDocument, WorkerStatus};
use telemetry::{events, metrics};

/// Well below the usual timeout of a scrape, so that the process's own metrics always arrive.
const MAX_WAIT: Duration = Duration::from_secs(4);
const TEXT: [(axum::http::HeaderName, &str); 1] = [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];

/// The state of the whole service, read from the database.
struct ServiceMetrics {
    counts: TaskCounts,
    ready: Vec<ReadyTasks>,
    workers: Vec<WorkerDocument>,
    proxies: HealthCounts,
    pauses: Vec<Pause>,
}

/// The metrics of the process and of the service, in Prometheus' text format.
#[utoipa::path(get, path = "/metrics", tag = "service", responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn show(_: Caller<Viewer>, api: State<ApiState>) -> Result<Response, ApiError> {
    service(api).await
}

/// The metrics of the process and of the service.
pub async fn service(State(api): State<ApiState>) -> Result<Response, ApiError> {
    let service = match tokio::time::timeout(MAX_WAIT, ServiceMetrics::read(&api.db)).await {
        Ok(Ok(service)) => Some(service),
        Ok(Err(error)) => absent(&error),
        Err(_) => absent(&format!("no answer within {MAX_WAIT:?}")),
    };
    let text = metrics::render().and_then(|own| Ok(own + &service_text(service.as_ref())?)).map_err(failed)?;
    Ok((TEXT, text).into_response())
}

/// The metrics of the process alone.
pub async fn process() -> Result<Response, ApiError> {
    Ok((TEXT, metrics::render().map_err(failed)?).into_response())
}

impl ServiceMetrics {
    async fn read(db: &Db) -> Result<ServiceMetrics, DbError> {
        let client = db.api_client().await?;
        Ok(ServiceMetrics {
            counts: task_views::counts::counts(&client).await?,
            ready: task_views::counts::ready(&client).await?,
            workers: workers::list(&client).await?,
            proxies: proxies::count(&client).await?,
            pauses: pauses::list(&client).await?,
        })
    }
}

fn absent(reason: &dyn std::fmt::Display) -> Option<ServiceMetrics> {
    events::scrape_incomplete(reason);
    None
}

fn failed(error: prometheus::Error) -> ApiError {
    ApiError::Internal(format!("the metrics could not be written: {error}"))
}

fn service_text(service: Option<&ServiceMetrics>) -> Result<String, prometheus::Error> {
    let registry = Registry::new();
    let up = IntGauge::new("drover_database_up", "Whether the database answered this scrape")?;
    up.set(i64::from(service.is_some()));
    registry.register(Box::new(up))?;
    if let Some(service) = service {
        register(&registry, tasks(&service.counts)?)?;
        let (ready, oldest) = ready_tasks(&service.ready)?;
        register(&registry, ready)?;
        register(&registry, oldest)?;
        register(&registry, registered_workers(&service.workers)?)?;
        register(&registry, known_proxies(service.proxies)?)?;
        register(&registry, paused(&service.pauses)?)?;
    }
    TextEncoder::new().encode_to_string(&registry.gather())
}

fn register(registry: &Registry, metric: impl Collector + 'static) -> Result<(), prometheus::Error> {
    registry.register(Box::new(metric))
}

fn tasks(counts: &TaskCounts) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_tasks", "Tasks in the queue; ended ones as counted in the last half minute");
    let gauge = IntGaugeVec::new(opts, &["role", "status"])?;
    for (role, of_role) in &counts.by_role {
        let role = role.to_string();
        for (status, tasks) in of_role.by_status() {
            gauge.with_label_values(&[role.as_str(), status.into()]).set(tasks);
        }
    }
    Ok(gauge)
}

/// Zero where nothing is ready: a series that ended would keep its alert on.
fn ready_tasks(ready: &[ReadyTasks]) -> Result<(IntGaugeVec, GaugeVec), prometheus::Error> {
    let tasks = IntGaugeVec::new(Opts::new("drover_ready_tasks", "Tasks that may be claimed now"), &["role"])?;
    let help = "For how long the oldest ready task has been due";
    let oldest = GaugeVec::new(Opts::new("drover_oldest_ready_seconds", help), &["role"])?;
    for role in Role::CRAWL {
        tasks.with_label_values(&[role.name()]).set(0);
        oldest.with_label_values(&[role.name()]).set(0.0);
    }
    for of_role in ready {
        let role = of_role.role.to_string();
        tasks.with_label_values(&[&role]).set(of_role.tasks);
        oldest.with_label_values(&[&role]).set(of_role.oldest_seconds);
    }
    Ok((tasks, oldest))
}

fn registered_workers(workers: &[WorkerDocument]) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_registered_workers", "Workers of all processes, as the registry has them");
    by_word(opts, "status", |status: WorkerStatus| workers.iter().filter(|worker| worker.status == status).count())
}

fn known_proxies(counts: HealthCounts) -> Result<IntGaugeVec, prometheus::Error> {
    let gauge = IntGaugeVec::new(Opts::new("drover_known_proxies", "Proxies, as the table has them"), &["state"])?;
    for (health, count) in counts.each() {
        gauge.with_label_values(&[health.name()]).set(count as i64);
    }
    Ok(gauge)
}

fn paused(pauses: &[Pause]) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_paused", "Pauses in force, by scope");
    by_word(opts, "scope", |scope: PauseScope| pauses.iter().filter(|pause| pause.scope == Word::Known(scope)).count())
}

/// A series for each word, zero where there is none: a series that ended would keep its alert on.
fn by_word<T: VariantArray + Copy + Into<&'static str>>(
    opts: Opts,
    label: &str,
    count: impl Fn(T) -> usize,
) -> Result<IntGaugeVec, prometheus::Error> {
    let gauge = IntGaugeVec::new(opts, &[label])?;
    for word in T::VARIANTS.iter().copied() {
        gauge.with_label_values(&[word.into()]).set(count(word) as i64);
    }
    Ok(gauge)
}
