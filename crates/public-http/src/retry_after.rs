//! How long a server asks to wait. Pure.

use std::time::Duration;

use hyper::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// Minimum wait, also where a server asks for none: it has just refused.
const MIN_WAIT: Duration = Duration::from_secs(5);
/// Maximum wait that a server may ask for.
const MAX_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Seconds, or a date, which the server's own time is taken off; at least 5 s and at most a day.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let asked = text(headers, RETRY_AFTER)?;
    let wait = match asked.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let (until, now) =
                (httpdate::parse_http_date(asked).ok()?, httpdate::parse_http_date(text(headers, DATE)?).ok()?);
            until.duration_since(now).unwrap_or_default()
        }
    };
    Some(wait.clamp(MIN_WAIT, MAX_WAIT))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("120", Some(120))]
    #[case("99999999", Some(24 * 3600))]
    #[case("Sun, 01 Nov 2026 10:01:30 GMT", Some(90))]
    #[case("0", Some(5))]
    #[case("Thu, 01 Jan 1970 00:00:00 GMT", Some(5))]
    #[case("soon", None)]
    fn a_wait_is_bounded(#[case] text: &str, #[case] seconds: Option<u64>) {
        let date = HeaderValue::from_static("Sun, 01 Nov 2026 10:00:00 GMT");
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(text).unwrap()), (DATE, date)]);
        assert_eq!(retry_after(&headers).map(|wait| wait.as_secs()), seconds);
    }
}
