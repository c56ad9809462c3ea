//! `/api/stores/bulk`: one action on many stores, which are counted first.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::{ApiError, Body, Changes, Operator};
use contract::store_bulk::{StoreBulkAnswer, StoreBulkRequest};
use db::stores;
use db::stores::bulk::StoreBulkError;

/// Crawls, enables, disables or groups the stores that a filter finds, or those with the given ids: all that the action can change, or
/// none. At most 10,000 in one request.
#[utoipa::path(post, path = "/api/stores/bulk", tag = "stores", responses((status = 200, body = StoreBulkAnswer)))]
pub async fn bulk(changes: Changes<Operator>, Body(request): Body<StoreBulkRequest>) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let answer = stores::bulk::bulk(&change, &request).await?;
    if !request.dry_run {
        let StoreBulkAnswer { matched, done, raised, .. } = answer;
        let detail = json!({"request": request, "matched": matched, "done": done, "raised": raised});
        change.audit("stores.bulk", request.action, detail);
    }
    change.answer(StatusCode::OK, &answer).await
}

impl From<StoreBulkError> for ApiError {
    fn from(error: StoreBulkError) -> Self {
        match error {
            StoreBulkError::Bad(bad) => bad.into(),
            StoreBulkError::Group(error) => error.into(),
            StoreBulkError::Db(error) => error.into(),
        }
    }
}
