//! Meanings of the answers to a download: refusals, waits and ranges. Pure.

use std::io;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, HeaderMap};
use thiserror::Error;

use super::text_of;
use domain::amounts::counted;
use domain::task::disposition::{Disposition, HasDisposition};
use public_http::HttpError;

/// A download without a whole file. A part that the next run can continue stays.
#[derive(Debug, Error)]
pub enum DownloadError {
    /// The file will never come.
    #[error("the file is gone: the server answers {0}")]
    Gone(StatusCode),
    /// The server does not give the file without a log-in, or not to us.
    #[error("the server refuses the file: {0}")]
    Refused(StatusCode),
    #[error("the server sent a page instead of the file: a log-in or a challenge")]
    Page,
    #[error("the file is larger than the {max} bytes that are permitted")]
    TooLarge { max: u64 },
    #[error("the server asks to wait: {status}")]
    Wait { status: StatusCode, after: Option<Duration> },
    #[error("the server failed: {0}")]
    Failed(StatusCode),
    #[error("cut off after {}{}: {fault}", counted(*bytes, "byte"), of(*total))]
    Cut { bytes: u64, total: Option<u64>, fault: String },
    #[error("no byte came for a minute, after {}{}", counted(*bytes, "byte"), of(*total))]
    Stalled { bytes: u64, total: Option<u64> },
    #[error("unexpected answer from the server: {0}")]
    Strange(String),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("{file}: {error}")]
    Disk { file: String, error: io::Error },
}

impl HasDisposition for DownloadError {
    fn disposition(&self) -> Disposition {
        use DownloadError::*;
        match self {
            Gone(_) | Refused(_) | Page | TooLarge { .. } => Disposition::Permanent,
            Wait { after, .. } => Disposition::snooze(*after),
            Failed(_) | Cut { .. } | Stalled { .. } | Strange(_) => Disposition::Retry,
            Http(error) => error.disposition(),
            Disk { error, .. } if error.kind() == io::ErrorKind::StorageFull => Disposition::snooze(None),
            Disk { .. } => Disposition::Retry,
        }
    }
}

impl DownloadError {
    /// More bytes came than the server named, or than are permitted where it named none.
    pub(super) fn larger(total: Option<u64>, max: u64) -> Self {
        match total {
            Some(total) => {
                DownloadError::Strange(format!("it sent more than it announced: {}", counted(total, "byte")))
            }
            None => DownloadError::TooLarge { max },
        }
    }
}

fn of(total: Option<u64>) -> String {
    total.map_or_else(String::new, |total| format!(" of {total}"))
}

/// The meaning of a status without a body of use.
pub(super) fn refusal(status: StatusCode, after: Option<Duration>) -> DownloadError {
    match status.as_u16() {
        404 | 410 => DownloadError::Gone(status),
        401 | 403 | 451 => DownloadError::Refused(status),
        429 | 503 => DownloadError::Wait { status, after },
        _ => DownloadError::Failed(status),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentRange {
    Part { start: u64, end: u64, total: Option<u64> },
    Unsatisfied { total: u64 },
}

pub(super) fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let (range, total) = text_of(headers, CONTENT_RANGE)?.strip_prefix("bytes")?.trim().split_once('/')?;
    if range == "*" {
        return Some(ContentRange::Unsatisfied { total: total.parse().ok()? });
    }
    let (start, end) = range.split_once('-')?;
    let total = if total == "*" { None } else { Some(total.parse().ok()?) };
    Some(ContentRange::Part { start: start.parse().ok()?, end: end.parse().ok()?, total })
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("bytes 10-19/20", Some(ContentRange::Part { start: 10, end: 19, total: Some(20) }))]
    #[case("bytes 10-19/*", Some(ContentRange::Part { start: 10, end: 19, total: None }))]
    #[case("bytes */20", Some(ContentRange::Unsatisfied { total: 20 }))]
    #[case("bytes */*", None)]
    #[case("items 1-2/3", None)]
    #[case("bytes -5/20", None)]
    #[case("bytes 1-99999999999999999999/20", None)]
    fn a_range_is_read_or_not(#[case] text: &str, #[case] range: Option<ContentRange>) {
        let headers = HeaderMap::from_iter([(CONTENT_RANGE, HeaderValue::from_str(text).unwrap())]);
        assert_eq!(content_range(&headers), range);
    }

    #[rstest]
    #[case(404, "gone")]
    #[case(410, "gone")]
    #[case(401, "refuses")]
    #[case(403, "refuses")]
    #[case(429, "asks to wait")]
    #[case(503, "asks to wait")]
    #[case(500, "failed")]
    #[case(418, "failed")]
    fn a_status_says_what_follows(#[case] status: u16, #[case] says: &str) {
        let error = refusal(StatusCode::from_u16(status).unwrap(), None).to_string();
        assert!(error.contains(says), "{error}");
    }
}
