//! Takes the content coding off a body that has been received as a whole.
//!
//! Bytes in, bytes out, with a cap on the output. It runs on the CPU pool and must not know connections.

use std::io::{self, ErrorKind};

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt};

use foundation::inflate::{self, InflateError};
use foundation::memory::SMALL_BODY;

/// Codings that can be decoded, and hence offered by a fingerprint.
pub const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// The window browsers allow (8 MiB): more would let an answer of a few bytes claim 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Decodes `raw` from `coding` (lower case), to at most `limit` bytes.
pub fn decode(raw: &Bytes, coding: &str, limit: usize) -> Result<Bytes, InflateError> {
    let raw = raw.as_ref();
    match coding {
        _ if raw.is_empty() => Ok(Bytes::new()),
        "gzip" => inflate::gzip(raw, limit).map(Bytes::from),
        "deflate" if has_zlib_header(raw) => collect(ZlibDecoder::new(raw), limit),
        "deflate" => collect(DeflateDecoder::new(raw), limit),
        "br" => collect(BrotliDecoder::new(raw), limit),
        "zstd" => {
            let mut decoder = ZstdDecoder::with_params(raw, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
            decoder.multiple_members(true);
            collect(decoder, limit)
        }
        other => Err(InflateError::Broken(format!("unknown coding '{other}'"))),
    }
}

/// Some servers send a stream without the zlib header under the name `deflate`.
fn has_zlib_header(raw: &[u8]) -> bool {
    matches!(raw, [cmf, flags, ..] if cmf & 0x0f == 8 && (u16::from(*cmf) << 8 | u16::from(*flags)).is_multiple_of(31))
}

fn collect(decoder: impl AsyncRead + Unpin, limit: usize) -> Result<Bytes, InflateError> {
    let mut body = Vec::with_capacity(if limit > SMALL_BODY { limit + 1 } else { 0 });
    let mut bounded = decoder.take(limit as u64 + 1);
    // the source is a slice: it is never pending
    let read = bounded.read_to_end(&mut body).now_or_never();
    read.unwrap_or_else(|| Err(io::Error::other("the decoder waits for more"))).map_err(decode_error)?;
    if body.len() > limit {
        return Err(InflateError::TooLarge { limit });
    }
    Ok(Bytes::from(body))
}

fn decode_error(error: io::Error) -> InflateError {
    match error.kind() {
        ErrorKind::UnexpectedEof => InflateError::Truncated,
        _ => InflateError::Broken(error.to_string()),
    }
}
