//! `Picture`: the photograph of a product, and in which of its places upstream keeps it.

use crate::draw::Draw;

pub(crate) enum Picture {
    None,
    /// In `Image`, and in `images[]` again.
    Main(String),
    /// In `Image`; an older one that is switched off comes first in `images[]`.
    MainAndOld(String),
    /// `Image` is empty, and `images[]` begins with one that is switched off.
    Listed(String),
}

impl Picture {
    pub(crate) fn draw(draw: &mut Draw) -> Picture {
        let bucket = if draw.percent(30) { "s3-us-west-2.amazonaws.com/dutchie-images" } else { "images.dutchie.com" };
        let url = format!("https://{bucket}/{}", draw.hex32());
        match draw.below(100) {
            0..8 => Picture::None,
            8..14 => Picture::Listed(url),
            14..20 => Picture::MainAndOld(url),
            _ => Picture::Main(url),
        }
    }

    /// Where a shop would show it from.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Picture::None => None,
            Picture::Main(url) | Picture::MainAndOld(url) | Picture::Listed(url) => Some(url),
        }
    }
}
