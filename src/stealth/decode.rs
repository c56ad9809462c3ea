//! Takes a content coding off a body that has been received as a whole. Bytes behind its end are ignored, as by browsers.
//!
//! Bytes in, bytes out, with a cap on the output. It runs on the CPU pool and must not know connections.

use std::io::{self, ErrorKind};

use async_compression::tokio::bufread::{BrotliDecoder, DeflateDecoder, ZlibDecoder, ZstdDecoder};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt};

use foundation::inflate::{self, InflateError, Inflated};
use foundation::memory::SMALL_BODY;

/// Codings that can be decoded, and hence offered by a fingerprint.
pub const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

/// The window browsers allow (8 MiB): more would let an answer of a few bytes claim 128 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// Maximum number of frames in one body.
const MAX_FRAMES: usize = 1000;
/// Frames of zstd begin with the first; those without data have the second behind one byte.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ZSTD_SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];

/// A body, and the members that it came in.
#[derive(Debug)]
pub struct Unzipped {
    pub body: Bytes,
    pub members: Bytes,
}

/// Takes gzip off, to at most `limit` bytes.
pub fn unzip(raw: &Bytes, limit: usize) -> Result<Unzipped, InflateError> {
    if raw.is_empty() {
        return Ok(Unzipped { body: Bytes::new(), members: Bytes::new() });
    }
    let Inflated { text, used } = inflate::leading_gzip(raw, limit)?;
    Ok(Unzipped { body: Bytes::from(text), members: raw.slice(..used) })
}

/// Decodes `raw` from `coding` (lower case), to at most `limit` bytes.
pub fn decode(raw: &Bytes, coding: &str, limit: usize) -> Result<Bytes, InflateError> {
    if coding == "gzip" {
        return unzip(raw, limit).map(|unzipped| unzipped.body);
    }
    let raw = raw.as_ref();
    match coding {
        _ if raw.is_empty() => Ok(Bytes::new()),
        "deflate" if has_zlib_header(raw) => collect(ZlibDecoder::new(raw), limit),
        "deflate" => collect(DeflateDecoder::new(raw), limit),
        "br" => collect(BrotliDecoder::new(raw), limit),
        "zstd" => unzstd(raw, limit),
        other => Err(InflateError::Broken(format!("unknown coding '{other}'"))),
    }
}

/// All frames at the beginning.
fn unzstd(raw: &[u8], limit: usize) -> Result<Bytes, InflateError> {
    let (mut rest, mut body) = (raw, buffer(limit));
    for _ in 0..MAX_FRAMES {
        let mut decoder = ZstdDecoder::with_params(rest, &[DParameter::window_log_max(ZSTD_WINDOW_LOG)]);
        fill(&mut body, &mut decoder, limit)?;
        rest = decoder.into_inner();
        if !is_zstd_frame(rest) {
            return Ok(Bytes::from(body));
        }
    }
    Err(InflateError::Broken(format!("more than {MAX_FRAMES} frames")))
}

fn is_zstd_frame(raw: &[u8]) -> bool {
    raw.starts_with(&ZSTD_MAGIC) || raw.get(1..).is_some_and(|raw| raw.starts_with(&ZSTD_SKIPPABLE))
}

/// Some servers send a stream without the zlib header under the name `deflate`.
fn has_zlib_header(raw: &[u8]) -> bool {
    matches!(raw, [cmf, flags, ..] if cmf & 0x0f == 8 && (u16::from(*cmf) << 8 | u16::from(*flags)).is_multiple_of(31))
}

fn collect(decoder: impl AsyncRead + Unpin, limit: usize) -> Result<Bytes, InflateError> {
    let mut body = buffer(limit);
    fill(&mut body, decoder, limit)?;
    Ok(Bytes::from(body))
}

fn buffer(limit: usize) -> Vec<u8> {
    Vec::with_capacity(if limit > SMALL_BODY { limit + 1 } else { 0 })
}

/// Adds the decoder's text to a body of at most `limit` bytes.
fn fill(body: &mut Vec<u8>, decoder: impl AsyncRead + Unpin, limit: usize) -> Result<(), InflateError> {
    let mut bounded = decoder.take((limit + 1 - body.len()) as u64);
    // the source is a slice: it is never pending
    let read = bounded.read_to_end(body).now_or_never();
    read.unwrap_or_else(|| Err(io::Error::other("the decoder waits for more"))).map_err(decode_error)?;
    if body.len() > limit { Err(InflateError::TooLarge { limit }) } else { Ok(()) }
}

fn decode_error(error: io::Error) -> InflateError {
    match error.kind() {
        ErrorKind::UnexpectedEof => InflateError::Truncated,
        _ => InflateError::Broken(error.to_string()),
    }
}
