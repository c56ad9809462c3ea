//! `/api/overview`: status summary for the overview page.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Viewer};
use super::query::Query;
use super::{ApiError, ApiState};
use db::overview::{self, Overview};
use telemetry::metrics;

/// Maximum time span of failures; a day of them is read from an index.
const MAX_HOURS: i32 = 24;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OverviewQuery {
    /// How far back failures are counted.
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 24, default = 1)]
    hours: i32,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverviewAnswer {
    #[serde(flatten)]
    pub overview: Overview,
    pub images_served: ImagesServed,
}

/// Images that this process answered since it started, by where they came from.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImagesServed {
    pub rendered: u64,
    /// From the cache, in memory or on disk.
    pub cached: u64,
    /// As they are stored.
    pub original: u64,
}

impl ImagesServed {
    fn now() -> ImagesServed {
        let of = |source: &str| metrics::IMAGES_SERVED.with_label_values(&[source]).get();
        ImagesServed { rendered: of("rendered"), cached: of("memory") + of("disk"), original: of("original") }
    }
}

fn one() -> i32 {
    1
}

/// What waits longest, what fails and why, and how old the stores' menus are.
#[utoipa::path(get, path = "/api/overview", tag = "service", params(OverviewQuery), responses((status = 200, body = OverviewAnswer)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(OverviewQuery { hours }): Query<OverviewQuery>,
) -> Result<Json<OverviewAnswer>, ApiError> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(ApiError::bad("hours", format!("{hours} is out of range (1 to {MAX_HOURS})")));
    }
    let overview = overview::read(&api.db.api_client().await?, hours).await?;
    Ok(Json(OverviewAnswer { overview, images_served: ImagesServed::now() }))
}
