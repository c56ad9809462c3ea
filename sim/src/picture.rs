//! `Picture`: the photograph of a product, and in which of its places upstream keeps it.

use crate::draw::Draw;
use crate::pictures::PictureHost;

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
    pub(crate) fn draw(draw: &mut Draw, host: &PictureHost) -> Picture {
        // upstream has two hosts, of which this was the choice: a seed keeps its world
        draw.next();
        let url = host.url(&draw.hex32());
        match draw.below(100) {
            nth if nth >= host.percent() => Picture::None,
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
