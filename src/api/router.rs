//! Every route of the API, in one table.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware;
use axum::routing::get;

use super::guard::{self, Limits};
use super::{ApiError, ApiParts, health, metrics, tasks, workers};

/// What handlers share.
pub type Shared = Arc<ApiParts>;

pub fn all(parts: Shared, limits: Limits) -> Router {
    let routes = Router::new()
        .route("/livez", get(health::livez))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(metrics::scrape))
        .route("/api/tasks", get(tasks::list).post(tasks::create))
        .route("/api/tasks/counts", get(tasks::counts))
        .route("/api/tasks/{id}", get(tasks::show))
        .route("/api/worker-registry", get(workers::list));
    guarded(routes, limits).with_state(parts)
}

pub fn probes(limits: Limits) -> Router {
    let routes = Router::new().route("/livez", get(health::livez)).route("/metrics", get(metrics::own));
    guarded(routes, limits)
}

/// A fallback belongs to the routes before it, the guard to both.
fn guarded<S: Clone + Send + Sync + 'static>(routes: Router<S>, limits: Limits) -> Router<S> {
    routes
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(limits.body_bytes))
        .layer(middleware::from_fn_with_state(limits, guard::guard))
}

async fn nowhere(uri: Uri) -> ApiError {
    ApiError::NotFound(uri.path().to_owned())
}

async fn not_so(method: Method, uri: Uri) -> ApiError {
    ApiError::NotAllowed { method, path: uri.path().to_owned() }
}
