//! `/api/config`: the effective configuration of the process that answers, with secrets masked.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Admin, ApiError, ApiState, Caller};
use settings::Setting;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Settings {
    pub settings: Vec<Setting>,
}

/// Lists every setting with its value, and the file, variable or flag that set it. Secrets are masked.
#[utoipa::path(get, path = "/api/config", tag = "service", responses((status = 200, body = Settings)))]
pub async fn show(_: Caller<Admin>, State(api): State<ApiState>) -> Result<Json<Settings>, ApiError> {
    Ok(Json(Settings { settings: api.live.current().settings.clone() }))
}
