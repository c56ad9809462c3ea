//! GIF: the first frame, laid on its canvas.

use std::io::{Cursor, ErrorKind};

use image::codecs::gif::GifDecoder;
use image::{DynamicImage, ImageDecoder, Limits};

use crate::pixels::Pixels;
use crate::{Format, Header, ImageError};

const BYTES_PER_PIXEL: u64 = 4;
/// Maximum number of buffers of the canvas's size that the decoder holds at once, beside a little for its tables.
const BUFFERS: u64 = 3;
const MAX_TABLE_BYTES: u64 = 1 << 20;

pub fn decode(data: &[u8], header: Header) -> Result<Pixels, ImageError> {
    let image = decode_frame(data, header).map_err(refusal)?.into_rgba8();
    let (width, height) = image.dimensions();
    Ok(Pixels { width, height, channels: 4, data: image.into_raw() })
}

fn decode_frame(data: &[u8], header: Header) -> image::ImageResult<DynamicImage> {
    let mut decoder = GifDecoder::new(Cursor::new(data))?;
    let canvas = u64::from(header.width) * u64::from(header.height) * BYTES_PER_PIXEL;
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(BUFFERS * canvas + MAX_TABLE_BYTES);
    decoder.set_limits(limits)?;
    DynamicImage::from_decoder(decoder)
}

fn refusal(error: image::ImageError) -> ImageError {
    match error {
        image::ImageError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            ImageError::truncated(Format::Gif, "its first frame ends early")
        }
        error => ImageError::undecodable(Format::Gif, error.to_string()),
    }
}
