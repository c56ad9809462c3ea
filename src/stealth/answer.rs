//! Judges an answer before the platform reads it: blocked, challenged, throttled, failed, or fit to be read.
//!
//! `judge` is pure; `read` is work for the CPU pool and may take a permit of memory. In: the head of an
//! answer, or all of it. Out: a [`Response`] or a [`FetchError`]. It must not know proxies.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use http::response::Parts;
use http::{HeaderMap, HeaderValue, header};
use serde::de::IgnoredAny;
use url::Url;

use super::decode::{self, Unzipped};
use super::transport::{self, Answer};
use super::{FetchError, Identity, Request, Response, header_text, unicode};
use domain::http::content_coding::{MAX_CODINGS, codings as codings_of};
use foundation::inflate::InflateError;
use foundation::memory::{MemoryPermit, SMALL_BODY};

/// The judgement by status and headers alone. A block is a status that browsers get when they are not
/// welcome, HTML where JSON is expected, or a redirect to another host. A success is judged by its body: some
/// servers call JSON HTML.
pub(super) fn judge(url: &Url, head: &Parts, now: DateTime<Utc>) -> Result<(), FetchError> {
    let retry_after = retry_after(&head.headers, now);
    let host = url.host_str().unwrap_or_default().to_owned();
    match head.status.as_u16() {
        status @ 429 => Err(FetchError::Throttled { host, status, retry_after }),
        status @ 503 if retry_after.is_some() => Err(FetchError::Throttled { host, status, retry_after }),
        _ if !head.status.is_success() && claims_html(&head.headers) => Err(FetchError::Challenged { host }),
        status @ (401 | 403 | 405 | 406 | 451) => Err(FetchError::Blocked { host, status }),
        status @ 300..=399 if leads_elsewhere(url, &head.headers) => Err(FetchError::Blocked { host, status }),
        status @ 500..=599 => Err(FetchError::ServerError { host, status }),
        300..=399 => Err(FetchError::bad_status(&host, head.status)),
        _ => Ok(()),
    }
}

/// The judgement of a success that is called HTML, by the first bytes of its body. A compressed page shows itself later.
pub(super) fn judge_page(host: &str, beginning: &[u8]) -> Result<(), FetchError> {
    match beginning.is_empty() || looks_like_html(beginning) {
        true => Err(FetchError::Challenged { host: host.to_owned() }),
        false => Ok(()),
    }
}

/// Whether a platform may say in the body what a failure of the server is about.
pub(super) fn may_explain(error: &FetchError, headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(header_text::text).unwrap_or_default();
    matches!(error, FetchError::ServerError { .. }) && kind.to_ascii_lowercase().contains("json")
}

/// The error of a failed answer that a platform's reader has read: a query that it does not know is not a failure of the
/// server.
pub(super) fn judge_explanation(failure: FetchError, read: FetchError) -> FetchError {
    match read {
        FetchError::UnknownQuery { .. } | FetchError::Challenged { .. } => read,
        _ => failure,
    }
}

/// 401 to a request with a key refuses the key, whatever the proxy.
pub(super) fn judge_key(error: FetchError, request: &Request) -> FetchError {
    match error {
        FetchError::Blocked { host, status: 401 } if request.has_key() => FetchError::KeyRefused { host },
        error => error,
    }
}

/// Whether the body may say that a refusal is one of the request's key, by a status that its platform uses for that.
pub(super) fn may_refuse_key(error: &FetchError, request: &Request) -> bool {
    match error {
        FetchError::Blocked { status, .. } => request.secrets.refused_by.contains(status) && request.has_key(),
        _ => false,
    }
}

