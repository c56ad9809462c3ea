//! `/api/retention`: the ages that data is kept for, and the removals of the latest runs of retention.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ApiError, ApiState, Caller, Viewer};
use contract::retention::LastRetentionRun;
use db::retention_runs;
use settings::Setting;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Retention {
    /// The keys of the section `retention` of the configuration; an empty age keeps data forever.
    pub settings: Vec<Setting>,
    /// The latest run of each kind; none if there was none yet.
    pub runs: Vec<LastRetentionRun>,
}

/// Shows how long tasks and crawled data are kept, and what was last removed.
#[utoipa::path(get, path = "/api/retention", tag = "service", responses((status = 200, body = Retention)))]
pub async fn show(_: Caller<Viewer>, State(api): State<ApiState>) -> Result<Json<Retention>, ApiError> {
    let settings = &api.live.current().settings;
    let settings = settings.iter().filter(|setting| setting.key.starts_with("retention.")).cloned().collect();
    let runs = retention_runs::list(&api.db.api_client().await?).await?;
    Ok(Json(Retention { settings, runs }))
}
