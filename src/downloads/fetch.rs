//! One image, from its address to its file.
//!
//! In: a session and a wanted image. Out: [`Outcome`]. The content decides whether it is an image, never its
//! name or header.

use bytes::Bytes;
use image_transform::{Format, ImageError};
use url::Url;

use super::{Job, LaneDeps};
use crate::stealth::{
    AllowList, Document, DocumentLimits, FetchError, Request, RequestDisposition, RequestKind, Session,
};
use domain::menu::image::ImageFailure;
use foundation::cpu;
use foundation::digest::sha256_hex;
use storage::StorageError;

/// Maximum number of bytes of an image as downloaded.
pub const MAX_BYTES: usize = 20 << 20;
const MAX_REDIRECTS: usize = 3;
/// Formats that browsers ask for and that cannot be decoded.
const UNDECODABLE: [&str; 5] = ["image/avif", "image/heic", "image/jp2", "image/jxl", "image/jxr"];

/// Outcome of one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `bytes` as downloaded.
    Stored {
        path: String,
        bytes: u64,
    },
    /// Its file was there already.
    Found {
        path: String,
    },
    Failed {
        reason: ImageFailure,
        detail: String,
    },
    /// The image is not at fault: the download costs no try.
    Postponed {
        detail: String,
    },
}

impl Outcome {
    pub fn failed(reason: ImageFailure, detail: impl ToString) -> Outcome {
        Outcome::Failed { reason, detail: detail.to_string() }
    }
}

/// The address, if an image may be downloaded from there; otherwise the end of the image.
pub fn permitted(allowed: &AllowList, address: &str) -> Result<Url, Outcome> {
    let url = Url::parse(address).map_err(|error| refused(format!("'{address}' is not an address: {error}")))?;
    allowed.check(&url).map_err(refused)?;
    Ok(url)
}

/// Downloads and stores one image, unless its file is there.
pub async fn fetch(deps: &LaneDeps, session: &mut Session, job: &Job) -> Outcome {
    match try_fetch(deps, session, job).await {
        Ok(outcome) | Err(outcome) => outcome,
    }
}

async fn try_fetch(deps: &LaneDeps, session: &mut Session, job: &Job) -> Result<Outcome, Outcome> {
    let Job { image, refetch, .. } = job;
    if !refetch && let Some(path) = deps.images.find(&image.subject).await? {
        return Ok(Outcome::Found { path });
    }
    let body = download(deps, session, &image.url, &[]).await?.body;
    let picture = match converted(body.clone()).await {
        // a host that chose one of the formats that browsers ask for first
        Err(_) if Format::is_undecodable(&body) => {
            let body = download(deps, session, &image.url, &UNDECODABLE).await?.body;
            converted(body).await
        }
        converted => converted,
    };
    let Converted { bytes, sha256, webp } = picture.map_err(|error| unreadable(&error))?;
    let path = deps.images.write(&image.subject, &sha256, webp).await?;
    Ok(Outcome::Stored { path, bytes })
}

struct Converted {
    /// Size as downloaded.
    bytes: u64,
    sha256: String,
    webp: Vec<u8>,
}

async fn converted(body: Bytes) -> Result<Converted, ImageError> {
    cpu::run_image(move || {
        let webp = image_transform::to_stored(&body)?.webp;
        Ok(Converted { bytes: body.len() as u64, sha256: sha256_hex(&body), webp })
    })
    .await
}

/// The whole body at `address`, after its redirects, preferably in none of the `unwanted` formats.
async fn download(
    deps: &LaneDeps,
    session: &mut Session,
    address: &str,
    unwanted: &'static [&'static str],
) -> Result<Document, Outcome> {
    let url = permitted(&deps.allowed, address)?;
    let page = deps.sites.page_of(&url).cloned().ok_or_else(|| refused("no platform has its images there"))?;
    let image = Request::new(RequestKind::Image, url, page);
    let mut request = Request { unwanted_formats: unwanted, ..image };
    let limits = DocumentLimits { max_bytes: MAX_BYTES, timeout: deps.timeout };
    for _ in 0..=MAX_REDIRECTS {
        let document = session.document(&request, limits).await?;
        match &document.redirect {
            Some(url) => {
                deps.allowed.check(url).map_err(|error| Outcome::failed(ImageFailure::RefusedRedirect, error))?;
                request = request.redirected_to(url.clone());
            }
            None => return whole(document),
        }
    }
    Err(Outcome::failed(ImageFailure::Http, format!("more than {MAX_REDIRECTS} redirects")))
}

fn whole(document: Document) -> Result<Document, Outcome> {
    if document.status != http::StatusCode::OK {
        return Err(Outcome::failed(ImageFailure::Http, format!("status {}", document.status.as_u16())));
    }
    match document.is_whole {
        true => Ok(document),
        false => Err(Outcome::failed(ImageFailure::TooLarge, format!("more than {MAX_BYTES} bytes"))),
    }
}

fn refused(detail: impl ToString) -> Outcome {
    Outcome::failed(ImageFailure::RefusedHost, detail)
}

fn unreadable(error: &ImageError) -> Outcome {
    let reason = match error.reason() {
        "too_large" => ImageFailure::TooLarge,
        "truncated" => ImageFailure::Truncated,
        _ => ImageFailure::NotAnImage,
    };
    Outcome::failed(reason, error)
}

/// A full disk is not the image's fault.
impl From<StorageError> for Outcome {
    fn from(error: StorageError) -> Self {
        match error.is_outage() {
            true => Outcome::Postponed { detail: error.to_string() },
            false => Outcome::failed(ImageFailure::Disk, error),
        }
    }
}

impl From<FetchError> for Outcome {
    fn from(error: FetchError) -> Self {
        match (&error, error.request_disposition()) {
            (FetchError::RobotsForbid { .. }, _) => Outcome::failed(ImageFailure::Robots, error),
            (FetchError::TooLarge { .. }, _) => Outcome::failed(ImageFailure::TooLarge, error),
            (
                _,
                RequestDisposition::Snooze { .. }
                | RequestDisposition::Requeue { .. }
                | RequestDisposition::RotateProxy,
            ) => Outcome::Postponed { detail: error.to_string() },
            _ => Outcome::failed(ImageFailure::Http, error),
        }
    }
}