/// The error of such a refusal, and of its whole body: JSON is the platform's own, and anything else a block.
pub(super) fn judge_refusal(error: FetchError, body: &[u8]) -> FetchError {
    match error {
        FetchError::Blocked { host, .. } if is_json(body) => FetchError::KeyRefused { host },
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
    identity: &Identity,
    limit: usize,
    memory: &MemoryPermit,
) -> Result<Response, FetchError> {
    let Answer { status, mut headers, raw } = answer;
    let codings = codings(host, &headers, identity)?;
    let decoded = match decoded_from(host, &raw, &codings, limit.min(SMALL_BODY)) {
        Err(FetchError::TooLarge { .. }) if limit > SMALL_BODY => {
            transport::hold_large(memory, host)?;
            decoded_from(host, &raw, &codings, limit)?
        }
        decoded => decoded?,
    };
    let Decoded { body, raw, is_gzip } = without_mark(host, decoded, limit)?;
    let is_challenge = looks_like_html(&body) || (claims_html(&headers) && !begins_json(&body));
    headers.remove(header::CONTENT_ENCODING);
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if is_challenge {
        return Err(FetchError::Challenged { host: host.to_owned() });
    }
    if body.len() > SMALL_BODY && is_deep(&body) {
        return Err(FetchError::Decode { host: host.to_owned(), reason: format!("deeper than {MAX_DEPTH} lists") });
    }
    Ok(Response { host: host.to_owned(), status, headers, raw, body, memory: memory.clone() })
}

/// Takes the content coding off a small body. CPU work, as [`read`] is.
pub(super) fn decoded(
    host: &str,
    headers: &HeaderMap,
    raw: &Bytes,
    identity: &Identity,
    limit: usize,
) -> Result<Bytes, FetchError> {
    let codings = codings(host, headers, identity)?;
    decoded_from(host, raw, &codings, limit).map(|decoded| decoded.body)
}

/// A body without its codings.
struct Decoded {
    body: Bytes,
    /// Body as received, without the bytes behind the end of its gzip.
    raw: Bytes,
    /// Whether `raw` is gzip and nothing else.
    is_gzip: bool,
}

/// The last coding is the outermost one.
fn decoded_from(host: &str, raw: &Bytes, codings: &[&'static str], limit: usize) -> Result<Decoded, FetchError> {
    if let ["gzip"] = codings {
        let Unzipped { body, members } = decode::unzip(raw, limit).map_err(|fault| undecodable(host, fault))?;
        return Ok(Decoded { body, raw: members, is_gzip: true });
    }
    let mut body = raw.clone();
    for coding in codings.iter().rev() {
        body = decode::decode(&body, coding, limit).map_err(|fault| undecodable(host, fault))?;
    }
    Ok(Decoded { body, raw: raw.clone(), is_gzip: false })
}

/// A body with a byte order mark is kept as its text: later readers expect no mark.
fn without_mark(host: &str, decoded: Decoded, limit: usize) -> Result<Decoded, FetchError> {
    match unicode::without_mark(&decoded.body) {
        None => Ok(decoded),
        Some(text) if text.len() > limit => Err(FetchError::TooLarge { host: host.to_owned(), limit }),
        Some(text) => Ok(Decoded { body: text.clone(), raw: text, is_gzip: false }),
    }
}

fn undecodable(host: &str, fault: InflateError) -> FetchError {
    let host = host.to_owned();
    match fault {
        InflateError::Truncated => FetchError::Http { host, reason: fault.to_string() },
        InflateError::Broken(reason) => FetchError::Decode { host, reason },
        InflateError::TooLarge { limit } => FetchError::TooLarge { host, limit },
    }
}

/// The codings of a body, in the order in which they were applied.
fn codings(host: &str, headers: &HeaderMap, identity: &Identity) -> Result<Vec<&'static str>, FetchError> {
    let codings = codings_of(headers.get_all(header::CONTENT_ENCODING).iter().map(HeaderValue::as_bytes));
    if codings.len() > MAX_CODINGS {
        let reason = format!("its body has more than {MAX_CODINGS} content codings");
        return Err(FetchError::Decode { host: host.to_owned(), reason });
    }
    match codings.iter().find(|coding| !identity.offers(coding)) {
        Some(coding) => Err(not_offered(host, coding)),
        None => Ok(codings),
    }
}

fn not_offered(host: &str, coding: &str) -> FetchError {
    FetchError::Decode { host: host.to_owned(), reason: format!("its coding '{coding}' was not offered") }
}

pub(super) fn claims_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    kind.get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case(b"text/html"))
}

