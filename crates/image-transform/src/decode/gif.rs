//! GIF: the first frame, laid on its canvas.

use std::io::{Cursor, ErrorKind};

use gif::{ColorOutput, DecodeOptions, DecodingError, Frame};

use crate::container::Header;
use crate::pixels::Pixels;
use crate::{Format, ImageError};

pub fn decode(data: &[u8], header: Header) -> Result<Pixels, ImageError> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    let mut decoder = options.read_info(Cursor::new(data)).map_err(refusal)?;
    let frame = decoder.read_next_frame().map_err(refusal)?;
    let frame = frame.ok_or_else(|| ImageError::undecodable(Format::Gif, "it has no frame"))?;
    Ok(on_canvas(frame, header))
}

fn on_canvas(frame: &Frame, header: Header) -> Pixels {
    let (left, top) = (frame.left.into(), frame.top.into());
    let data = frame.buffer.to_vec();
    let frame = Pixels { width: frame.width.into(), height: frame.height.into(), channels: 4, data };
    if (left, top, frame.width, frame.height) == (0, 0, header.width, header.height) {
        return frame;
    }
    let mut canvas = Pixels::new(header.width, header.height, 4);
    canvas.place(&frame, left, top);
    canvas
}

fn refusal(error: DecodingError) -> ImageError {
    match error {
        DecodingError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            ImageError::truncated(Format::Gif, "its first frame ends early")
        }
        error => ImageError::undecodable(Format::Gif, error.to_string()),
    }
}
