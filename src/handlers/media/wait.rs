//! `Wait`: a service is not to be asked for a time. `ask`: one request to it, which may end so.
//!
//! In: a request. Out: an answer that asks for no wait. It must not know what is asked.

use std::time::Duration;

use hyper::StatusCode;

use super::MediaServices;
use public_http::host_gate::HeldHost;
use public_http::retry_after::retry_after;
use public_http::{Answer, Get, HttpError};
use queue::TaskError;

/// A host asks to wait, or is not asked now; or another run has the item.
#[derive(Debug)]
pub struct Wait {
    pub reason: String,
    pub after: Option<Duration>,
    /// The host itself asks, by its answer: it is about one thing, or about all.
    pub is_answer: bool,
    /// The host whose open breaker is the cause.
    pub until_closed: Option<String>,
}

/// A request without an answer of use.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("{}", .0.reason)]
    Wait(Wait),
    #[error(transparent)]
    Http(HttpError),
}

/// A wait that names no time.
const WITHOUT_TIME: Duration = Duration::from_secs(60);

/// Sends one request, when its host may be asked. An answer 503 that names no time asks for no wait: one thing that
/// always fails so would keep all others waiting.
pub async fn ask(media: &MediaServices, get: &Get) -> Result<Answer, AskError> {
    let answer = media.http.get(get).await?;
    let after = match (answer.status, retry_after(&answer.headers)) {
        (StatusCode::TOO_MANY_REQUESTS, after) => after.unwrap_or(WITHOUT_TIME),
        (StatusCode::SERVICE_UNAVAILABLE, Some(after)) => after,
        _ => return Ok(answer),
    };
    let reason = format!("{} asks to wait: {}", answer.url.host_str().unwrap_or_default(), answer.status);
    Err(AskError::Wait(Wait { is_answer: true, ..Wait::new(reason, Some(after)) }))
}

impl Wait {
    pub fn new(reason: String, after: Option<Duration>) -> Wait {
        Wait { reason, after, is_answer: false, until_closed: None }
    }

    /// The shorter one; one that names no time is soon over.
    pub fn min(self, other: Option<Wait>) -> Wait {
        match other {
            Some(other) if other.after <= self.after => other,
            _ => self,
        }
    }
}

impl From<HeldHost> for Wait {
    fn from(HeldHost { reason, after, until_closed }: HeldHost) -> Self {
        Wait { reason, after, is_answer: false, until_closed }
    }
}

impl From<Wait> for TaskError {
    fn from(Wait { reason, after, until_closed, .. }: Wait) -> Self {
        TaskError::Snooze { reason, after, host: until_closed }
    }
}

impl From<HttpError> for AskError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Held(held) => AskError::Wait(held.into()),
            other => AskError::Http(other),
        }
    }
}
