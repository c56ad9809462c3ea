//! `PictureKind`: the way in which a picture is served, of all ways that image hosts have, and a careful
//! client's result.

use crate::draw::Draw;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PictureKind {
    /// A good picture, as are the next three.
    Plain,
    /// One to three redirects within the origin, absolute and relative ones.
    Redirected,
    /// A JPEG or PNG whose Content-Type is another one.
    Mislabelled,
    /// The body takes most of a second.
    Slow,
    /// Random bytes, called a JPEG.
    RandomBytes,
    /// The first half of a file, with the length of that half.
    HalfFile,
    /// The connection ends (h2: the stream is reset) after half of the body.
    BrokenOff,
    /// A PNG of few bytes that announces 30,000 × 30,000 pixels.
    HugeByHeader,
    /// More than 20 MiB, announced or not.
    LargeBody,
    /// A page in HTML, called a JPEG.
    Html,
    Svg,
    NotFound,
    /// 410 or 500.
    Failing,
    /// Redirects in a circle, or four and five of them in a row.
    EndlessRedirects,
    /// A redirect to a host that is not the origin.
    OtherHost,
    /// A 200 without a body.
    Empty,
}

impl PictureKind {
    pub const ALL: [PictureKind; 16] = [
        PictureKind::Plain,
        PictureKind::Redirected,
        PictureKind::Mislabelled,
        PictureKind::Slow,
        PictureKind::RandomBytes,
        PictureKind::HalfFile,
        PictureKind::BrokenOff,
        PictureKind::HugeByHeader,
        PictureKind::LargeBody,
        PictureKind::Html,
        PictureKind::Svg,
        PictureKind::NotFound,
        PictureKind::Failing,
        PictureKind::EndlessRedirects,
        PictureKind::OtherHost,
        PictureKind::Empty,
    ];

    pub(crate) fn draw(draw: &mut Draw) -> PictureKind {
        match draw.below(1000) {
            0..815 => PictureKind::Plain,
            815..855 => PictureKind::Redirected,
            855..875 => PictureKind::Mislabelled,
            875..885 => PictureKind::Slow,
            885..896 => PictureKind::RandomBytes,
            896..906 => PictureKind::HalfFile,
            906..916 => PictureKind::BrokenOff,
            916..926 => PictureKind::HugeByHeader,
            // the one that costs time to serve
            926..930 => PictureKind::LargeBody,
            930..940 => PictureKind::Html,
            940..950 => PictureKind::Svg,
            950..960 => PictureKind::NotFound,
            960..970 => PictureKind::Failing,
            970..980 => PictureKind::EndlessRedirects,
            980..990 => PictureKind::OtherHost,
            _ => PictureKind::Empty,
        }
    }

    /// Why a client must not keep it: `http`, `too_large`, `not_an_image`, `truncated` or `refused_redirect`.
    /// None for good ones.
    pub fn failure(self) -> Option<&'static str> {
        match self {
            PictureKind::Plain | PictureKind::Redirected | PictureKind::Mislabelled | PictureKind::Slow => None,
            PictureKind::RandomBytes | PictureKind::Html | PictureKind::Svg | PictureKind::Empty => {
                Some("not_an_image")
            }
            PictureKind::HalfFile => Some("truncated"),
            PictureKind::HugeByHeader | PictureKind::LargeBody => Some("too_large"),
            PictureKind::OtherHost => Some("refused_redirect"),
            PictureKind::BrokenOff | PictureKind::NotFound | PictureKind::Failing | PictureKind::EndlessRedirects => {
                Some("http")
            }
        }
    }
}
