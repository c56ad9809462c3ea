//! `notifications` of ended jobs, as their sender and people read and change them. A trigger writes the rows of a job
//! in the transaction that ends it; endpoints and rules are [`super::media::records`].

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_postgres::types::Json;

use super::{Client, DbError, Tx};
use crate::statements::{FromRow, document, first_column, json, known_word, named, read_all, reason, rows, sql, word};
use contract::notifications::{NotificationFilter, NotificationView};
use domain::notification::recipient::Recipients;
use domain::notification::{EndpointId, EndpointKind, MAX_AGE, NotificationId, NotificationState};

/// The notification that is sent next, with its endpoint.
#[derive(Clone, Debug)]
pub struct NextNotification {
    pub id: NotificationId,
    /// Its id at the receiver, which is the same in every try.
    pub message_id: String,
    pub event: String,
    pub body: Value,
    /// The answers of the tries before, for the recipients of a mail.
    pub recipients: Recipients,
    pub attempts: i32,
    pub created_at: DateTime<Utc>,
    pub kind: EndpointKind,
    pub target: String,
    pub credential_id: Option<i64>,
    pub previous_credential_id: Option<i64>,
    /// Whether those behind it wait while it does.
    pub holds_back: bool,
    /// Seconds until it may be sent.
    pub wait: f64,
    /// This is its last try, however few there were.
    pub is_old: bool,
}

/// How a try to send a notification ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedTry {
    pub id: NotificationId,
    pub state: NotificationState,
    /// The answer's, of HTTP or SMTP.
    pub status: Option<u16>,
    pub error: Option<String>,
    /// Time until the next try, of one that is still pending.
    pub wait: Duration,
    /// The answers of this try, for the recipients of a mail.
    pub recipients: Recipients,
    /// The endpoint that is gone, with the reason.
    pub disabled: Option<(EndpointId, String)>,
}

/// None: the endpoint is disabled, gone, or has been sent everything.
pub async fn next(client: &Client, endpoint: EndpointId) -> Result<Option<NextNotification>, DbError> {
    let sql = sql!("notifications/next.sql");
    let row = client.query_opt(sql, &[&endpoint, &MAX_AGE.as_secs_f64()]).await?;
    row.as_ref().map(NextNotification::from_row).transpose()
}

/// Writes at once how a try ended, whatever becomes of the run that made it: its receiver has answered.
pub async fn end_try(client: &Client, ended: &EndedTry) -> Result<(), DbError> {
    let EndedTry { id, state, status, error, wait, recipients, disabled } = ended;
    let (status, error) = (status.map(i32::from), error.as_deref().map(reason));
    let (endpoint, why) = disabled.as_ref().map(|(endpoint, why)| (*endpoint, reason(why))).unzip();
    named!(client.execute(
        "notifications/end_try.sql",
        id,
        state = state.name(),
        status,
        error,
        wait = wait.as_secs_f64(),
        recipients = Json(recipients),
        endpoint,
        why
    ))
    .await
    .map(drop)
}

/// Lists at most `limit` notifications, in the filter's order.
pub async fn list(client: &Client, filter: &NotificationFilter, limit: i64) -> Result<Vec<NotificationView>, DbError> {
    let NotificationFilter { id, endpoint, state, sort, after } = filter;
    let state = state.map(NotificationState::name);
    read_all(&named!(client.query(by_age("notifications/list.sql", *sort), id, endpoint, state, after, limit)).await?)
}

/// Makes a notification that tries an endpoint, and lets the sender run; returns its id.
pub async fn insert_test(tx: &Tx, endpoint: EndpointId) -> Result<NotificationId, DbError> {
    let row = tx.query_one(sql!("notifications/insert_test.sql"), &[&endpoint]).await?;
    hasten(tx, endpoint).await?;
    first_column(&row)
}

/// Lets a notification be sent again, whatever became of it.
pub async fn resend(tx: &Tx, id: NotificationId, endpoint: EndpointId) -> Result<(), DbError> {
    tx.execute(sql!("notifications/resend.sql"), &[&id]).await?;
    hasten(tx, endpoint).await
}

/// Removes at most `batch` ended notifications that are older than these ages; returns their number.
pub async fn prune(client: &Client, delivered: Duration, failed: Duration, batch: i64) -> Result<u64, DbError> {
    let sql = sql!("notifications/prune.sql");
    client.execute(sql, &[&delivered.as_secs_f64(), &failed.as_secs_f64(), &batch]).await
}

async fn hasten(tx: &Tx, endpoint: EndpointId) -> Result<(), DbError> {
    tx.query_one("SELECT FROM hasten_notify($1)", &[&endpoint]).await.map(drop)
}

rows! {
    NextNotification {
        id, message_id, event,
        body: json,
        recipients: document,
        attempts, created_at,
        kind: known_word,
        target, credential_id, previous_credential_id, holds_back, wait, is_old,
    }
    NotificationView {
        id, endpoint_id, endpoint, event, subject, message_id,
        body: json,
        state: word,
        recipients: document,
        attempts, next_attempt_at, last_status, last_error, created_at, ended_at,
    }
}
