//! hyper's settings by which a header line that cannot be read costs itself alone.
//!
//! A connection goes through the [`FramingCheck`], since two of these lines must not be skipped.

use hyper::client::conn::http1;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tower::ServiceExt;
use tower::util::MapResponse;

use super::framing::FramingCheck;

/// Maximum number of headers of an answer; hyper bounds their bytes.
const MAX_HEADERS: usize = 400;

/// A connection of hyper whose answers' framing is checked.
pub type Checked<S> = TokioIo<FramingCheck<TokioIo<S>>>;

/// A connector of such connections.
pub type Lenient<C, S> = MapResponse<C, fn(S) -> Checked<S>>;

pub fn checked<S>(stream: S) -> Checked<S> {
    TokioIo::new(FramingCheck::new(TokioIo::new(stream)))
}

pub fn lenient<C, S>(connector: C) -> Lenient<C, S>
where
    C: tower::Service<hyper::Uri, Response = S>,
{
    connector.map_response(checked)
}

/// Settings of one connection, which [`checked`] has made.
pub fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .ignore_invalid_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .max_headers(MAX_HEADERS);
    builder
}

/// Settings of many connections, by a connector that [`lenient`] has made.
pub fn client() -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_max_headers(MAX_HEADERS);
    builder
}
