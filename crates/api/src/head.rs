//! Maximum length of a request's head, whatever it asks for: its target (414) and its header fields (431).
//!
//! In: a request. Out: the refusal, as a problem document. The HTTP library refuses malformed requests, more
//! than 100 header fields, and heads that do not fit the buffer of a connection, which is larger than these
//! bounds: with a status alone.

use axum::extract::Request;
use axum::http::HeaderMap;

use super::ApiError;

/// Length that RFC 9110 recommends to support. The longest filters and cursors are far shorter.
const MAX_TARGET_BYTES: usize = 8 * 1024;
const MAX_FIELD_BYTES: usize = 64 * 1024;
/// Additional bytes of one field: colon, space, and the end of its line.
const SEPARATORS: usize = 4;

pub fn check(request: &Request) -> Result<(), ApiError> {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    if target > MAX_TARGET_BYTES {
        return Err(ApiError::TargetTooLong(MAX_TARGET_BYTES));
    }
    if field_bytes(request.headers()) > MAX_FIELD_BYTES {
        return Err(ApiError::HeadTooLarge(MAX_FIELD_BYTES));
    }
    Ok(())
}

fn field_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + SEPARATORS).sum()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::request::Builder;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::usual(Request::builder().uri("/api/tasks?limit=1").header("host", "localhost"), true)]
    #[case::a_target_of_the_longest(Request::builder().uri(target(MAX_TARGET_BYTES)), true)]
    #[case::a_longer_one(Request::builder().uri(target(MAX_TARGET_BYTES + 1)), false)]
    #[case::one_large_field(Request::builder().header("x", "x".repeat(MAX_FIELD_BYTES)), false)]
    #[case::many_fields(many_fields(90, 1_000), false)]
    #[case::fields_that_fit(many_fields(90, 500), true)]
    fn a_head_has_its_bounds(#[case] request: Builder, #[case] fits: bool) {
        assert_eq!(check(&request.body(Body::empty()).unwrap()).is_ok(), fits);
    }

    fn target(bytes: usize) -> String {
        format!("/{}", "x".repeat(bytes - 1))
    }

    fn many_fields(fields: usize, bytes: usize) -> Builder {
        let field = |request: Builder, n| request.header(format!("x-{n}"), "x".repeat(bytes));
        (0..fields).fold(Request::builder(), field)
    }
}
