//! Decoding: from a container to upright sRGB pixels.
//!
//! Each decoder gets bytes whose header is within the limits. One that panics on a stranger's bytes has found an undecodable
//! image, not a fault that stops its caller.

mod gif;
mod jpeg;
mod jpeg_scan;
mod png;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::container::{Container, Picture};
use crate::pixels::Pixels;
use crate::{Format, ImageError, colour, webp};

/// The first picture, upright and in sRGB; with alpha only where something shines through.
///
/// `at_least` is a size before the turn, to which a decoder may reduce the picture while it reads it.
pub(crate) fn decode(container: &Container, at_least: (u32, u32)) -> Result<Pixels, ImageError> {
    let decode = || {
        let pixels = first_picture(container, at_least)?;
        let pixels = if pixels.is_translucent() { pixels } else { pixels.without_alpha() };
        Ok(colour::to_srgb(pixels, container.profile.as_deref()).upright(container.orientation))
    };
    catch_unwind(AssertUnwindSafe(decode))
        .unwrap_or_else(|_| Err(ImageError::undecodable(container.header.format, "its decoder gave up")))
}

fn first_picture(container: &Container, at_least: (u32, u32)) -> Result<Pixels, ImageError> {
    let header = container.header;
    match (header.format, &container.picture) {
        (Format::Jpeg, Picture::File(data)) => jpeg::decode(data, header),
        (Format::Png, Picture::File(data)) => png::decode(data, header),
        (Format::Gif, Picture::File(data)) => gif::decode(data, header),
        (Format::WebP, Picture::File(data)) => webp::decode_pixels(data, at_least.0, at_least.1),
        (_, Picture::Frame { data, left, top, width, height }) => {
            let frame = webp::decode_pixels(data, *width, *height)?.with_alpha();
            let mut canvas = Pixels::new(header.width, header.height, 4);
            canvas.place(&frame, *left, *top);
            Ok(canvas)
        }
        (Format::Avif, Picture::File(_)) => Err(ImageError::unsupported(Format::Avif, "AVIF is not decoded")),
    }
}
