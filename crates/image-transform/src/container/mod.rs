//! Containers: walks the structure of an image file, without decoding any pixel.
//!
//! In: a stranger's bytes. Out: size, orientation, colour profile and where the first picture lies; or the refusal. Takes time
//! in proportion to the bytes at most, and memory for nothing but the colour profile.

mod bytes;
mod gif;
mod jpeg;
mod png;
mod webp;

use std::borrow::Cow;

pub(crate) use bytes::Bytes;
pub(crate) use jpeg::{next_marker, next_segment};

use crate::exif::Orientation;
use crate::{Format, ImageError, limits};

/// The size and format that an image states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub format: Format,
    /// Width as stored, before any turn that Exif asks for.
    pub width: u32,
    pub height: u32,
}

/// A file that is whole and within all limits, as far as that shows without decoding.
#[derive(Debug)]
pub(crate) struct Container<'a> {
    pub header: Header,
    pub orientation: Orientation,
    pub profile: Option<Cow<'a, [u8]>>,
    /// Whether the coding keeps every pixel as it was.
    pub lossless: bool,
    pub picture: Picture<'a>,
}

impl Container<'_> {
    /// Width and height after the turn that Exif asks for.
    pub fn upright_size(&self) -> (u32, u32) {
        let Header { width, height, .. } = self.header;
        if self.orientation.swaps_sides() { (height, width) } else { (width, height) }
    }
}

/// Place of the first picture.
#[derive(Debug)]
pub(crate) enum Picture<'a> {
    /// The bytes as a whole.
    File(&'a [u8]),
    /// A frame of an animated WebP, which covers a part of the canvas.
    Frame { data: &'a [u8], left: u32, top: u32, width: u32, height: u32 },
}

/// Reads the header and the structure of an image: what can be refused without decoding is refused here.
///
/// # Errors
/// Bytes of no accepted format, beyond a limit, incomplete or broken.
pub fn probe(bytes: &[u8]) -> Result<Header, ImageError> {
    read(bytes).map(|container| container.header)
}

pub(crate) fn read(bytes: &[u8]) -> Result<Container<'_>, ImageError> {
    limits::check_bytes(bytes)?;
    let format = Format::sniff(bytes).ok_or_else(|| not_an_image(bytes))?;
    match format {
        Format::Jpeg => jpeg::read(bytes),
        Format::Png => png::read(bytes),
        Format::WebP => webp::read(bytes),
        Format::Gif => gif::read(bytes),
        Format::Avif => Err(ImageError::unsupported(format, "AVIF is not decoded")),
    }
}

fn not_an_image(bytes: &[u8]) -> ImageError {
    let seen = match bytes {
        [] => "it is empty",
        [b'<', ..] | [0xEF, 0xBB, 0xBF, b'<', ..] => "it begins like HTML, SVG or XML",
        [b'P', b'K', ..] => "it begins like a ZIP archive",
        [b'%', b'P', b'D', b'F', ..] => "it begins like a PDF",
        _ => "it does not begin like an accepted format (JPEG, PNG, WebP, GIF)",
    };
    ImageError::NotAnImage { detail: seen.to_owned() }
}

/// Checks a size that a header states.
fn check_size(format: Format, width: u32, height: u32) -> Result<(), ImageError> {
    if width == 0 || height == 0 {
        return Err(ImageError::undecodable(format, format!("its size is {width}x{height}")));
    }
    limits::check_size(width, height)
}
