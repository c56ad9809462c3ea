//! Every route, in one table, with the layers around them.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Uri};
use axum::middleware;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;

use super::endpoint::endpoints;
use super::{
    ApiError, ApiState, Scrape, audit, authenticate, guard, health, metrics, openapi, session, stream, tasks, tokens,
    workers,
};

/// Every endpoint, with its operation in the OpenAPI document.
pub fn endpoints() -> OpenApiRouter<ApiState> {
    endpoints![
        health::livez,
        health::readyz,
        metrics::show,
        openapi::show,
        stream::events,
        tasks::list,
        tasks::create,
        tasks::counts,
        tasks::show,
        workers::list,
        workers::roles,
        audit::list,
        tokens::list,
        tokens::create,
        tokens::revoke,
        session::show,
        session::log_in,
        session::log_out,
    ]
}

/// The whole API, for requests from the network.
pub fn api(state: ApiState) -> Router {
    let network = middleware::from_fn_with_state(state.clone(), authenticate::network);
    answering(with_fallbacks(endpoints().into()).layer(network), state)
}

/// The whole API, for the commands of this process: they have the database itself, so they may do everything.
pub fn command_line(state: ApiState) -> Router {
    let command_line = middleware::from_fn(authenticate::command_line);
    answering(with_fallbacks(endpoints().into()).layer(command_line), state)
}

/// Probes and metrics alone, for requests from anywhere: they change nothing and show no secret.
pub fn probes(state: ApiState, scrape: Scrape) -> Router {
    let metrics = match scrape {
        Scrape::Process => get(metrics::process),
        Scrape::Service => get(metrics::service),
    };
    let routes = endpoints![health::livez, health::readyz];
    answering(with_fallbacks(Router::from(routes).route("/metrics", metrics)), state)
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
