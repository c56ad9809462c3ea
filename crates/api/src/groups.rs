//! `/api/groups`: groups of stores, for which schedules of their own are made.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, Body, Caller, Changes, Listing, NoParameters, Operator, PageJson, Path, Viewer};
use contract::groups::{Group, GroupChange, GroupName, GroupPage, GroupStores};
use contract::position::Position;
use contract::problem::Problem;
use db::stores;
use db::stores::groups::GroupError;
use domain::store;

/// Maximum stores of one request.
const MAX_STORES: usize = 10_000;

#[derive(Deserialize, IntoParams)]
pub struct GroupPath {
    /// The group's name
    group: String,
}

/// Lists the groups of stores, by name.
#[utoipa::path(get, path = "/api/groups", tag = "stores", responses((status = 200, body = GroupPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { limit, cursor, .. }: Listing<NoParameters, Position<String>>,
) -> Result<PageJson<GroupPage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.as_ref().map(|Position(name)| name.as_str());
    let mut groups = stores::groups::list(&client, after, limit.with_next()).await?;
    let next = limit.next(&mut groups, |last| last.name.clone());
    Ok(PageJson::of(next, |next_cursor| GroupPage { groups, next_cursor }))
}

/// Adds stores to a group, and creates the group if it does not exist; removes stores from it. Either everything is
/// done, or nothing.
#[utoipa::path(post, path = "/api/groups/{group}/stores", tag = "stores",
               responses((status = 200, body = GroupChange), (status = 409, response = Problem)))]
pub async fn set_stores(
    changes: Changes<Operator>,
    Path(path): Path<GroupPath>,
    Body(GroupStores { add, remove }): Body<GroupStores>,
) -> Result<Response, ApiError> {
    let group = path.name()?;
    for (field, ids) in [("add", &add), ("remove", &remove)] {
        if ids.len() > MAX_STORES {
            return Err(ApiError::bad(field, format!("{} stores; the maximum is {MAX_STORES}", ids.len())));
        }
    }
    let mut change = changes.begin().await?;
    let removed = stores::groups::take_out(&change, &group, &remove).await?;
    let added = stores::groups::put_in(&change, &group, &add).await?;
    let stores = stores::groups::get(&change, &group).await?.map_or(0, |group| group.stores);
    change.audit("groups.set_stores", &group, json!({"added": added, "removed": removed, "stores": stores}));
    change.answer(StatusCode::OK, &GroupChange { group, added, removed, stores }).await
}

/// Renames a group; its schedules stay with it.
#[utoipa::path(put, path = "/api/groups/{group}", tag = "stores",
               responses((status = 200, body = Group), (status = 409, response = Problem)))]
pub async fn rename(
    changes: Changes<Operator>,
    Path(path): Path<GroupPath>,
    Body(GroupName { name }): Body<GroupName>,
) -> Result<Response, ApiError> {
    let old_name = path.name()?;
    let new_name = store::group::name(&name).map_err(|fault| ApiError::bad("name", fault))?;
    let mut change = changes.begin().await?;
    stores::groups::rename(&change, &old_name, &new_name).await?;
    let group = stores::groups::get(&change, &new_name).await?.ok_or_else(|| GroupError::Missing(new_name.clone()))?;
    change.audit("groups.rename", &old_name, json!({"name": new_name, "stores": group.stores}));
    change.answer(StatusCode::OK, &group).await
}

/// Takes all stores out of a group that no schedule is for.
#[utoipa::path(delete, path = "/api/groups/{group}", tag = "stores",
               responses((status = 204, description = "Its stores have been taken out of it"),
                         (status = 409, response = Problem)))]
pub async fn delete(changes: Changes<Operator>, Path(path): Path<GroupPath>) -> Result<StatusCode, ApiError> {
    let group = path.name()?;
    let mut change = changes.begin().await?;
    let stores = stores::groups::delete(&change, &group).await?;
    change.audit("groups.delete", &group, json!({ "stores": stores }));
    change.no_content().await
}

impl GroupPath {
    fn name(&self) -> Result<String, ApiError> {
        store::group::name(&self.group).map_err(|fault| ApiError::bad("group", fault))
    }
}

impl From<GroupError> for ApiError {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::Missing(group) => ApiError::NotFound(format!("group {group}")),
            GroupError::MissingStore(id) => ApiError::NotFound(format!("store {id}")),
            GroupError::Full(_) | GroupError::Taken(_) | GroupError::Scheduled { .. } => {
                ApiError::Conflict(error.to_string())
            }
            GroupError::Db(error) => error.into(),
        }
    }
}
