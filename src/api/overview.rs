//! `/api/overview`: what somebody asks first, in one small answer.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::access::{Caller, Viewer};
use super::query::Query;
use super::{ApiError, ApiState};
use crate::db::overview::{self, Overview};

/// Of failures; a day of them is read from an index.
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

fn one() -> i32 {
    1
}

/// What waits longest, what fails and why, and how old the stores' menus are.
#[utoipa::path(get, path = "/api/overview", tag = "service", params(OverviewQuery), responses((status = 200, body = Overview)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(OverviewQuery { hours }): Query<OverviewQuery>,
) -> Result<Json<Overview>, ApiError> {
    if !(1..=MAX_HOURS).contains(&hours) {
        return Err(ApiError::bad("hours", format!("{hours} is out of range (1 to {MAX_HOURS})")));
    }
    Ok(Json(overview::read(&api.db.api_client().await?, hours).await?))
}
