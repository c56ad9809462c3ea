//! Every route, in one table, with the layers around them.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware;
use axum::routing::get;

use super::{ApiError, ApiState, Scrape, guard, health, metrics, tasks, workers};

/// The whole API with the probes, for requests from this machine.
pub fn api(state: ApiState) -> Router {
    let routes = probe_routes(Scrape::Service)
        .route("/api/tasks", get(tasks::list).post(tasks::create))
        .route("/api/tasks/counts", get(tasks::counts))
        .route("/api/tasks/{id}", get(tasks::show))
        .route("/api/worker-registry", get(workers::list))
        .route("/api/worker-registry/roles", get(workers::roles));
    answering(with_fallbacks(routes).layer(middleware::from_fn(guard::require_same_machine)), state)
}

/// Probes and metrics alone, for requests from anywhere: they change nothing and show no secret.
pub fn probes(state: ApiState, scrape: Scrape) -> Router {
    answering(with_fallbacks(probe_routes(scrape)), state)
}

fn probe_routes(scrape: Scrape) -> Router<ApiState> {
    let metrics = match scrape {
        Scrape::Process => get(metrics::process),
        Scrape::Service => get(metrics::service),
    };
    Router::new().route("/livez", get(health::livez)).route("/readyz", get(health::readyz)).route("/metrics", metrics)
}

/// A fallback belongs to the routes before it, a layer to both.
fn with_fallbacks(routes: Router<ApiState>) -> Router<ApiState> {
    routes.fallback(not_found).method_not_allowed_fallback(method_not_allowed)
}

/// What every answer needs, outside all other layers.
fn answering(routes: Router<ApiState>, state: ApiState) -> Router {
    routes
        .layer(DefaultBodyLimit::max(state.config.max_body_bytes))
        .layer(middleware::from_fn_with_state(state.config.request_timeout, guard::answer))
        .with_state(state)
}

async fn not_found(uri: Uri) -> ApiError {
    ApiError::NotFound(uri.path().to_owned())
}

async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    ApiError::NotAllowed { method, path: uri.path().to_owned() }
}
