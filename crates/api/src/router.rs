//! Every route, in one table, with the layers around them.

use std::future::ready;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, Method, Uri};
use axum::middleware;
use axum::response::{Redirect, Response};
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;

// every resource of the API is named in the table
use super::endpoint::endpoints;
use super::*;

/// Every endpoint, with its operation in the OpenAPI document.
pub fn endpoints() -> OpenApiRouter<ApiState> {
    endpoints![
        health::livez,
        health::readyz,
        metrics::show,
        openapi::show,
        stream::events,
        overview::show,
        overview::navigation,
        tasks::list,
        tasks::create,
        tasks::counts,
        tasks::show,
        task_changes::update,
        task_changes::remove,
        task_changes::cancel,
        task_changes::retry,
        capacity::list,
        capacity::show,
        forecast::show,
        completions::last,
        completions::recent,
        completions::active_of_store,
        generation::recover_stale,
        generation::resync,
        generation::discovery,
        operations::bulk,
        operations::show,
        job_queue::enqueue,
        job_queue::enqueue_batch,
        job_queue::enqueue_state,
        job_queue::pods,
        groups::list,
        groups::set_stores,
        groups::rename,
        groups::delete,
        retailers::list,
        retailers::match_all,
        retailers::show,
        retailers::rename,
        retailers::proposals,
        retailers::decide,
        retailers::take_out,
        retailers::import_licences,
        schedules::list,
        schedules::show,
        schedules::create,
        schedules::update,
        schedules::remove,
        schedules::trigger,
        schedules::runs,
        job_imports::import,
        jobs::list,
        jobs::show,
        jobs::create,
        jobs::update,
        jobs::cancel,
        jobs::retry,
        jobs::remove,
        jobs::now,
        media_items::list,
        media_items::show,
        media::accounts::list,
        media::accounts::show,
        media::accounts::create,
        media::accounts::update,
        media::accounts::remove,
        media::credentials::list,
        media::credentials::show,
        media::credentials::create,
        media::credentials::update,
        media::credentials::remove,
        media::forums::list,
        media::forums::show,
        media::forums::create,
        media::forums::update,
        media::forums::remove,
        media::people::list,
        media::people::show,
        media::people::create,
        media::people::update,
        media::people::remove,
        media::searches::list,
        media::searches::show,
        media::searches::create,
        media::searches::update,
        media::searches::remove,
        media::threads::list,
        media::threads::show,
        media::threads::create,
        media::threads::update,
        media::threads::remove,
        media::change_rules::list,
        media::change_rules::show,
        media::change_rules::create,
        media::change_rules::update,
        media::change_rules::remove,
        changes::rehearse,
        media::channels::list,
        media::channels::show,
        media::channels::create,
        media::channels::update,
        media::channels::remove,
        media::endpoints::list,
        media::endpoints::show,
        media::endpoints::create,
        media::endpoints::update,
        media::endpoints::remove,
        media::rules::list,
        media::rules::show,
        media::rules::create,
        media::rules::update,
        media::rules::remove,
        notifications::list,
        notifications::show,
        notifications::resend,
        notifications::test,
        legacy::status,
        legacy::disable_old_schedules,
        legacy::cancel_pending_crawl_jobs,
        legacy::create_resync_tasks,
        legacy::full_migrate,
        workers::list,
        workers::roles,
        worker_reports::register,
        worker_reports::heartbeat,
        worker_reports::deregister,
        worker_commands::decommission,
        worker_commands::pause,
        worker_commands::resume,
        worker_replicas::show,
        worker_replicas::scale,
        pauses::list,
        pauses::create,
        pauses::remove,
        proxies::list,
        proxies::show,
        proxies::create,
        proxies::update,
        proxies::remove,
        proxies::import,
        proxy_tests::test,
        hosts::list,
        hosts::show,
        hosts::update,
        hosts::reset,
        config::show,
        retention::show,
        quality::list,
        audit::list,
        tokens::list,
        tokens::create,
        tokens::revoke,
        session::show,
        session::log_in,
        session::log_out,
        payloads::list,
        payloads::of_store,
        payloads::latest,
        payloads::diff,
        payloads::show,
        payloads::data,
        stores::list,
        store_bulk::bulk,
        store_imports::import,
        stores::show,
        stores::set,
        stores::remove,
        stores::accept_empty,
        stores::accept,
        stores::products,
        changes::list,
        products::search,
        products::show,
        products::history,
        exports::show,
        analytics::store_summary,
        analytics::brand_presence,
        analytics::category_mix,
        analytics::price_trend,
        prices::unit_prices,
        prices::price_changes,
        visitors::list,
        stats::series,
        geo::show,
        images::show,
        images::product,
        images::brand,
    ]
}

/// The whole API and `pages`, for requests from the network.
pub fn api(state: ApiState, pages: Router<ApiState>) -> Router {
    let network = middleware::from_fn_with_state(state.clone(), authenticate::network);
    let routes = with_fallbacks(Router::from(endpoints()).merge(pages)).layer(network);
    answering(below(state.config.base_path.clone(), routes), state)
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

/// Puts everything under `base_path`, of which the routes know nothing; what they make can then be found there.
fn below(base_path: String, routes: Router<ApiState>) -> Router<ApiState> {
    if base_path.is_empty() {
        return routes;
    }
    let prefix = base_path.clone();
    let located = middleware::map_response(move |response| ready(located_below(&prefix, response)));
    let overview = format!("{base_path}/admin");
    Router::new()
        // which the nested routes do not hold
        .route(&format!("{base_path}/"), get(async move || Redirect::to(&overview)))
        .nest(&base_path, routes.layer(located))
        .fallback(not_found)
}

fn located_below(base_path: &str, mut response: Response) -> Response {
    if let Some(location) = response.headers_mut().get_mut(LOCATION)
        && let Ok(below) = HeaderValue::try_from([base_path.as_bytes(), location.as_bytes()].concat())
    {
        *location = below;
    }
    response
}

/// A fallback belongs to the routes before it, a layer to both.
fn with_fallbacks(routes: Router<ApiState>) -> Router<ApiState> {
    routes.fallback(not_found).method_not_allowed_fallback(method_not_allowed)
}

/// Adds the layers of every answer, outside all other layers.
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
