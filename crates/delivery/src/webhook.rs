//! Webhooks as the Standard Webhooks describe them.

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, Utc};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::json;
use url::Url;

use super::{Handed, Notice, SendError, SendSecrets, judged};
use foundation::webhook_signature::WebhookKey;
use public_http::Http;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

pub async fn send(
    http: &Http,
    url: &Url,
    notice: &Notice,
    secrets: &SendSecrets,
    now: DateTime<Utc>,
    handed: &Handed,
) -> Result<u16, SendError> {
    let timestamp = notice.created_at.to_rfc3339_opts(SecondsFormat::Millis, true);
    let body = json!({"type": notice.event, "timestamp": timestamp, "data": notice.body}).to_string();
    let headers = headers(notice, secrets, now.timestamp(), body.as_bytes())?;
    judged(&http.post(url, &headers, Bytes::from(body), || handed.note()).await?)
}

fn headers(notice: &Notice, secrets: &SendSecrets, now: i64, body: &[u8]) -> Result<HeaderMap, SendError> {
    let id = &notice.message_id;
    let current = secrets.current.as_deref().ok_or(SendError::NoSecret)?;
    let mut signatures = WebhookKey::parse(current)?.sign(id, now, body)?;
    if let Some(previous) = &secrets.previous {
        signatures = format!("{signatures} {}", WebhookKey::parse(previous)?.sign(id, now, body)?);
    }
    let value = |text: String| HeaderValue::try_from(text).map_err(|_| SendError::NotSendable);
    Ok(HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static("drover")),
        (ID, value(id.clone())?),
        (TIMESTAMP, HeaderValue::from(now)),
        (SIGNATURE, value(signatures)?),
    ]))
}
