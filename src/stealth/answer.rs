//! What an answer means before any platform has looked at it: refused, challenged, throttled, failed, or fit to be read.
//!
//! Pure but for the decoding, which runs on the CPU pool.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::{HeaderMap, StatusCode, header};

use super::decode::{self, DecodeFault};
use super::error::FetchError;
use super::fingerprint::Fingerprint;
use super::request::Response;
use super::transport::Answer;
use crate::cpu;

/// What the status and the kind of content say by themselves; 407 is the proxy's word and not judged here.
pub(super) fn judge(host: &str, answer: &Answer, now: DateTime<Utc>) -> Result<(), FetchError> {
    let retry_after = retry_after(&answer.headers, now);
    let host = host.to_owned();
    match answer.status.as_u16() {
        403 | 200..=299 if claims_html(&answer.headers) => Err(FetchError::Challenged { host }),
        status @ 403 => Err(FetchError::Blocked { host, status }),
        status @ 429 => Err(FetchError::Throttled { host, status, retry_after }),
        status @ 503 if retry_after.is_some() => Err(FetchError::Throttled { host, status, retry_after }),
        status @ (300..=399 | 500..=599) => Err(FetchError::Http { host, why: format!("status {status}") }),
        _ => Ok(()),
    }
}

/// Takes the content coding off; one that was not offered is an error, and so is HTML where JSON is due.
pub(super) async fn read(
    host: &str,
    answer: Answer,
    offered: &Fingerprint,
    limit: usize,
) -> Result<Response, FetchError> {
    let coding = coding(&answer.headers);
    let body = match coding.as_deref() {
        None | Some("" | "identity") => answer.raw.clone(),
        Some(coding) if !offered.offers(coding) => return Err(not_offered(host, coding)),
        Some(coding) => inflate(host, &answer.raw, coding, limit).await?,
    };
    if answer.status.is_success() && looks_like_html(&body) {
        return Err(FetchError::Challenged { host: host.to_owned() });
    }
    Ok(Response { host: host.to_owned(), status: answer.status, headers: answer.headers, raw: answer.raw, body })
}

/// A platform that has nothing to say against an answer without success leaves it to this.
pub(super) fn require_success(response: &Response) -> Result<(), FetchError> {
    match response.status.is_success() {
        true => Ok(()),
        false => {
            Err(FetchError::Http { host: response.host.clone(), why: format!("status {}", response.status.as_u16()) })
        }
    }
}

/// 502 and 504 may be a forward proxy's own words.
pub(super) fn is_a_gateways(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT)
}

async fn inflate(host: &str, raw: &Bytes, coding: &str, limit: usize) -> Result<Bytes, FetchError> {
    let (raw, coding) = (raw.clone(), coding.to_owned());
    let inflated = cpu::run(move || decode::decode(&raw, &coding, limit)).await;
    let host = host.to_owned();
    inflated.map_err(|fault| match fault {
        DecodeFault::Truncated => FetchError::Http { host, why: fault.to_string() },
        DecodeFault::Broken(why) => FetchError::Decode { host, why },
        DecodeFault::TooLarge { limit } => FetchError::TooLarge { host, limit },
    })
}

fn coding(headers: &HeaderMap) -> Option<String> {
    let codings: Vec<_> =
        headers.get_all(header::CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    (!codings.is_empty()).then(|| codings.join(", ").trim().to_ascii_lowercase())
}

fn not_offered(host: &str, coding: &str) -> FetchError {
    FetchError::Decode { host: host.to_owned(), why: format!("its coding '{coding}' was not offered") }
}

fn claims_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// JSON never begins with `<`.
fn looks_like_html(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

/// Seconds, or a date; a date that has passed is no wait.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTime::parse_from_rfc2822(text).ok()?;
    Some((date.to_utc() - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &str)]) -> Answer {
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Answer { status: StatusCode::from_u16(status).unwrap(), headers: headers.collect(), raw: Bytes::new() }
    }

    fn now() -> DateTime<Utc> {
        "2026-10-21T07:28:00Z".parse().unwrap()
    }

    fn throttled(status: u16, seconds: Option<u64>) -> Result<(), FetchError> {
        Err(FetchError::Throttled { host: "h".into(), status, retry_after: seconds.map(Duration::from_secs) })
    }

    #[rstest]
    #[case::well(200, &[("content-type", "application/json")], Ok(()))]
    #[case::refused(403, &[], Err(FetchError::Blocked { host: "h".into(), status: 403 }))]
    #[case::challenged(403, &[("content-type", "text/html; charset=utf-8")], Err(FetchError::Challenged { host: "h".into() }))]
    #[case::html_for_json(200, &[("content-type", "Text/HTML")], Err(FetchError::Challenged { host: "h".into() }))]
    #[case::seconds(429, &[("retry-after", "7")], throttled(429, Some(7)))]
    #[case::a_date(429, &[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], throttled(429, Some(30)))]
    #[case::a_past_date(429, &[("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT")], throttled(429, Some(0)))]
    #[case::no_word_of_time(429, &[], throttled(429, None))]
    #[case::busy(503, &[("retry-after", "5")], throttled(503, Some(5)))]
    #[case::down(503, &[], Err(FetchError::Http { host: "h".into(), why: "status 503".into() }))]
    #[case::html_of_an_error(502, &[("content-type", "text/html")], Err(FetchError::Http { host: "h".into(), why: "status 502".into() }))]
    #[case::the_platforms_to_judge(404, &[], Ok(()))]
    fn an_answer_is_judged(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &str)],
        #[case] verdict: Result<(), FetchError>,
    ) {
        assert_eq!(judge("h", &answer(status, headers), now()), verdict);
    }
}
