//! Judges an answer before the platform reads it: blocked, challenged, throttled, failed, or fit to be read.
//!
//! `judge` is pure; `read` is work for the CPU pool and may take a permit of memory. In: the head of an
//! answer, or all of it. Out: a [`Response`] or a [`FetchError`]. It must not know proxies.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::response::Parts;
use http::{HeaderMap, header};
use url::Url;

use super::decode;
use super::error::FetchError;
use super::fingerprint::Fingerprint;
use super::request::{Request, Response};
use super::transport::{self, Answer};
use foundation::inflate::InflateError;
use foundation::memory::{MemoryPermit, SMALL_BODY};

/// The judgement by status and headers alone. A block is a status that browsers get when they are not
/// welcome, HTML where JSON is expected, or a redirect to another host.
pub(super) fn judge(url: &Url, head: &Parts, now: DateTime<Utc>) -> Result<(), FetchError> {
    let retry_after = retry_after(&head.headers, now);
    let host = url.host_str().unwrap_or_default().to_owned();
    match head.status.as_u16() {
        status @ 429 => Err(FetchError::Throttled { host, status, retry_after }),
        status @ 503 if retry_after.is_some() => Err(FetchError::Throttled { host, status, retry_after }),
        _ if claims_html(&head.headers) => Err(FetchError::Challenged { host }),
        status @ (401 | 403 | 405 | 406 | 451) => Err(FetchError::Blocked { host, status }),
        status @ 300..=399 if leads_elsewhere(url, &head.headers) => Err(FetchError::Blocked { host, status }),
        status @ 500..=599 => Err(FetchError::ServerError { host, status }),
        300..=399 => Err(FetchError::bad_status(&host, head.status)),
        _ => Ok(()),
    }
}

/// 401 to a request with a key refuses the key, whatever the proxy.
pub(super) fn judge_key(error: FetchError, request: &Request) -> FetchError {
    match error {
        FetchError::Blocked { host, status: 401 } if request.has_key() => FetchError::KeyRefused { host },
        error => error,
    }
}

/// The error of a head, and of the first bytes of its body: a failure is a challenge where they are HTML,
/// whatever the head names them.
pub(super) fn judge_beginning(error: FetchError, beginning: &[u8]) -> FetchError {
    match error {
        FetchError::Http { host, .. } | FetchError::ServerError { host, .. } if looks_like_html(beginning) => {
            FetchError::Challenged { host }
        }
        error => error,
    }
}

/// Takes the content coding off; one that was not offered is an error, and so is HTML where JSON is expected.
/// CPU work: run it by `cpu::run`.
pub(super) fn read(
    host: &str,
    answer: Answer,
    offered: &Fingerprint,
    limit: usize,
    memory: &MemoryPermit,
) -> Result<Response, FetchError> {
    let coding = coding(&answer.headers);
    let body = match coding.as_deref() {
        None | Some("" | "identity") => answer.raw.clone(),
        Some(coding) if !offered.offers(coding) => return Err(not_offered(host, coding)),
        Some(coding) => match inflate(host, &answer.raw, coding, limit.min(SMALL_BODY)) {
            Err(FetchError::TooLarge { .. }) if limit > SMALL_BODY => {
                transport::hold_large(memory, host)?;
                inflate(host, &answer.raw, coding, limit)?
            }
            inflated => inflated?,
        },
    };
    if looks_like_html(&body) {
        return Err(FetchError::Challenged { host: host.to_owned() });
    }
    if body.len() > SMALL_BODY && is_deep(&body) {
        return Err(FetchError::Decode { host: host.to_owned(), reason: format!("deeper than {MAX_DEPTH} lists") });
    }
    let (Answer { status, headers, raw }, memory) = (answer, memory.clone());
    Ok(Response { host: host.to_owned(), status, headers, raw, body, memory })
}

/// Takes the content coding off a small body. CPU work, as [`read`] is.
pub(super) fn decoded(
    host: &str,
    headers: &HeaderMap,
    raw: &Bytes,
    offered: &Fingerprint,
    limit: usize,
) -> Result<Bytes, FetchError> {
    match coding(headers).as_deref() {
        None | Some("" | "identity") => Ok(raw.clone()),
        Some(coding) if !offered.offers(coding) => Err(not_offered(host, coding)),
        Some(coding) => inflate(host, raw, coding, limit),
    }
}

fn inflate(host: &str, raw: &Bytes, coding: &str, limit: usize) -> Result<Bytes, FetchError> {
    let host = host.to_owned();
    decode::decode(raw, coding, limit).map_err(|fault| match fault {
        InflateError::Truncated => FetchError::Http { host, reason: fault.to_string() },
        InflateError::Broken(reason) => FetchError::Decode { host, reason },
        InflateError::TooLarge { limit } => FetchError::TooLarge { host, limit },
    })
}

