//! The own downloader: one file, which is resumed where an earlier run was cut off.
//!
//! In: an address, and the place of its part. Out: the whole file with its hash, still in its part: the
//! caller stores it. Beside the part lies a description of the file that it is a part of, written before
//! the first byte; bytes are added only while the server proves that it still has that file (a strong
//! ETag, else Last-Modified), and without a proof the file is downloaded from its beginning.

mod outcome;
mod part;

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, IF_RANGE, RANGE,
    REFERER, TRANSFER_ENCODING,
};
use tokio::time::timeout;
use url::Url;

use self::outcome::{ContentRange, content_range, refusal};
use self::part::{Part, Remote};
use crate::content::Content;
use public_http::retry_after::retry_after;
use public_http::{Answer, Get, Http, MAX_STALL, Secrets, codings_of, shown};

pub use self::outcome::DownloadError;

const ACCEPTED: HeaderValue = HeaderValue::from_static("*/*");
const UNCHANGED: HeaderValue = HeaderValue::from_static("identity");

/// A file to download. It has no `Debug`: the address may hold a key.
#[derive(Clone)]
pub struct Download {
    pub url: Url,
    pub referer: Option<String>,
    pub secrets: Option<Secrets>,
    /// Minimum time between two requests to its host.
    pub min_interval: Duration,
    /// The file to write; `.json` is added for its description. One download at a time may use it.
    pub part: PathBuf,
    /// Maximum size of the file.
    pub max_bytes: u64,
}

/// A whole file, in the place of its part, until [`forget`] is called.
#[derive(Clone, PartialEq, Eq)]
pub struct WholeFile {
    pub bytes: u64,
    /// Digest in lower-case hex.
    pub sha256: String,
    /// Type that the server names; it may be wrong.
    pub media_type: Option<String>,
    /// Address after redirects.
    pub url: Url,
    /// Bytes of bodies of this run.
    pub received: u64,
}

/// Downloads the file, or the rest of it. `progress`: bytes so far, and the whole size where it is known.
pub async fn download(
    http: &Http,
    ask: &Download,
    mut progress: impl FnMut(u64, Option<u64>) + Send,
) -> Result<WholeFile, DownloadError> {
    let mut run = Run { http, ask, received: 0 };
    let part = Part::open(&ask.part, &ask.url).await?;
    let step = run.step(part, &mut progress).await?;
    match step {
        Step::Whole(whole) => Ok(whole),
        Step::Again => match run.step(Part::empty(&ask.part).await?, &mut progress).await? {
            Step::Whole(whole) => Ok(whole),
            Step::Again => {
                Err(DownloadError::Strange("it sends a part although the whole file was requested".to_owned()))
            }
        },
    }
}

/// Removes what is left of a part: after its file was stored elsewhere, and when it is not wanted any more.
pub async fn forget(part: &std::path::Path) -> Result<(), DownloadError> {
    part::remove(part).await
}

impl std::fmt::Debug for WholeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of {} with the digest {}", self.bytes, shown(&self.url), self.sha256)
    }
}

struct Run<'a> {
    http: &'a Http,
    ask: &'a Download,
    received: u64,
}

enum Step {
    Whole(WholeFile),
    /// The part belongs to another file than the server has now.
    Again,
}

/// An answer, by its use for the part.
enum Meaning {
    Beginning,
    Rest { total: u64 },
    NothingMissing,
    AnotherFile,
}

impl Run<'_> {
    async fn step(
        &mut self,
        mut part: Part,
        progress: &mut (impl FnMut(u64, Option<u64>) + Send),
    ) -> Result<Step, DownloadError> {
        let answer = self.http.get(&self.request(&part)).await?;
        let meaning = meaning(&part, &answer)?;
        let Answer { headers, url, body, .. } = answer;
        let mut body = Body::from(body);
        match meaning {
            Meaning::AnotherFile => return Ok(Step::Again),
            Meaning::NothingMissing => return self.whole(part, &headers, url).await,
            Meaning::Rest { total } => part.learn(total).await?,
            Meaning::Beginning => {
                let remote = Remote::of(&self.ask.url, &headers);
                refuse_page(body.beginning(&remote).await?, remote.media_type.as_deref())?;
                part.begin(remote).await?;
            }
        }
        self.write(&mut part, body, progress).await?;
        self.whole(part, &headers, url).await
    }

    fn request(&self, part: &Part) -> Get {
        let Download { secrets, min_interval, .. } = self.ask;
        let secrets = secrets.clone();
        let mut get = Get { secrets, min_interval: *min_interval, ..Get::of(self.ask.url.clone()) };
        get = get.header(ACCEPT, ACCEPTED).header(ACCEPT_ENCODING, UNCHANGED);
        let text = |text: &str| HeaderValue::from_str(text).ok();
        if let Some(referer) = self.ask.referer.as_deref().and_then(text) {
            get = get.header(REFERER, referer);
        }
        let Some(proof) = part.proof().and_then(text) else { return get };
        let Some(range) = text(&format!("bytes={}-", part.len)) else { return get };
        get.header(RANGE, range).header(IF_RANGE, proof)
    }

    async fn write(
        &mut self,
        part: &mut Part,
        mut body: Body,
        progress: &mut (impl FnMut(u64, Option<u64>) + Send),
    ) -> Result<(), DownloadError> {
        let total = part.remote.as_ref().and_then(|remote| remote.total);
        if total.is_some_and(|total| total > self.ask.max_bytes) {
            part::remove(&self.ask.part).await?;
            return Err(DownloadError::TooLarge { max: self.ask.max_bytes });
        }
        progress(part.len, total);
        while let Some(data) = body.data(part.len, total).await? {
            self.received += data.len() as u64;
            if part.len + data.len() as u64 > total.unwrap_or(self.ask.max_bytes) {
                part::remove(&self.ask.part).await?;
                return Err(DownloadError::larger(total, self.ask.max_bytes));
            }
            part.append(&data).await?;
            progress(part.len, total);
        }
        Ok(())
    }

    async fn whole(&self, part: Part, headers: &HeaderMap, url: Url) -> Result<Step, DownloadError> {
        let total = part.remote.as_ref().and_then(|remote| remote.total);
        if let Some(total) = total.filter(|&total| total != part.len) {
            return Err(DownloadError::Cut {
                bytes: part.len,
                total: Some(total),
                fault: "the body ended early".to_owned(),
            });
        }
        let (bytes, received) = (part.len, self.received);
        let media_type =
            part.remote.as_ref().and_then(|remote| remote.media_type.clone()).or_else(|| media_type(headers));
        Ok(Step::Whole(WholeFile { bytes, sha256: part.finish().await?, media_type, url, received }))
    }
}

