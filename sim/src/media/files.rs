//! Files with ranges, a strong ETag and a date, by the rules of HTTP; or against them, by fault.

use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, IF_RANGE, LAST_MODIFIED, RANGE};
use http::{HeaderMap, Method, StatusCode};

use super::answer::{self, Answer, Request, header, with};
use super::content::MediaFile;
use super::dates;
use super::faults::MediaFaultKind;

/// Hours after the begin of the site's year at which all files were changed, and at which a changed one was.
const CHANGED_AT: [usize; 2] = [24, 48];

/// First and last byte.
type Range = (usize, usize);

/// The answer to a request for this file.
pub(super) fn respond(request: &Request, file: &MediaFile, faults: &[MediaFaultKind]) -> Answer {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return answer::not_allowed();
    }
    let has = |kind: MediaFaultKind| faults.contains(&kind);
    let is_changed = has(MediaFaultKind::Changed);
    let file = if is_changed { &file.changed() } else { file };
    let proof = Proof::of(file, is_changed, faults);
    let is_same = has(MediaFaultKind::IgnoresIfRange) || proof.is_met(request);
    let range = header(request, RANGE).filter(|_| is_same && !has(MediaFaultKind::IgnoresRange));
    let answer = match range.map(|range| read_range(range, file.content.len())) {
        Some(Some(range)) if range.0 < file.content.len() => part(file, range, faults),
        Some(Some(_)) => unsatisfiable(file),
        // a range that cannot be read is ignored
        Some(None) | None => answer::typed(StatusCode::OK, file.media_type, file.content.clone()),
    };
    proof.add(with(answer, ACCEPT_RANGES, "bytes"))
}

/// 416 with the size of the file.
pub(super) fn unsatisfiable(file: &MediaFile) -> Answer {
    let answer = answer::typed(StatusCode::RANGE_NOT_SATISFIABLE, file.media_type, Bytes::new());
    with(answer, CONTENT_RANGE, &format!("bytes */{}", file.content.len()))
}

/// The headers by which a client knows that it still asks for the same file.
struct Proof {
    etag: Option<String>,
    date: Option<String>,
}

impl Proof {
    fn of(file: &MediaFile, is_changed: bool, faults: &[MediaFaultKind]) -> Proof {
        let has = |kind: MediaFaultKind| faults.contains(&kind);
        let strong = format!("\"{}\"", &file.sha256[..16]);
        let date = dates::http(dates::at(CHANGED_AT[usize::from(is_changed)]));
        if has(MediaFaultKind::NoProof) {
            return Proof { etag: None, date: None };
        }
        let etag = match has(MediaFaultKind::WeakEtag) {
            true => format!("W/{strong}"),
            false => strong,
        };
        Proof { etag: (!has(MediaFaultKind::DateOnly)).then_some(etag), date: Some(date) }
    }

    /// Whether a range may be sent: If-Range is absent, or names this very file.
    fn is_met(&self, request: &Request) -> bool {
        let Some(known) = header(request, IF_RANGE) else { return true };
        let is_strong = known.starts_with('"');
        match is_strong {
            true => self.etag.as_deref() == Some(known),
            false => self.date.as_deref() == Some(known),
        }
    }

    fn add(&self, mut answer: Answer) -> Answer {
        for (name, value) in [(ETAG, &self.etag), (LAST_MODIFIED, &self.date)] {
            if let Some(value) = value {
                answer = with(answer, name, value);
            }
        }
        answer
    }
}

fn part(file: &MediaFile, (first, last): Range, faults: &[MediaFaultKind]) -> Answer {
    let (mut named_first, mut size) = (first, file.content.len());
    named_first += usize::from(faults.contains(&MediaFaultKind::LyingStart));
    size += usize::from(faults.contains(&MediaFaultKind::LyingTotal));
    let answer = answer::typed(StatusCode::PARTIAL_CONTENT, file.media_type, file.content.slice(first..=last));
    with(answer, CONTENT_RANGE, &format!("bytes {named_first}-{last}/{size}"))
}

/// One range of bytes. A first byte behind the end is returned as it is.
fn read_range(text: &str, size: usize) -> Option<Range> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let count: usize = last.parse().ok()?;
        return Some((size.saturating_sub(count), size.saturating_sub(1)));
    }
    let first: usize = first.parse().ok()?;
    let last = if last.is_empty() { usize::MAX } else { last.parse().ok()? };
    (first <= last).then_some((first, last.min(size.saturating_sub(1))))
}

/// Whether the client has this version of a page already.
pub(super) fn is_known(headers: &HeaderMap, etag: &str, date: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    match text("if-none-match") {
        Some(known) => known.split(',').any(|known| known.trim() == etag || known.trim() == "*"),
        None => text("if-modified-since") == Some(date),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read() {
        let cases = [
            ("bytes=0-", Some((0, 9))),
            ("bytes=2-4", Some((2, 4))),
            ("bytes=2-400", Some((2, 9))),
            ("bytes=-3", Some((7, 9))),
            ("bytes=10-", Some((10, 9))),
            ("bytes=4-2", None),
            ("bytes=0-1,3-4", None),
            ("items=0-1", None),
        ];
        for (text, range) in cases {
            assert_eq!(read_range(text, 10), range, "{text}");
        }
    }
}