fn coding(headers: &HeaderMap) -> Option<String> {
    let codings: Vec<_> =
        headers.get_all(header::CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    (!codings.is_empty()).then(|| codings.join(", ").trim().to_ascii_lowercase())
}

fn not_offered(host: &str, coding: &str) -> FetchError {
    FetchError::Decode { host: host.to_owned(), reason: format!("its coding '{coding}' was not offered") }
}

fn claims_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// JSON never begins with `<`.
fn looks_like_html(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

/// Whether lists and objects are nested deeper than in any menu: a reader remembers each one, which takes as
/// much memory as another large body.
fn is_deep(body: &[u8]) -> bool {
    depth(body) > MAX_DEPTH
}

const MAX_DEPTH: usize = 1000;

/// The maximum number of open brackets outside texts, counted up to [`MAX_DEPTH`].
fn depth(json: &[u8]) -> usize {
    let (mut open, mut most, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => open += 1,
            b']' | b'}' if !in_text => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
        if most > MAX_DEPTH {
            break;
        }
    }
    most
}

fn leads_elsewhere(url: &Url, headers: &HeaderMap) -> bool {
    let location = headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
    let target = location.and_then(|location| url.join(location).ok());
    target.is_some_and(|target| target.host_str() != url.host_str())
}

/// Seconds, or a date in any of the three forms of HTTP; a date in the past means no wait.
fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = DateTime::<Utc>::from(httpdate::parse_http_date(text).ok()?);
    Some((date - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn head(status: u16, headers: &[(&'static str, &str)]) -> Parts {
        let head = http::Response::builder().status(status);
        let head = headers.iter().fold(head, |head, (name, value)| head.header(*name, *value));
        head.body(()).unwrap().into_parts().0
    }

    fn now() -> DateTime<Utc> {
        "2026-10-21T07:28:00Z".parse().unwrap()
    }

    #[rstest]
    #[case::flat(r#"{"a":[1,2,{"b":3}]}"#, 3)]
    #[case::brackets_in_a_text(r#"["[[[\"[[\\",[]]"#, 2)]
    #[case::closed_too_often("]]]][", 1)]
    fn the_depth_of_a_document_is_that_of_its_lists(#[case] json: &str, #[case] expected: usize) {
        assert_eq!(depth(json.as_bytes()), expected);
    }

    fn throttled(status: u16, seconds: Option<u64>) -> Result<(), FetchError> {
        Err(FetchError::Throttled { host: "h".into(), status, retry_after: seconds.map(Duration::from_secs) })
    }

    fn blocked(status: u16) -> Result<(), FetchError> {
        Err(FetchError::Blocked { host: "h".into(), status })
    }

    fn challenged() -> Result<(), FetchError> {
        Err(FetchError::Challenged { host: "h".into() })
    }

    fn failed(status: u16) -> Result<(), FetchError> {
        Err(FetchError::Http { host: "h".into(), reason: format!("status {status}") })
    }

    fn broken(status: u16) -> Result<(), FetchError> {
        Err(FetchError::ServerError { host: "h".into(), status })
    }

    const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

    #[rstest]
    #[case::well(200, &[("content-type", "application/json")], Ok(()))]
    #[case::login_wanted(401, &[], blocked(401))]
    #[case::refused(403, &[], blocked(403))]
    #[case::method_refused(405, &[], blocked(405))]
    #[case::not_acceptable(406, &[], blocked(406))]
    #[case::legal_reasons(451, &[], blocked(451))]
    #[case::challenged(403, &[HTML], challenged())]
    #[case::html_for_json(200, &[("content-type", "Text/HTML")], challenged())]
    #[case::captcha(405, &[HTML], challenged())]
    #[case::unavailable_page(503, &[HTML], challenged())]
    #[case::html_at_any_status(502, &[HTML], challenged())]
    #[case::a_redirect_to_another_host(302, &[("location", "https://captcha.test/")], blocked(302))]
    #[case::a_redirect_without_a_scheme(307, &[("location", "//captcha.test/")], blocked(307))]
    #[case::a_redirect_within_the_host(302, &[("location", "/elsewhere")], failed(302))]
    #[case::not_modified(304, &[], failed(304))]
    #[case::seconds(429, &[("retry-after", "7")], throttled(429, Some(7)))]
    #[case::a_date(429, &[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], throttled(429, Some(30)))]
    #[case::a_date_of_rfc_850(429, &[("retry-after", "Wednesday, 21-Oct-26 07:28:30 GMT")], throttled(429, Some(30)))]
    #[case::a_date_of_asctime(429, &[("retry-after", "Wed Oct 21 07:28:30 2026")], throttled(429, Some(30)))]
    #[case::a_past_date(429, &[("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT")], throttled(429, Some(0)))]
    #[case::absurd(429, &[("retry-after", "99999999999999999999999")], throttled(429, Some(u64::MAX)))]
    #[case::a_far_date(429, &[("retry-after", "Wed, 21 Oct 2099 07:28:00 GMT")], throttled(429, Some(2_303_683_200)))]
    #[case::negative(429, &[("retry-after", "-5")], throttled(429, None))]
    #[case::a_fraction(429, &[("retry-after", "1.5")], throttled(429, None))]
    #[case::empty(429, &[("retry-after", "")], throttled(429, None))]
    #[case::no_date(429, &[("retry-after", "soon")], throttled(429, None))]
    #[case::no_time_given(429, &[], throttled(429, None))]
    #[case::throttled_by_a_page(429, &[HTML], throttled(429, None))]
    #[case::busy(503, &[("retry-after", "5")], throttled(503, Some(5)))]
    #[case::down(503, &[], broken(503))]
    #[case::broken(500, &[], broken(500))]
    #[case::left_to_the_platform(404, &[], Ok(()))]
    fn an_answer_is_judged(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &str)],
        #[case] expected: Result<(), FetchError>,
    ) {
        assert_eq!(judge(&"https://h/api".parse().unwrap(), &head(status, headers), now()), expected);
    }
}