/// The body of an answer, whose first bytes may be read ahead.
struct Body {
    read_ahead: Bytes,
    rest: Incoming,
}

impl From<Incoming> for Body {
    fn from(rest: Incoming) -> Self {
        Body { read_ahead: Bytes::new(), rest }
    }
}

impl Body {
    /// The first bytes, which stay in the body; none where the body is empty.
    async fn beginning(&mut self, remote: &Remote) -> Result<&[u8], DownloadError> {
        self.read_ahead = self.data(0, remote.total).await?.unwrap_or_default();
        Ok(&self.read_ahead)
    }

    /// The next bytes; None at the end. An error says how much of the file there was before.
    async fn data(&mut self, bytes: u64, total: Option<u64>) -> Result<Option<Bytes>, DownloadError> {
        if !self.read_ahead.is_empty() {
            return Ok(Some(std::mem::take(&mut self.read_ahead)));
        }
        loop {
            let frame = timeout(MAX_STALL, self.rest.frame()).await;
            let Some(frame) = frame.map_err(|_| DownloadError::Stalled { bytes, total })? else { return Ok(None) };
            let frame = frame.map_err(|error| DownloadError::Cut { bytes, total, fault: error.to_string() })?;
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                return Ok(Some(data));
            }
        }
    }
}

/// The judgement of a whole file's first bytes: a log-in or a challenge in its place. Some servers call a file a page.
fn refuse_page(beginning: &[u8], media_type: Option<&str>) -> Result<(), DownloadError> {
    let is_called_page = matches!(media_type, Some("text/html" | "application/xhtml+xml"));
    let is_page = match is_called_page {
        true => matches!(beginning.trim_ascii_start().first(), None | Some(b'<')),
        false => Content::of(beginning).is_page(),
    };
    if is_page { Err(DownloadError::Page) } else { Ok(()) }
}

fn meaning(part: &Part, answer: &Answer) -> Result<Meaning, DownloadError> {
    let headers = &answer.headers;
    match answer.status {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT if !codings_of(headers).is_empty() => {
            Err(DownloadError::Strange("it compressed the file although it was asked not to".to_owned()))
        }
        StatusCode::OK if !has_end(headers) => Err(DownloadError::Strange(
            "it does not say where the file ends, so a truncated one would look complete".to_owned(),
        )),
        StatusCode::OK => Ok(Meaning::Beginning),
        StatusCode::PARTIAL_CONTENT => Ok(match part.continued_to(headers, content_range(headers)) {
            Some(total) => Meaning::Rest { total },
            None => Meaning::AnotherFile,
        }),
        StatusCode::RANGE_NOT_SATISFIABLE if part.len == 0 => {
            Err(DownloadError::Strange("it refuses a request for the whole file".to_owned()))
        }
        StatusCode::RANGE_NOT_SATISFIABLE => Ok(match content_range(headers) {
            Some(ContentRange::Unsatisfied { total })
                if total == part.len && part.may_have(total) && part.is_of(headers) =>
            {
                Meaning::NothingMissing
            }
            _ => Meaning::AnotherFile,
        }),
        status => Err(refusal(status, retry_after(headers))),
    }
}

fn has_end(headers: &HeaderMap) -> bool {
    headers.contains_key(CONTENT_LENGTH) || headers.contains_key(TRANSFER_ENCODING)
}

/// Reads the media type without its parameters, in lower case.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let text = text_of(headers, CONTENT_TYPE)?;
    Some(text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()).filter(|kind| !kind.is_empty())
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}
