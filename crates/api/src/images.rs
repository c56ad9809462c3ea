//! `/img`: stored images of products and brands, and pictures that media jobs downloaded, in the size and format
//! that a page needs.
//!
//! Open to whoever reaches the API, unless `images.access` asks for a token or `images.signing_key` for a
//! signature. An address always answers with the same image, so clients and CDNs cache it forever.

use std::borrow::Cow;
use std::ops::Bound;
use std::time::SystemTime;

use axum::extract::{FromRequestParts, State};
use axum::http::header::{
    ACCEPT, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_MODIFIED_SINCE, IF_RANGE, LAST_MODIFIED, LINK, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use headers::{HeaderMapExt, Range};
use image_transform::{Format, Transform};
use serde::Deserialize;
use url::form_urlencoded;
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;

use super::products::ProductPath;
use super::{
    Access, ApiError, ApiState, Caller, Consumer, Describe, Description, Guard, IfNoneMatch, Path, image_signature,
};
use crate::rendered_images::{RenderError, Variant};
use contract::problem::Problem;
use db::products;
use db::products::images::OriginalImage;
use storage::{StorageError, image_layout, media_layout};

/// A year: the image at an address never changes.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
/// An image that is not there may come.
const SOON: &str = "public, max-age=60";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
/// A transparent pixel.
const PLACEHOLDER: &[u8] = include_bytes!("images/placeholder.png");
const PLACEHOLDER_PARAMETER: &str = "placeholder";

/// The caller may see images: everyone, unless the configuration asks for a token or a signature.
pub struct ImageReader;

impl Guard for ImageReader {
    const ACCESS: Access = Access { role: None, is_audited: false };
}

impl FromRequestParts<ApiState> for ImageReader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, ApiError> {
        let needs_token = api.images.access == "token";
        let key = api.images.signing_key.reveal();
        if needs_token || (!key.is_empty() && !image_signature::is_present(&parts.uri)) {
            Caller::<Consumer>::from_request_parts(parts, api).await.map_err(|error| unsigned(error, needs_token))?;
        } else if !key.is_empty() {
            image_signature::check(&parts.uri, key)?;
        }
        Ok(ImageReader)
    }
}

/// How the image is wanted. Without any of these, one of a product or brand is answered as it is stored.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "only described: `image_transform` reads them")]
pub struct ImageQuery {
    /// Width in pixels; without `h`, the height follows.
    #[param(minimum = 1, maximum = 4000)]
    w: Option<u32>,
    /// Height in pixels; without `w`, the width follows.
    #[param(minimum = 1, maximum = 4000)]
    h: Option<u32>,
    /// Quality of the encoding.
    #[param(minimum = 1, maximum = 100, default = 80)]
    q: Option<u8>,
    /// `cover`, `contain`, `fill`, `inside` or `outside`.
    #[param(default = "inside")]
    fit: Option<String>,
    /// Sigma of a Gaussian blur.
    #[param(minimum = 0.3, maximum = 1000)]
    blur: Option<f32>,
    /// 1: shades of gray.
    gray: Option<u8>,
    /// `webp`, `jpeg`, `png`, or `auto`: the best that `Accept` names.
    #[param(default = "webp")]
    format: Option<String>,
    /// RRGGBB or RRGGBBAA: behind `contain`, and behind transparency in JPEG.
    bg: Option<String>,
    /// 1: the image may become larger than it is.
    enlarge: Option<u8>,
    /// 1: a missing image is answered with a transparent pixel and 404.
    placeholder: Option<u8>,
    /// The signature, where the server asks for one.
    s: Option<String>,
}

/// A request for an image, without the request's other parts.
pub struct ImageAsk {
    transform: Transform,
    varies_by_accept: bool,
    wants_placeholder: bool,
    conditions: Conditions,
}

/// The client's cached version, or its requested range.
struct Conditions {
    known: IfNoneMatch,
    if_modified_since: Option<HeaderValue>,
    range: Option<Range>,
    if_range: Option<HeaderValue>,
}

#[derive(Deserialize, IntoParams)]
pub struct ImagePath {
    /// Its path below images/, or the path of a picture below media/, beginning with media/
    #[param(example = "brands/bud-bros/logo-ae38b1f9.webp")]
    path: String,
}

#[derive(Deserialize, IntoParams)]
pub struct BrandPath {
    /// The brand's name, or its slug
    brand: String,
}

