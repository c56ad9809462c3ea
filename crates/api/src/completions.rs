//! A role's completed tasks, and a store's tasks under way.

use axum::Json;

use super::path::{Path, Roles};
use super::stores::{StorePath, require_store};
use super::{ApiError, Caller, Query, Viewer};
use contract::tasks::{ActiveTask, RecentQuery, RecentTasks, RoleCompletion};
use db::tasks::views::completions;
use db::tasks::views::completions::LastCompletion;

/// Shows when a role last completed a task.
#[utoipa::path(get, path = "/api/tasks/role/{role}/last-completion", tag = "tasks",
               responses((status = 200, body = RoleCompletion)))]
pub async fn last(caller: Caller<Viewer>, Roles { role, roles }: Roles) -> Result<Json<RoleCompletion>, ApiError> {
    let client = caller.client().await?;
    let LastCompletion { task_id, completed_at } = completions::last(&client, &roles).await?;
    Ok(Json(RoleCompletion { role, task_id, completed_at }))
}

/// Lists the tasks that a role has completed, the last one first.
#[utoipa::path(get, path = "/api/tasks/role/{role}/recent", tag = "tasks",
               responses((status = 200, body = RecentTasks)))]
pub async fn recent(
    caller: Caller<Viewer>,
    Roles { roles, .. }: Roles,
    Query(RecentQuery { limit }): Query<RecentQuery>,
) -> Result<Json<RecentTasks>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(RecentTasks { tasks: completions::recent(&client, &roles, limit.rows()).await? }))
}

/// Shows the task of a store that a worker holds.
#[utoipa::path(get, path = "/api/tasks/store/{id}/active", tag = "tasks", responses((status = 200, body = ActiveTask)))]
pub async fn active_of_store(
    caller: Caller<Viewer>,
    Path(StorePath { id }): Path<StorePath>,
) -> Result<Json<ActiveTask>, ApiError> {
    let client = caller.client().await?;
    require_store(&client, id).await?;
    Ok(Json(ActiveTask { task: completions::active_of_store(&client, id).await? }))
}
