//! `Content`: the picture at an address, of which there are few. Many addresses share one, so that each is
//! encoded once.

use super::kind::PictureKind;
use super::plan::Subject;
use crate::draw::Draw;

const SMALL: u64 = 90;
const MEDIUM: u64 = 6;
const FIRST_LARGE: u64 = SMALL + MEDIUM;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Content {
    pub(crate) subject: Subject,
    pub(crate) format: Format,
    /// Number among the pictures of its subject and format.
    pub(crate) number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Format {
    Jpeg,
    Png,
    Webp,
    Gif,
}

/// How large a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// 40 to 120 pixels a side.
    Small,
    /// 400 pixels wide.
    Medium,
    /// 1200 pixels a side.
    Large,
}

impl Content {
    pub(crate) fn draw(draw: &mut Draw, subject: Subject, kind: PictureKind) -> Content {
        let format = Format::draw(draw, subject, kind);
        let (is_large, is_medium) = (draw.below(500) == 0, draw.percent(3));
        let number = match (is_large, is_medium) {
            // an encoder of GIFs would take too long
            (true, _) if format != Format::Gif => FIRST_LARGE,
            (_, true) => SMALL + draw.below(MEDIUM),
            _ => draw.below(SMALL),
        };
        Content { subject, format, number }
    }

    pub(crate) fn scale(self) -> Scale {
        match self.number {
            0..SMALL => Scale::Small,
            SMALL..FIRST_LARGE => Scale::Medium,
            _ => Scale::Large,
        }
    }

    pub(crate) fn is_transparent(self) -> bool {
        match self.format {
            Format::Jpeg | Format::Gif => false,
            Format::Png | Format::Webp => self.subject == Subject::Logo || self.number.is_multiple_of(3),
        }
    }
}

impl Format {
    fn draw(draw: &mut Draw, subject: Subject, kind: PictureKind) -> Format {
        let format = match draw.below(86) {
            0..40 => Format::Jpeg,
            40..60 => Format::Png,
            60..80 => Format::Webp,
            _ => Format::Gif,
        };
        match (subject, kind, format) {
            (Subject::Logo, _, Format::Jpeg) => Format::Png,
            // half a GIF may hold all of its first frame, and `image/gif` is one of the false media types
            (_, PictureKind::HalfFile | PictureKind::Mislabelled, Format::Gif) => Format::Png,
            (_, PictureKind::Mislabelled, Format::Webp) => Format::Png,
            (Subject::Logo, _, Format::Gif) => Format::Webp,
            _ => format,
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::Webp => "image/webp",
            Format::Gif => "image/gif",
        }
    }
}
