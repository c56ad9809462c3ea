//! `MediaFault`: something that the site does wrong on purpose at one path, and how often.
//!
//! All faults of a path that are due meet a request together, so that a weak ETag and a cut body may be one
//! answer. A fault that needs a file shows on files only.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{Method, Uri};

/// Maximum number of faults at once; more are ignored.
const MAX_FAULTS: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaFaultKind {
    /// A weak ETag, and the date.
    WeakEtag,
    /// No ETag.
    DateOnly,
    /// Neither ETag nor date.
    NoProof,
    /// The file has other bytes and another ETag; see `MediaSite::changed_file`.
    Changed,
    /// Every request is answered with the whole file.
    IgnoresRange,
    /// A range is answered as a range although If-Range says that it must not.
    IgnoresIfRange,
    /// Content-Range begins a byte late.
    LyingStart,
    /// Content-Range names a size that is larger by one.
    LyingTotal,
    /// This status instead of the answer; 416 names the size of the file.
    Status(u16),
    /// 429 or 503; without `retry_after` the header is absent.
    Later {
        status: u16,
        retry_after: Option<Duration>,
    },
    /// A page for people, with 200.
    Html,
    /// 403 as a challenge.
    Challenge,
    /// 302 to the same path of the other origin.
    RedirectElsewhere,
    /// The connection ends after this number of bytes of the body at most.
    CutAfter(u64),
    /// Nothing more comes after this number of bytes of the body at most.
    StalledAfter(u64),
    Slow {
        bytes_per_second: u64,
    },
}

/// A fault of the site. Without limits it meets every request until it is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaFault {
    kind: MediaFaultKind,
    method: Option<Method>,
    /// Number of requests that are spared first.
    after: u64,
    times: Option<u64>,
}

impl MediaFault {
    pub fn new(kind: MediaFaultKind) -> MediaFault {
        MediaFault { kind, method: None, after: 0, times: None }
    }

    /// Skips the first `n` requests.
    pub fn after(self, n: u64) -> MediaFault {
        MediaFault { after: n, ..self }
    }

    /// Only the next `n` requests, after those that are spared.
    pub fn times(self, n: u64) -> MediaFault {
        MediaFault { times: Some(n), ..self }
    }

    pub fn on_method(self, method: Method) -> MediaFault {
        MediaFault { method: Some(method), ..self }
    }

    /// Counts a request; whether it meets the fault.
    fn is_due(&mut self) -> bool {
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        match &mut self.times {
            Some(0) => false,
            Some(times) => {
                *times -= 1;
                true
            }
            None => true,
        }
    }
}

#[derive(Default)]
pub(super) struct Faults(Mutex<Vec<(String, MediaFault)>>);

impl Faults {
    pub(super) fn add(&self, path: &str, fault: MediaFault) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < MAX_FAULTS {
            faults.push((path.to_owned(), fault));
        }
    }

    pub(super) fn remove(&self, path: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(of, _)| of != path);
    }

    /// The faults that this request meets, each used up by one. A path without a query stands for all of its
    /// queries.
    pub(super) fn take(&self, method: &Method, uri: &Uri) -> Vec<MediaFaultKind> {
        let whole = uri.path_and_query().map(|path| path.as_str()).unwrap_or_default();
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut met = Vec::new();
        let of_path = faults.iter_mut().filter(|(path, _)| path == whole || path == uri.path());
        for (_, fault) in of_path {
            if fault.method.as_ref().is_none_or(|only| only == method) && fault.is_due() {
                met.push(fault.kind.clone());
            }
        }
        faults.retain(|(_, fault)| fault.times != Some(0));
        met
    }
}