/// JSON never begins with `<`.
fn looks_like_html(body: &[u8]) -> bool {
    first_of(body) == Some(b'<')
}

/// Whether it may be the object or list that platforms answer.
fn begins_json(body: &[u8]) -> bool {
    matches!(first_of(body), Some(b'{' | b'['))
}

/// Whether the whole body is an object or list.
fn is_json(body: &[u8]) -> bool {
    begins_json(body) && serde_json::from_slice::<IgnoredAny>(unicode::without_utf8_mark(body)).is_ok()
}

fn first_of(body: &[u8]) -> Option<u8> {
    unicode::without_utf8_mark(body).iter().copied().find(|byte| !byte.is_ascii_whitespace())
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
    header_text::redirected(url, headers).is_some_and(|target| target.host_str() != url.host_str())
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
    use crate::stealth::{RequestKind, Secrets};

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

    fn with_key(key: Option<&str>, refused_by: &'static [u16]) -> Request {
        let url: Url = "https://h/api".parse().unwrap();
        let headers = key.map(|key| ("authorization", key.to_owned()));
        let secrets = Secrets { headers: &["authorization"], query: &[], refused_by };
        let request = Request::new(RequestKind::Fetch, url.clone(), url);
        Request { script_headers: headers.into_iter().collect(), secrets, ..request }
    }

    #[rstest]
    #[case::a_key_by_its_status(Some("k"), &[403], true)]
    #[case::no_key(None, &[403], false)]
    #[case::another_status(Some("k"), &[406], false)]
    #[case::no_status(Some("k"), &[], false)]
    fn a_body_is_asked_whether_a_key_is_refused(
        #[case] key: Option<&str>,
        #[case] refused_by: &'static [u16],
        #[case] expected: bool,
    ) {
        let request = with_key(key, refused_by);
        assert_eq!(may_refuse_key(&blocked(403).unwrap_err(), &request), expected);
        assert!(!may_refuse_key(&challenged().unwrap_err(), &request));
    }

    #[rstest]
    #[case::an_object(r#"{"message":"Invalid Application-ID or API key","status":403}"#, true)]
    #[case::with_a_mark("\u{feff}{}", true)]
    #[case::cut_off(r#"{"message":"Inv"#, false)]
    #[case::a_text("Forbidden", false)]
    #[case::a_word_of_json("null", false)]
    #[case::a_page("<html>no</html>", false)]
    #[case::nothing("", false)]
    fn a_refusal_is_of_the_key_where_its_body_is_json(#[case] body: &str, #[case] is_of_key: bool) {
        let error = judge_refusal(blocked(403).unwrap_err(), body.as_bytes());
        assert_eq!(error.label(), if is_of_key { "key_refused" } else { "blocked" });
    }

    #[rstest]
    #[case::well(200, &[("content-type", "application/json")], Ok(()))]
    #[case::login_wanted(401, &[], blocked(401))]
    #[case::refused(403, &[], blocked(403))]
    #[case::method_refused(405, &[], blocked(405))]
    #[case::not_acceptable(406, &[], blocked(406))]
    #[case::legal_reasons(451, &[], blocked(451))]
    #[case::challenged(403, &[HTML], challenged())]
    #[case::judged_by_its_body(200, &[("content-type", "Text/HTML")], Ok(()))]
    #[case::captcha(405, &[HTML], challenged())]
    #[case::unavailable_page(503, &[HTML], challenged())]
    #[case::html_at_any_status(502, &[HTML], challenged())]
    #[case::a_redirect_to_another_host(302, &[("location", "https://captcha.test/")], blocked(302))]
    #[case::a_redirect_without_a_scheme(307, &[("location", "//captcha.test/")], blocked(307))]
    #[case::a_redirect_to_another_host_in_utf8(302, &[("location", "https://captcha.test/caf\u{e9}")], blocked(302))]
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
