//! The kept image: WebP in full resolution, upright, in sRGB, without metadata.

use std::collections::HashSet;

use crate::pixels::Pixels;
use crate::webp::{Coding, Effort, encode_pixels};
use crate::{DEFAULT_QUALITY, Format, ImageError, container, decode};

/// The kept form of a downloaded image.
#[derive(Debug, Clone)]
pub struct Stored {
    pub webp: Vec<u8>,
    pub width: u32,
    pub height: u32,
    /// The format of the bytes that it was made from.
    pub source: Format,
}

/// Maximum number of colours of a picture for which a lossless coding is tried: logos and drawings, not photographs.
const MAX_LOSSLESS_COLOURS: usize = 256;

/// Makes the kept WebP of a downloaded image: its first frame, lossy; lossless where the source is lossless, has few colours
/// and comes out smaller so.
///
/// # Errors
/// Bytes that [`crate::probe`] refuses, and those whose picture turns out broken or incomplete.
pub fn to_stored(bytes: &[u8]) -> Result<Stored, ImageError> {
    let container = container::read(bytes)?;
    let pixels = decode::decode(&container, (container.header.width, container.header.height))?;
    let lossy = encode_pixels(&pixels, Coding::Lossy { quality: DEFAULT_QUALITY, effort: Effort::Keep })?;
    let webp = if container.lossless && has_few_colours(&pixels) {
        let lossless = encode_pixels(&pixels, Coding::Lossless)?;
        if lossless.len() < lossy.len() { lossless } else { lossy }
    } else {
        lossy
    };
    Ok(Stored { webp, width: pixels.width, height: pixels.height, source: container.header.format })
}

fn has_few_colours(pixels: &Pixels) -> bool {
    let mut seen = HashSet::new();
    let mut last: &[u8] = &[];
    pixels.data.chunks_exact(pixels.channels).all(|colour| {
        if colour != last {
            last = colour;
            seen.insert(colour);
        }
        seen.len() <= MAX_LOSSLESS_COLOURS
    })
}
