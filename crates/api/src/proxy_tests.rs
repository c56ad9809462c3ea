//! `/api/proxies/{id}/test`: one real request to the platform through a proxy. How it is sent comes in as a
//! [`ProxyTester`](super::ProxyTester), since the API knows no platforms.

use axum::Json;
use axum::extract::State;

use super::proxies::ProxyPath;
use super::{Admin, ApiError, ApiState, Changes, Path};
use contract::problem::Problem;
use contract::proxies::ProxyTest;
use db::proxies;
use domain::proxy::{ProxyId, ProxyRow};

/// Sends one request to the platform through a proxy, as tasks do. Its result changes no counts.
#[utoipa::path(post, path = "/api/proxies/{id}/test", tag = "proxies",
               responses((status = 200, body = ProxyTest), (status = 409, response = Problem)))]
pub async fn test(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
) -> Result<Json<ProxyTest>, ApiError> {
    let busy = || ApiError::Busy("other proxies are being tested: try again in a moment".to_owned());
    let _place = api.proxy_tests.try_acquire().map_err(|_| busy())?;
    let row = row(&api, id).await?;
    let address = row.proxy.address();
    let tested = (api.proxy_tester)(row).await.map_err(ApiError::Internal)?;
    // the transaction is opened after the wait for the platform
    let mut change = changes.begin().await?;
    change.audit("proxies.test", id, serde_json::json!({"address": address, "ok": tested.ok}));
    change.commit(axum::http::StatusCode::OK, serde_json::json!(tested)).await?;
    Ok(Json(tested))
}

/// Reads the proxy with its password.
async fn row(api: &ApiState, id: ProxyId) -> Result<ProxyRow, ApiError> {
    let client = api.db.api_client().await?;
    let loaded = proxies::load(&client, &api.keys).await?;
    if let Some(unreadable) = loaded.unreadable.iter().find(|unreadable| unreadable.id == id) {
        return Err(ApiError::Conflict(format!("the password of proxy {id} cannot be read: {}", unreadable.error)));
    }
    let row = loaded.rows.into_iter().find(|row| row.proxy.id == id);
    row.ok_or_else(|| ApiError::NotFound(format!("proxy {id}")))
}
