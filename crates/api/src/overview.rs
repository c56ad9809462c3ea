//! `/api/overview`: status summary for the overview page.

use axum::Json;
use axum::extract::State;

use super::access::{Caller, Viewer};
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState};
use contract::overview::{ImagesServed, Navigation, OverviewAnswer, OverviewQuery};
use db::overview;
use telemetry::metrics;

/// Maximum time span of failures; a day of them is read from an index.
const MAX_HOURS: i32 = 24;

fn images_served() -> ImagesServed {
    let of = |source: &str| metrics::IMAGES_SERVED.with_label_values(&[source]).get();
    ImagesServed { rendered: of("rendered"), cached: of("memory") + of("disk"), original: of("original") }
}

/// The state in one answer, read in one moment: tasks by status and role, running tasks, workers, longest waits, failures with
/// their reasons, ages of the stores' menus, and proxies by their health.
#[utoipa::path(get, path = "/api/overview", tag = "service", responses((status = 200, body = OverviewAnswer)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(OverviewQuery { hours }): Query<OverviewQuery>,
) -> Result<Json<OverviewAnswer>, ApiError> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(ApiError::bad("hours", format!("{hours} is out of range (1 to {MAX_HOURS})")));
    }
    let overview = overview::read(&api.db.api_snapshot().await?, hours, api.budgets()).await?;
    Ok(Json(OverviewAnswer {
        overview,
        images_served: images_served(),
        breaker_share: api.politeness.current().breaker_share,
    }))
}

/// The numbers beside the names of the dashboard's pages: proxies, hosts and stores in trouble, stores and products.
#[utoipa::path(get, path = "/api/overview/navigation", tag = "service", responses((status = 200, body = Navigation)))]
pub async fn navigation(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    _: Query<NoParameters>,
) -> Result<Json<Navigation>, ApiError> {
    Ok(Json(overview::navigation(&api.db.api_client().await?).await?))
}
