//! `/api/worker-registry`: lists every worker as its last heartbeat describes it, and the roles.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use strum::VariantArray;
use utoipa::ToSchema;

use super::access::{Caller, Viewer};
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState};
use db::workers;
use domain::role::Role;
use domain::worker::WorkerDocument;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct Registry {
    pub workers: Vec<WorkerDocument>,
}

/// Lists every worker, as its last heartbeat describes it.
#[utoipa::path(get, path = "/api/worker-registry", tag = "workers", responses((status = 200, body = Registry)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    _: Query<NoParameters>,
) -> Result<Json<Registry>, ApiError> {
    let client = api.db.api_client().await?;
    Ok(Json(Registry { workers: workers::list(&client).await? }))
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    pub role: Role,
    /// The title, for display.
    pub name: String,
    pub description: String,
    /// The module that runs it; None for a role without a handler in this program.
    pub handler: Option<String>,
}

impl From<Role> for RoleView {
    fn from(role: Role) -> Self {
        let spec = role.spec();
        RoleView {
            role,
            name: spec.title.to_owned(),
            description: spec.description.to_owned(),
            handler: role.handler().map(str::to_owned),
        }
    }
}

/// Lists the roles of tasks.
#[utoipa::path(get, path = "/api/worker-registry/roles", tag = "workers", responses((status = 200, body = Vec<RoleView>)))]
pub async fn roles(_: Caller<Viewer>, _: Query<NoParameters>) -> Json<Vec<RoleView>> {
    Json(Role::VARIANTS.iter().copied().map(RoleView::from).collect())
}
