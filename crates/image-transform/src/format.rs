//! `Format`: the image formats of this crate, and how bytes show theirs.
//!
//! Names and declared content types play no part: strangers choose those.

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Jpeg,
    Png,
    WebP,
    Gif,
    /// Recognised, and neither decoded nor encoded.
    Avif,
}

impl Format {
    /// The format whose signature the bytes begin with.
    pub fn sniff(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Some(Format::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Format::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::WebP),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Format::Gif),
            [_, _, _, _, b'f', b't', b'y', b'p', b'a', b'v', b'i', b'f' | b's', ..] => Some(Format::Avif),
            _ => None,
        }
    }

    /// Whether the bytes begin like a picture of a format that is not decoded here: AVIF and its kin, JPEG XL, JPEG 2000,
    /// JPEG XR.
    pub fn is_undecodable(bytes: &[u8]) -> bool {
        matches!(
            bytes,
            [_, _, _, _, b'f', b't', b'y', b'p', ..]
                | [0xFF, 0x0A, ..]
                | [0, 0, 0, 12, b'J', b'X', b'L', b' ', ..]
                | [0, 0, 0, 12, b'j', b'P', b' ', b' ', ..]
                | [0xFF, 0x4F, 0xFF, 0x51, ..]
                | [b'I', b'I', 0xBC, ..]
        )
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::WebP => "image/webp",
            Format::Gif => "image/gif",
            Format::Avif => "image/avif",
        }
    }

    /// The end of a file's name, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Jpeg => "jpg",
            Format::Png => "png",
            Format::WebP => "webp",
            Format::Gif => "gif",
            Format::Avif => "avif",
        }
    }

    /// The name in messages and in the parameter `format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jpeg => "jpeg",
            Format::Png => "png",
            Format::WebP => "webp",
            Format::Gif => "gif",
            Format::Avif => "avif",
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::avif(b"\0\0\0\x1cftypavif\0\0\0\0", true)]
    #[case::heic(b"\0\0\0\x18ftypheic\0\0\0\0", true)]
    #[case::jpeg_xl(b"\xff\x0a\xfa", true)]
    #[case::jpeg_xl_in_boxes(b"\0\0\0\x0cJXL \r\n\x87\n", true)]
    #[case::svg(b"<svg xmlns='http://www.w3.org/2000/svg'/>", false)]
    #[case::jpeg(b"\xff\xd8\xff\xe0", false)]
    #[case::html(b"<!doctype html>", false)]
    #[case::empty(b"", false)]
    fn a_format_that_is_not_decoded_shows_itself(#[case] bytes: &[u8], #[case] expected: bool) {
        assert_eq!(Format::is_undecodable(bytes), expected);
    }
}
