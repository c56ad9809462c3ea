//! `HostGate`: the limits of hosts, as a request meets them: it waits for its turn, and its outcome is reported.
//!
//! In: a host. Out: a [`Turn`], or a [`HeldHost`] with how long it may not be asked. It must not know what keeps the
//! limits, nor what is asked.

use std::time::Duration;

use futures_util::future::BoxFuture;
use hyper::{Response, StatusCode};
use thiserror::Error;

use crate::HttpError;
use crate::retry_after::retry_after;
use domain::host::{HostOutcome, Throttle};

pub trait HostGate: Send + Sync {
    /// Waits until the host may be asked; at most once in `min_interval`, where that is not zero.
    fn turn<'a>(&'a self, host: &'a str, min_interval: Duration) -> BoxFuture<'a, Result<Turn, HeldHost>>;
}

/// The right to send one request, and the report of its outcome. Dropped: nothing is known of the host.
pub type Turn = Box<dyn FnOnce(HostOutcome) -> BoxFuture<'static, ()> + Send>;

/// Nothing was sent: the host has asked for a wait, its breaker is open, or too many requests wait for it.
#[derive(Clone, Debug, Error)]
#[error("{reason}")]
pub struct HeldHost {
    pub reason: String,
    pub after: Option<Duration>,
    /// The host, where its breaker is open and may close before.
    pub until_closed: Option<String>,
}

/// The meaning of a request's end for its host; `took`: until the head of the answer. An answer that refuses a log-in or
/// a thing (401, 403) says nothing of the host: others of its things may be had.
pub(crate) fn outcome<B>(answer: &Result<Response<B>, HttpError>, took: Duration) -> HostOutcome {
    match answer {
        Ok(answer) => outcome_of_answer(answer, took),
        Err(HttpError::Unreachable { .. } | HttpError::Late { .. }) => HostOutcome::Failed,
        Err(_) => HostOutcome::Nothing,
    }
}

fn outcome_of_answer<B>(answer: &Response<B>, took: Duration) -> HostOutcome {
    let (status, retry_after) = (answer.status(), retry_after(answer.headers()));
    match status {
        StatusCode::TOO_MANY_REQUESTS => throttled(status, retry_after),
        StatusCode::SERVICE_UNAVAILABLE if retry_after.is_some() => throttled(status, retry_after),
        status if status.is_server_error() => HostOutcome::Failed,
        _ => HostOutcome::Accepted(Some(took)),
    }
}

fn throttled(status: StatusCode, retry_after: Option<Duration>) -> HostOutcome {
    HostOutcome::Throttled(Throttle { status: status.as_u16(), retry_after })
}

#[cfg(test)]
mod tests {
    use hyper::header::RETRY_AFTER;
    use rstest::rstest;

    use super::*;

    const TOOK: Duration = Duration::from_millis(20);
    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    fn throttle(status: u16, retry_after: Option<Duration>) -> HostOutcome {
        HostOutcome::Throttled(Throttle { status, retry_after })
    }

    #[rstest]
    #[case::an_answer(200, None, HostOutcome::Accepted(Some(TOOK)))]
    #[case::unchanged(304, None, HostOutcome::Accepted(Some(TOOK)))]
    #[case::not_there(404, None, HostOutcome::Accepted(Some(TOOK)))]
    #[case::a_bad_login(401, None, HostOutcome::Accepted(Some(TOOK)))]
    #[case::not_for_us(403, None, HostOutcome::Accepted(Some(TOOK)))]
    #[case::broken(500, None, HostOutcome::Failed)]
    #[case::overloaded(503, None, HostOutcome::Failed)]
    #[case::overloaded_for_a_time(503, Some("60"), throttle(503, MINUTE))]
    #[case::too_many(429, None, throttle(429, None))]
    #[case::too_many_for_a_time(429, Some("60"), throttle(429, MINUTE))]
    fn an_answer_is_an_outcome(#[case] status: u16, #[case] wait: Option<&str>, #[case] expected: HostOutcome) {
        let mut answer = Response::builder().status(status);
        if let Some(wait) = wait {
            answer = answer.header(RETRY_AFTER, wait);
        }
        assert_eq!(outcome(&Ok(answer.body(()).unwrap()), TOOK), expected);
    }

    #[rstest]
    #[case::silent(HttpError::Late { host: String::new() }, HostOutcome::Failed)]
    #[case::refused_by_us(HttpError::Private { host: String::new() }, HostOutcome::Nothing)]
    fn a_request_without_an_answer_is_an_outcome(#[case] error: HttpError, #[case] expected: HostOutcome) {
        assert_eq!(outcome::<()>(&Err(error), TOOK), expected);
    }
}
