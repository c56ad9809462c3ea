//! `/api/notifications`: notifications of ended jobs, and tries of their endpoints.

use axum::Json;
use axum::response::Response;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::media::RecordPath;
use super::{ApiError, Caller, Change, Changes, Listing, Operator, Page, PageJson, Path, Viewer};
use contract::cursor::Cursor;
use contract::media::endpoints::Endpoint;
use contract::notifications::{NotificationFilter, NotificationPage, NotificationView};
use contract::problem::Problem;
use db::{Client, DbError, notifications};
use domain::notification::NotificationId;

#[derive(Deserialize, IntoParams)]
pub struct NotificationPath {
    /// The notification's id
    id: NotificationId,
}

/// Lists notifications, newest first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/notifications", tag = "media", responses((status = 200, body = NotificationPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<NotificationFilter>,
) -> Result<PageJson<NotificationPage>, ApiError> {
    let client = caller.client().await?;
    let filter = NotificationFilter { after: cursor.map(|Cursor(id)| id), ..filter };
    let found = notifications::list(&client, &filter, limit.with_next()).await?;
    let page = Page::of(found, limit, |notification| notification.id);
    Ok(page.json(|notifications, next_cursor| NotificationPage { notifications, next_cursor }))
}

/// Shows a notification with its delivery.
#[utoipa::path(get, path = "/api/notifications/{id}", tag = "media", responses((status = 200, body = NotificationView)))]
pub async fn show(
    caller: Caller<Viewer>,
    Path(NotificationPath { id }): Path<NotificationPath>,
) -> Result<Json<NotificationView>, ApiError> {
    found(&caller.client().await?, id).await.map(Json)
}

/// Sends a notification again, under the same id and with all of its attempts.
#[utoipa::path(post, path = "/api/notifications/{id}/resend", tag = "media",
               responses((status = 200, body = NotificationView), (status = 409, response = Problem)))]
pub async fn resend(
    changes: Changes<Operator>,
    Path(NotificationPath { id }): Path<NotificationPath>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let endpoint = found(&change, id).await?.endpoint_id;
    check_enabled(&change, endpoint).await?;
    notifications::resend(&change, id, endpoint).await?;
    change.audit("notifications.resend", format!("notification {id}"), json!({}));
    let sent = found(&change, id).await?;
    change.answer(StatusCode::OK, &sent).await
}

/// Tests an endpoint with a notification that is sent once; the notification's address shows the result.
#[utoipa::path(post, path = "/api/media/endpoints/{id}/test", tag = "media",
               responses((status = 201, body = NotificationView), (status = 409, response = Problem)))]
pub async fn test(changes: Changes<Operator>, Path(RecordPath { id }): Path<RecordPath>) -> Result<Response, ApiError> {
    let mut change: Change = changes.begin().await?;
    check_enabled(&change, id).await?;
    let made = notifications::insert_test(&change, id).await?;
    change.audit("media.test", format!("endpoint {id}"), json!({"notification": made}));
    let notification = found(&change, made).await?;
    change.created(format!("/api/notifications/{made}"), &notification).await
}

async fn found(client: &Client, id: NotificationId) -> Result<NotificationView, ApiError> {
    let filter = NotificationFilter { id: Some(id), ..NotificationFilter::default() };
    let found: Result<Vec<NotificationView>, DbError> = notifications::list(client, &filter, 1).await;
    found?.pop().ok_or_else(|| ApiError::NotFound(format!("notification {id}")))
}

/// A disabled endpoint is sent nothing.
async fn check_enabled(client: &Client, id: i64) -> Result<(), ApiError> {
    let endpoint: Endpoint = db::media::records::get(client, id).await?;
    if endpoint.enabled {
        return Ok(());
    }
    let reason = endpoint.disabled_reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let remedy = format!("enable it with `drover media set endpoints {id} enabled=true`");
    Err(ApiError::Conflict(format!("endpoint {id} is disabled{reason}: {remedy}")))
}
