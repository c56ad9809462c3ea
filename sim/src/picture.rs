//! `Picture`: the photograph of a product, and in which of its places upstream keeps it.

use crate::draw::Draw;
use crate::pictures::PictureHost;

pub(crate) enum Picture {
    None,
    /// Picture in `Image`, and in `images[]` again.
    Main(String),
    /// An older picture, switched off, comes first in `images[]`; this one is in `Image`.
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

    /// Address from which a shop would show it.
    pub(crate) fn url(&self) -> Option<&str> {
        match self {
            Picture::None => None,
            Picture::Main(url) | Picture::MainAndOld(url) | Picture::Listed(url) => Some(url),
        }
    }
}
