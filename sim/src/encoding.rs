//! Content codings of answers: the client's coding that the world prefers, otherwise its coding that is kept
//! best (gzip before all others).

use async_compression::Level;
use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use http::HeaderMap;
use http::header::ACCEPT_ENCODING;
use tokio::io::AsyncReadExt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coding {
    Gzip,
    Brotli,
    Deflate,
    Zstd,
}

impl Coding {
    /// Codings in the order of preference.
    const ALL: [Coding; 4] = [Coding::Gzip, Coding::Brotli, Coding::Deflate, Coding::Zstd];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
            Coding::Deflate => "deflate",
            Coding::Zstd => "zstd",
        }
    }

    /// None = as it is.
    pub(crate) fn choose(headers: &HeaderMap, preferred: Option<Coding>) -> Option<Coding> {
        let offered = headers.get(ACCEPT_ENCODING)?.to_str().ok()?;
        let offers = |coding: &Coding| offered.split(',').any(|item| is_offer_of(item, coding.name()));
        preferred.into_iter().chain(Coding::ALL).find(offers)
    }

    /// Quick rather than small: the simulator shares its cores with the measured program.
    pub(crate) async fn encode(self, body: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(body.len() / 6);
        match self {
            Coding::Gzip => GzipEncoder::with_quality(body, Level::Fastest).read_to_end(&mut out).await?,
            Coding::Brotli => BrotliEncoder::with_quality(body, Level::Fastest).read_to_end(&mut out).await?,
            Coding::Deflate => ZlibEncoder::with_quality(body, Level::Fastest).read_to_end(&mut out).await?,
            Coding::Zstd => ZstdEncoder::with_quality(body, Level::Fastest).read_to_end(&mut out).await?,
        };
        Ok(out)
    }
}

fn is_offer_of(item: &str, name: &str) -> bool {
    let (coding, weight) = item.split_once(';').unwrap_or((item, ""));
    coding.trim().eq_ignore_ascii_case(name) && weight.trim() != "q=0"
}
