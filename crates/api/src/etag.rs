//! `ETag`: the version of an answer, so that a client need not read it again (`If-None-Match`, 304) and two
//! clients do not overwrite each other (`If-Match`, 412).
//!
//! A tag is `"{version}-{digest}"`. The digest is of the whole answer, of which some changes without a new
//! version: how far a run is, or when a schedule runs next. A change compares the version alone.

use axum::extract::FromRequestParts;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;

use super::{ApiError, ApiState, Describe, Description};
use foundation::digest::sha256_hex;

const DIGEST_CHARS: usize = 16;
/// Version of a missing resource: a tag that is not ours matches none.
const NO_VERSION: i64 = -1;

/// The tags that the client has; none if it did not say.
pub struct IfNoneMatch(Option<String>);

/// The version that a change is for; None: any.
pub struct IfMatch(pub Option<i64>);

impl IfNoneMatch {
    /// Answers with the body, or with 304 where the client has it.
    pub fn answer(&self, version: i64, body: &impl Serialize) -> Result<Response, ApiError> {
        let json = serde_json::to_vec(body).map_err(ApiError::no_json)?;
        let tag = tag(version, &json);
        let response = match self.holds(&tag) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => ([(CONTENT_TYPE, "application/json")], json).into_response(),
        };
        tagged(response, &tag)
    }

    /// Whether the client has anything.
    pub fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// Whether the client has the content that `tag` identifies.
    pub fn holds(&self, tag: &str) -> bool {
        let is_it = |given: &str| given == "*" || given.strip_prefix("W/").unwrap_or(given) == tag;
        self.0.as_deref().is_some_and(|given| given.split(',').any(|given| is_it(given.trim())))
    }
}

/// Adds the tag of the changed resource to the answer that holds it.
pub fn with_tag(response: Response, version: i64, body: &impl Serialize) -> Result<Response, ApiError> {
    let json = serde_json::to_vec(body).map_err(ApiError::no_json)?;
    tagged(response, &tag(version, &json))
}

fn tag(version: i64, json: &[u8]) -> String {
    let mut digest = sha256_hex(json);
    digest.truncate(DIGEST_CHARS);
    format!("\"{version}-{digest}\"")
}

fn tagged(mut response: Response, tag: &str) -> Result<Response, ApiError> {
    let value = HeaderValue::try_from(tag).map_err(|error| ApiError::Internal(error.to_string()))?;
    response.headers_mut().insert(ETAG, value);
    Ok(response)
}

impl FromRequestParts<ApiState> for IfNoneMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        let given = parts.headers.get_all(IF_NONE_MATCH).iter().map(HeaderValue::to_str).collect::<Result<Vec<_>, _>>();
        match given {
            Ok(given) if given.is_empty() => Ok(IfNoneMatch(None)),
            Ok(given) => Ok(IfNoneMatch(Some(given.join(",")))),
            Err(_) => Err(not_ascii("If-None-Match")),
        }
    }
}

impl FromRequestParts<ApiState> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ApiState) -> Result<Self, ApiError> {
        match only(&parts.headers, IF_MATCH)? {
            None | Some("*") => Ok(IfMatch(None)),
            Some(tag) => Ok(IfMatch(Some(version_of(tag)?))),
        }
    }
}

impl Describe for IfNoneMatch {
    fn describe(description: &mut Description<'_>) {
        description.parameters::<IfNoneMatchHeader>(ParameterIn::Header);
    }
}

impl Describe for IfMatch {
    fn describe(description: &mut Description<'_>) {
        description.parameters::<IfMatchHeader>(ParameterIn::Header);
        description.refusals(&["412"]);
    }
}

/// [`IfNoneMatch`] as clients send it.
#[derive(IntoParams)]
#[expect(dead_code, reason = "only described")]
struct IfNoneMatchHeader {
    /// The ETag of an earlier answer
    #[param(rename = "If-None-Match")]
    tags: Option<String>,
}

/// [`IfMatch`] as clients send it.
#[derive(IntoParams)]
#[expect(dead_code, reason = "only described")]
struct IfMatchHeader {
    /// The ETag of the resource as it was read
    #[param(rename = "If-Match", pattern = r#"^(\*|(W/)?"[!#-~]*")$"#)]
    tag: Option<String>,
}

fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ApiError> {
    let mut given = headers.get_all(&name).iter();
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(|text| Some(text.trim())).map_err(|_| not_ascii("If-Match")),
        (Some(_), Some(_)) => Err(ApiError::bad("If-Match", "given twice")),
    }
}

fn version_of(tag: &str) -> Result<i64, ApiError> {
    // a weak tag says that something else may be there: it matches nothing
    let opaque = tag.strip_prefix("W/").unwrap_or(tag).strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    let opaque = opaque.filter(|opaque| !opaque.contains('"'));
    let opaque = opaque.ok_or_else(|| ApiError::bad("If-Match", "expected one ETag, in its quotes, or *"))?;
    let version = opaque.split_once('-').and_then(|(version, _)| version.parse().ok());
    Ok(version.filter(|_| !tag.starts_with("W/")).unwrap_or(NO_VERSION))
}

fn not_ascii(name: &str) -> ApiError {
    ApiError::bad(name, "must be ASCII")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::ours("\"7-0123456789abcdef\"", Ok(7))]
    #[case::weak("W/\"7-0123456789abcdef\"", Ok(NO_VERSION))]
    #[case::of_another_server("\"abc\"", Ok(NO_VERSION))]
    #[case::no_quotes("7-0123456789abcdef", Err(()))]
    #[case::two("\"7-a\", \"8-b\"", Err(()))]
    fn a_tag_holds_a_version(#[case] tag: &str, #[case] version: Result<i64, ()>) {
        assert_eq!(version_of(tag).map_err(drop), version);
    }

    #[rstest]
    #[case::nothing(None, 200)]
    #[case::another(Some("\"7-other\""), 200)]
    #[case::anything(Some("*"), 304)]
    fn an_answer_that_is_known_is_not_sent_again(#[case] given: Option<&str>, #[case] status: u16) {
        let answer = IfNoneMatch(given.map(str::to_owned)).answer(7, &"body").unwrap();
        assert_eq!(answer.status().as_u16(), status);
        let tag = answer.headers()[ETAG].to_str().unwrap().to_owned();
        for given in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            assert_eq!(IfNoneMatch(Some(given)).answer(7, &"body").unwrap().status(), 304);
        }
        assert_eq!(IfNoneMatch(Some(tag)).answer(7, &"another body").unwrap().status(), 200);
    }
}
