//! JPEG, by zune-jpeg itself: `image` copies the file, is never strict, and does not bound the number of scans.

use std::io::Cursor;

use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use super::jpeg_scan;
use crate::pixels::Pixels;
use crate::{Format, Header, ImageError};

/// Maximum number of scans of a progressive picture; each costs a pass over all of it. Encoders write about ten.
const MAX_SCANS: usize = 64;

pub fn decode(data: &[u8], header: Header) -> Result<Pixels, ImageError> {
    let is_complete = jpeg_scan::is_complete(data);
    if is_complete == Some(false) {
        return Err(ImageError::truncated(Format::Jpeg, "its scan ends before the picture does"));
    }
    match decode_with(data, header, true) {
        // harmless, and common in files from old cameras; a lax decoder fills in whatever is broken
        Err(error) if is_complete.is_some() && error.to_string().contains("Extra bytes") => {
            decode_with(data, header, false)
        }
        result => result,
    }
    .map_err(refusal)
}

fn decode_with(data: &[u8], header: Header, strict: bool) -> Result<Pixels, DecodeErrors> {
    let options = DecoderOptions::new_fast()
        .set_strict_mode(strict)
        .set_max_width(header.width as usize)
        .set_max_height(header.height as usize)
        .jpeg_set_max_scans(MAX_SCANS)
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(Cursor::new(data), options);
    decoder.decode_headers()?;
    let mut pixels = Pixels::new(header.width, header.height, 3);
    if decoder.output_buffer_size() != Some(pixels.data.len()) {
        return Err(DecodeErrors::FormatStatic("its decoder sees another size"));
    }
    decoder.decode_into(&mut pixels.data)?;
    Ok(pixels)
}

fn refusal(error: DecodeErrors) -> ImageError {
    let detail = error.to_string();
    match error {
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => ImageError::truncated(Format::Jpeg, detail),
        DecodeErrors::FormatStatic("Premature end of buffer") => ImageError::truncated(Format::Jpeg, detail),
        DecodeErrors::Unsupported(_) => ImageError::unsupported(Format::Jpeg, detail),
        _ => ImageError::undecodable(Format::Jpeg, detail),
    }
}
