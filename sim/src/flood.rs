//! `Flood`: an answer that is far larger than any menu, plain or as a bomb in one content coding or several.
//!
//! In: its content, its size, and its codings. Out: the names of the codings and a body. Plain ones are made
//! while they are sent.

use std::io;

use async_compression::Level;
use async_compression::tokio::write::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::body::Body;
use crate::encoding::Coding;

const BLOCK: usize = 64 << 10;
const HEAD: &str = r#"{"data":{"filteredProducts":{"queryInfo":{"totalCount":1,"totalPages":1},"products":["#;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flood {
    pub of: FloodOf,
    /// Size before any coding.
    pub bytes: usize,
    /// Codings from the first that was applied to the last; none = plain, without a length.
    pub codings: Vec<Coding>,
}

/// Content of a flood. None of them ends as JSON should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodOf {
    /// White space, which JSON ignores.
    Blanks,
    /// Elements of a menu, two bytes each.
    TinyElements,
    /// Empty products.
    TinyProducts,
    /// Lists in lists.
    Brackets,
    /// One product with one name.
    Text,
}

impl FloodOf {
    fn parts(self) -> (String, &'static [u8]) {
        match self {
            FloodOf::Blanks => (String::new(), b"    "),
            FloodOf::TinyElements => (HEAD.to_owned(), b"0,0,"),
            FloodOf::TinyProducts => (HEAD.to_owned(), b"{}, "),
            FloodOf::Brackets => (HEAD.to_owned(), b"[[[["),
            FloodOf::Text => (format!("{HEAD}{{\"_id\":\"a\",\"Name\":\""), b"text"),
        }
    }
}

impl Flood {
    /// The value of Content-Encoding, and the body.
    pub(crate) async fn answer(&self) -> io::Result<(Option<String>, Body)> {
        if self.codings.is_empty() {
            return Ok((None, self.plain()));
        }
        let (first, others) = self.codings.split_at(1);
        let mut bytes = self.coded(first[0]).await?;
        for coding in others {
            bytes = coding.encode(&bytes).await?;
        }
        let names: Vec<&str> = self.codings.iter().map(|coding| coding.name()).collect();
        Ok((Some(names.join(", ")), Full::new(Bytes::from(bytes)).map_err(|never| match never {}).boxed()))
    }

    fn plain(&self) -> Body {
        let (head, unit) = self.of.parts();
        let block = Bytes::from(unit.repeat(BLOCK / unit.len()));
        let blocks = std::iter::repeat_n(block, self.bytes.div_ceil(BLOCK));
        let frames = std::iter::once(Bytes::from(head)).chain(blocks).map(|bytes| Ok(Frame::data(bytes)));
        BodyExt::boxed(StreamBody::new(stream::iter(frames)))
    }

    async fn coded(&self, coding: Coding) -> io::Result<Vec<u8>> {
        let quick = Level::Fastest;
        Ok(match coding {
            Coding::Gzip => self.fill(GzipEncoder::with_quality(Vec::new(), quick)).await?.into_inner(),
            Coding::Brotli => self.fill(BrotliEncoder::with_quality(Vec::new(), quick)).await?.into_inner(),
            Coding::Deflate => self.fill(ZlibEncoder::with_quality(Vec::new(), quick)).await?.into_inner(),
            Coding::Zstd => self.fill(ZstdEncoder::with_quality(Vec::new(), quick)).await?.into_inner(),
        })
    }

    async fn fill<E: AsyncWrite + Unpin>(&self, mut encoder: E) -> io::Result<E> {
        let (head, unit) = self.of.parts();
        encoder.write_all(head.as_bytes()).await?;
        let block = unit.repeat(BLOCK / unit.len());
        for _ in 0..self.bytes.div_ceil(BLOCK) {
            encoder.write_all(&block).await?;
            // the world has one thread
            tokio::task::yield_now().await;
        }
        encoder.shutdown().await?;
        Ok(encoder)
    }
}
