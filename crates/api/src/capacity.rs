//! `/api/tasks/capacity`: how many tasks wait and run, how long one takes, and how many workers they need.

use axum::Json;

use super::path::Roles;
use super::{ApiError, Caller, Viewer};
use contract::tasks::RoleCapacity;
use db::tasks::views::capacity;
use domain::worker::capacity::Capacity;

/// Counts waiting and running tasks for each role with open tasks or with tasks that ended within a day.
#[utoipa::path(get, path = "/api/tasks/capacity", tag = "tasks", responses((status = 200, body = Vec<Capacity>)))]
pub async fn list(caller: Caller<Viewer>) -> Result<Json<Vec<Capacity>>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(capacity::by_role(&client).await?))
}

/// Counts the waiting and running tasks of a role, and shows how many workers it needs.
#[utoipa::path(get, path = "/api/tasks/capacity/{role}", tag = "tasks", responses((status = 200, body = RoleCapacity)))]
pub async fn show(caller: Caller<Viewer>, Roles { role, roles }: Roles) -> Result<Json<RoleCapacity>, ApiError> {
    let client = caller.client().await?;
    let capacity = capacity::of(&client, &roles, &role).await?;
    Ok(Json(RoleCapacity { workers_needed: capacity.workers_needed(), capacity }))
}
