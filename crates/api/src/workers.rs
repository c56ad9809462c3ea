//! `/api/worker-registry`: lists every worker as its last heartbeat describes it, and the roles.

use axum::Json;
use axum::extract::State;

use super::{ApiError, ApiState, Caller, Viewer};
use contract::workers::{Registry, RoleView};
use db::workers;

/// Lists every worker, as its last heartbeat describes it.
#[utoipa::path(get, path = "/api/worker-registry", tag = "workers", responses((status = 200, body = Registry)))]
pub async fn list(_: Caller<Viewer>, State(api): State<ApiState>) -> Result<Json<Registry>, ApiError> {
    let client = api.db.api_client().await?;
    Ok(Json(Registry { workers: workers::list(&client).await?, in_kubernetes: api.cluster.is_configured() }))
}

/// Lists the roles of tasks.
#[utoipa::path(get, path = "/api/worker-registry/roles", tag = "workers", responses((status = 200, body = Vec<RoleView>)))]
pub async fn roles(_: Caller<Viewer>) -> Json<Vec<RoleView>> {
    Json(RoleView::all())
}