/// A stored image, by its path below `images/`, as products name it in `local_image_path`, or a picture that a media job
/// downloaded, by its path with `media/`, as items name it.
#[utoipa::path(get, path = "/img/{*path}", tag = "images",
               responses((status = 200, content((Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/png"))),
                         (status = 206, description = "The requested range"),
                         (status = 304, description = "Not modified")))]
pub async fn show(
    _: ImageReader,
    State(api): State<ApiState>,
    Path(ImagePath { path }): Path<ImagePath>,
    ask: ImageAsk,
) -> Response {
    let answered = ask.answer(&api, &stored_path(path)).await;
    answered.unwrap_or_else(|error| ask.refuse(error))
}

/// The path under the storage root. No image lies in `images/media`, so that no two files share an address.
fn stored_path(path: String) -> String {
    match media_layout::is_media(&path) {
        true => path,
        false => format!("{}/{path}", image_layout::IMAGES),
    }
}

/// A product's image, by the product's id. If it is not stored, the `Link` header gives its address in the feed.
#[utoipa::path(get, path = "/img/product/{id}", tag = "images",
               responses((status = 200, content((Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/png"))),
                         (status = 206, description = "The requested range"),
                         (status = 304, description = "Not modified"), (status = 500, response = Problem)))]
pub async fn product(
    _: ImageReader,
    State(api): State<ApiState>,
    Path(ProductPath { id }): Path<ProductPath>,
    ask: ImageAsk,
) -> Result<Response, ApiError> {
    let image = products::images::of_product(&api.db.api_client().await?, id).await?;
    Ok(ask.answer_stored(&api, image, || format!("an image of product {id}")).await)
}

/// A brand's logo, by the brand's name or slug.
#[utoipa::path(get, path = "/img/brand/{brand}", tag = "images",
               responses((status = 200, content((Vec<u8> = "image/webp"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/png"))),
                         (status = 206, description = "The requested range"),
                         (status = 304, description = "Not modified"), (status = 500, response = Problem)))]
pub async fn brand(
    _: ImageReader,
    State(api): State<ApiState>,
    Path(BrandPath { brand }): Path<BrandPath>,
    ask: ImageAsk,
) -> Result<Response, ApiError> {
    let slug = image_layout::brand_slug(Some(&brand));
    let image = products::images::of_brand(&api.db.api_client().await?, &slug).await?;
    Ok(ask.answer_stored(&api, image, || format!("a logo of brand {brand}")).await)
}

impl ImageAsk {
    /// Answers with the image of a row that may not exist, or have no stored image.
    async fn answer_stored(&self, api: &ApiState, image: Option<OriginalImage>, what: impl Fn() -> String) -> Response {
        let Some(OriginalImage { path, url }) = image else { return self.refuse(ApiError::NotFound(what())) };
        let answered = match path {
            Some(path) => self.answer(api, &path).await,
            None => Err(ApiError::NotFound(what())),
        };
        match answered {
            // a path or product that is another's next week must not be kept for a year under this address
            Ok(mut response) => {
                response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(SOON));
                response
            }
            Err(error) => {
                let mut response = self.refuse(error);
                let link = url.and_then(|url| HeaderValue::try_from(format!("<{url}>; rel=\"original\"")).ok());
                if let Some(link) = link {
                    response.headers_mut().insert(LINK, link);
                }
                response
            }
        }
    }

    async fn answer(&self, api: &ApiState, path: &str) -> Result<Response, ApiError> {
        let variant = api.renderer.variant(path, &self.transform).await?;
        let mut response = self.conditions.answer(&variant);
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
        show_anywhere(headers);
        if self.varies_by_accept {
            headers.insert(VARY, HeaderValue::from_static("accept"));
        }
        Ok(response)
    }

    fn refuse(&self, error: ApiError) -> Response {
        if !(self.wants_placeholder && matches!(error, ApiError::NotFound(_))) {
            return error.into_response();
        }
        let headers = [(CONTENT_TYPE, Format::Png.content_type()), (CACHE_CONTROL, SOON)];
        let mut response = (StatusCode::NOT_FOUND, headers, PLACEHOLDER).into_response();
        show_anywhere(response.headers_mut());
        response
    }
}

/// Pages of other sites show it, and it runs nothing there.
fn show_anywhere(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
}

impl FromRequestParts<ApiState> for ImageAsk {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, ApiError> {
        let known = IfNoneMatch::from_request_parts(parts, api).await?;
        let is_signed = !api.images.signing_key.is_empty();
        let mut wants_placeholder = None;
        let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = Vec::new();
        for (name, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            match name.as_ref() {
                PLACEHOLDER_PARAMETER => placeholder(&mut wants_placeholder, &value)?,
                image_signature::PARAMETER if is_signed => {}
                _ => pairs.push((name, value)),
            }
        }
        let accept = parts.headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
        let pairs = pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
        let request = Transform::parse(pairs, accept).map_err(|bad| ApiError::bad(bad.name, bad.message))?;
        Ok(ImageAsk {
            transform: request.transform,
            varies_by_accept: request.varies_by_accept,
            wants_placeholder: wants_placeholder.is_some(),
            conditions: Conditions::new(known, &parts.headers),
        })
    }
}

impl Describe for ImageAsk {
    const READS_QUERY: bool = true;

    fn describe(description: &mut Description<'_>) {
        description.parameters::<ImageQuery>(ParameterIn::Query);
        // the stored file is damaged, not an image or lacks the part; the renderer is busy
        description.refusals(&["415", "416", "422", "503"]);
    }
}

fn placeholder(seen: &mut Option<()>, value: &str) -> Result<(), ApiError> {
    match (value, seen.replace(())) {
        ("1", None) => Ok(()),
        (_, Some(())) => Err(ApiError::bad(PLACEHOLDER_PARAMETER, "given twice")),
        (other, None) => Err(ApiError::bad(PLACEHOLDER_PARAMETER, format!("must be 1, not '{other}'"))),
    }
}

impl Conditions {
    fn new(known: IfNoneMatch, headers: &HeaderMap) -> Conditions {
        Conditions {
            known,
            if_modified_since: headers.get(IF_MODIFIED_SINCE).cloned(),
            range: headers.typed_get(),
            if_range: headers.get(IF_RANGE).cloned(),
        }
    }

    fn answer(&self, variant: &Variant) -> Response {
        let mut response = match self.is_known(variant) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => self.content(variant),
        };
        let headers = response.headers_mut();
        for (name, value) in [(ETAG, variant.etag.clone()), (LAST_MODIFIED, httpdate::fmt_http_date(variant.modified))]
        {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        response
    }

    /// A tag counts more than a date.
    fn is_known(&self, variant: &Variant) -> bool {
        if self.known.is_given() {
            return self.known.holds(&variant.etag);
        }
        self.if_modified_since.as_ref().is_some_and(|since| !is_newer(variant.modified, since))
    }

    fn content(&self, variant: &Variant) -> Response {
        let whole = variant.bytes.len() as u64;
        let Some(part) = self.part(variant, whole) else {
            let headers = [(CONTENT_TYPE, variant.format.content_type()), (ACCEPT_RANGES, "bytes")];
            return (headers, variant.bytes.clone()).into_response();
        };
        let Some((first, last)) = part else { return ApiError::NoSuchRange(whole).into_response() };
        let bytes = variant.bytes.slice(first as usize..=last as usize);
        let length = bytes.len();
        let headers = [
            (CONTENT_TYPE, variant.format.content_type().to_owned()),
            (CONTENT_RANGE, format!("bytes {first}-{last}/{whole}")),
            (CONTENT_LENGTH, length.to_string()),
        ];
        (StatusCode::PARTIAL_CONTENT, headers, bytes).into_response()
    }

    /// The one part that is asked for, of the bytes that the client has another part of. None: all. The inner
    /// None: there is no such part.
    fn part(&self, variant: &Variant, whole: u64) -> Option<Option<(u64, u64)>> {
        let range = self.range.as_ref()?;
        let same = |had: &HeaderValue| had.as_bytes() == variant.etag.as_bytes() || !is_newer(variant.modified, had);
        if !self.if_range.as_ref().is_none_or(same) {
            return None;
        }
        let mut parts = range.satisfiable_ranges(whole);
        let Some((first, last)) = parts.next() else { return Some(None) };
        // several parts would be a body of another type, which no client of images asks for
        if parts.next().is_some() {
            return None;
        }
        let first = if let Bound::Included(first) = first { first } else { 0 };
        let last =
            if let Bound::Included(last) = last { last.min(whole.saturating_sub(1)) } else { whole.saturating_sub(1) };
        Some((first <= last && first < whole).then_some((first, last)))
    }
}

/// Whether an image was stored after the date of a header, to the second. Text that is not a date counts as
/// long ago.
fn is_newer(modified: SystemTime, than: &HeaderValue) -> bool {
    let than = than.to_str().ok().and_then(|text| httpdate::parse_http_date(text).ok());
    let seconds = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    than.is_none_or(|than| seconds(modified) > seconds(than))
}

fn unsigned(error: ApiError, needs_token: bool) -> ApiError {
    match error {
        ApiError::Unauthenticated(_) if !needs_token => {
            ApiError::Forbidden("the address needs a signature (parameter s), or the request a token".to_owned())
        }
        other => other,
    }
}

impl From<RenderError> for ApiError {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Storage(StorageError::Missing { path } | StorageError::InvalidPath { path }) => {
                ApiError::NotFound(path)
            }
            RenderError::Storage(StorageError::Corrupt { path, .. }) => ApiError::NotFound(path),
            RenderError::Storage(other) => other.into(),
            RenderError::NotAnImage => ApiError::NotAnImage(error.to_string()),
            RenderError::Undecodable(_) => ApiError::Damaged(error.to_string()),
            RenderError::Busy(_) | RenderError::TooSlow => ApiError::Busy(error.to_string()),
        }
    }
}
