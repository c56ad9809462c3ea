//! The error of an answer of Kubernetes without success: its status and its text.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::response::Parts;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use settings::Kubernetes;

use crate::error::ClusterError;

/// Pause for a server that does not say when to try again.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(3600);
const MAX_MESSAGE_CHARS: usize = 300;

pub fn of(settings: &Kubernetes, head: &Parts, body: &[u8]) -> ClusterError {
    let target = format!("the StatefulSet {} in the namespace {}", settings.statefulset, settings.namespace);
    let message = message(body);
    match head.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ClusterError::Forbidden { target, message },
        StatusCode::NOT_FOUND => ClusterError::Missing { target },
        StatusCode::CONFLICT => ClusterError::Conflict { target },
        StatusCode::TOO_MANY_REQUESTS => ClusterError::Throttled(pause(&head.headers)),
        status => ClusterError::Refused { status, message },
    }
}

/// The text of a `Status`; of an answer that is not one, as an overloaded server sends it, the text itself.
fn message(body: &[u8]) -> String {
    let status: Option<Value> = serde_json::from_slice(body).ok();
    let text = status.as_ref().and_then(|status| status["message"].as_str()).map(str::to_owned);
    let text = text.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned());
    text.chars().take(MAX_MESSAGE_CHARS).collect()
}

fn pause(headers: &HeaderMap) -> Duration {
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(|text| text.parse().ok());
    seconds.map_or(DEFAULT_PAUSE, Duration::from_secs).clamp(DEFAULT_PAUSE, MAX_PAUSE)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::as_it_says(Some("7"), 7)]
    #[case::without_a_time(None, 1)]
    #[case::a_date(Some("Wed, 21 Oct 2026 07:28:00 GMT"), 1)]
    #[case::at_once(Some("0"), 1)]
    #[case::a_year(Some("31536000"), 3600)]
    fn a_throttled_caller_waits(#[case] header: Option<&'static str>, #[case] seconds: u64) {
        let mut headers = HeaderMap::new();
        headers.extend(header.map(|text| (RETRY_AFTER, text.parse().unwrap())));
        assert_eq!(pause(&headers), Duration::from_secs(seconds));
    }

    #[rstest]
    #[case::of_a_status(br#"{"kind": "Status", "message": "no such thing"}"#, "no such thing")]
    #[case::of_a_text(b"Too many requests\n", "Too many requests")]
    #[case::of_bytes(b"\xff", "\u{fffd}")]
    fn an_answer_has_a_message(#[case] body: &[u8], #[case] expected: &str) {
        assert_eq!(message(body), expected);
    }
}
