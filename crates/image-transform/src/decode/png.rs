//! PNG, reduced to 8 bits a channel while it is read.
//!
//! By the crate `png` itself: `image` decodes all 16 bits of a channel first, and keeps all texts, which takes three times the
//! memory and refuses a small picture with a long text.

use std::io::{Cursor, ErrorKind};

use png::{ColorType, Decoder, DecodingError, Limits, Transformations};

use crate::pixels::Pixels;
use crate::{Format, Header, ImageError};

/// Maximum number of bytes that the decoder takes beside the pixels, for rows and for a chunk of metadata.
const MAX_WORKING_BYTES: usize = 8 * 1024 * 1024;

pub fn decode(data: &[u8], header: Header) -> Result<Pixels, ImageError> {
    decode_samples(data, header).map_err(refusal)?.ok_or_else(|| ImageError::undecodable(Format::Png, "an odd size"))
}

fn decode_samples(data: &[u8], header: Header) -> Result<Option<Pixels>, DecodingError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(data), Limits { bytes: MAX_WORKING_BYTES });
    decoder.set_transformations(Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let mut reader = decoder.read_info()?;
    let (colour, _) = reader.output_color_type();
    let samples = header.width as usize * header.height as usize * colour.samples();
    if reader.output_buffer_size() != Some(samples) {
        return Ok(None);
    }
    let mut data = vec![0; samples];
    reader.next_frame(&mut data)?;
    Ok(Some(to_pixels(header, colour, data)))
}

fn to_pixels(header: Header, colour: ColorType, data: Vec<u8>) -> Pixels {
    let (channels, data) = match colour {
        ColorType::Grayscale | ColorType::Indexed => (3, data.iter().flat_map(|&gray| [gray; 3]).collect()),
        ColorType::GrayscaleAlpha => {
            (4, data.as_chunks::<2>().0.iter().flat_map(|&[gray, alpha]| [gray, gray, gray, alpha]).collect())
        }
        ColorType::Rgb => (3, data),
        ColorType::Rgba => (4, data),
    };
    Pixels { width: header.width, height: header.height, channels, data }
}

fn refusal(error: DecodingError) -> ImageError {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            ImageError::truncated(Format::Png, "its image data ends before the picture does")
        }
        // the kinds of this error are private
        error if error.to_string().contains("not have enough data") => {
            ImageError::truncated(Format::Png, error.to_string())
        }
        error => ImageError::undecodable(Format::Png, error.to_string()),
    }
}
