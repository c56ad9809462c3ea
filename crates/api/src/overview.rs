//! `/api/overview`: status summary for the overview page.

use axum::Json;
use axum::extract::State;

use super::{ApiError, ApiState, Caller, Query, Viewer, store_hosts};
use contract::overview::{ImagesServed, Navigation, Overview, OverviewAnswer, OverviewQuery};
use contract::verdict::{Facts, StoresOfHost, Verdict};
use db::tasks;
use telemetry::metrics;

/// Maximum time span of failures; a day of them is read from an index.
const MAX_HOURS: i32 = 24;

fn images_served() -> ImagesServed {
    let of = |source: &str| metrics::IMAGES_SERVED.with_label_values(&[source]).get();
    ImagesServed { rendered: of("rendered"), cached: of("memory") + of("disk"), original: of("original") }
}

/// The state in one answer, read from one snapshot: tasks by status and role, running tasks, workers, longest waits,
/// failures with their reasons, ages of the stores' menus, and proxies by their health.
#[utoipa::path(get, path = "/api/overview", tag = "service", responses((status = 200, body = OverviewAnswer)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(OverviewQuery { hours }): Query<OverviewQuery>,
) -> Result<Json<OverviewAnswer>, ApiError> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(ApiError::bad("hours", format!("{hours} is out of range (1 to {MAX_HOURS})")));
    }
    let snapshot = api.db.api_snapshot().await?;
    let overview = tasks::overview::read(&snapshot, hours, api.budgets(), &*api.image_is_permitted).await?;
    let hosts = store_hosts::read(&api, &snapshot).await?;
    Ok(Json(OverviewAnswer {
        verdict: verdict(&overview, &hosts),
        overview,
        images_served: images_served(),
        breaker_share: api.politeness.current().breaker_share,
    }))
}

fn verdict(overview: &Overview, hosts: &[StoresOfHost]) -> Verdict {
    Verdict::of(&Facts {
        counts: &overview.counts,
        ready: &overview.ready,
        workers: &overview.workers,
        stores: &overview.stores,
        hosts,
        proxies: &overview.proxies,
        usable_proxies: overview.usable_proxies,
        resting: &overview.resting_proxies,
        pauses: &overview.pauses,
        next_run_at: overview.next_run_at,
        now: overview.now,
    })
}

/// The numbers beside the names of the dashboard's pages: proxies, hosts and stores in trouble, stores and products.
#[utoipa::path(get, path = "/api/overview/navigation", tag = "service", responses((status = 200, body = Navigation)))]
pub async fn navigation(caller: Caller<Viewer>) -> Result<Json<Navigation>, ApiError> {
    Ok(Json(tasks::overview::navigation(&caller.client().await?).await?))
}
