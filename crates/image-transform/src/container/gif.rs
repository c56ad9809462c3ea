//! GIF's blocks, up to the end of the first frame; what follows it is never read.
//!
//! The crate `image` cannot take this over: it shows no frame's size before it decodes the frame, does not notice that the
//! frame's end is missing, and reads a long comment of short blocks more slowly than a refusal may be.

use super::{Bytes, Container, Header, Picture, check_size};
use crate::exif::Orientation;
use crate::{Format, ImageError};

/// Maximum number of extensions before the first frame; files have a handful.
const MAX_EXTENSIONS: usize = 1_000;

const SIGNATURE_BYTES: usize = 6;
const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2C;
const TRAILER: u8 = 0x3B;

pub fn read(bytes: &[u8]) -> Result<Container<'_>, ImageError> {
    let mut reader = Bytes::new(Format::Gif, bytes);
    reader.skip(SIGNATURE_BYTES)?;
    let (width, height) = (u32::from(reader.u16_le()?), u32::from(reader.u16_le()?));
    check_size(Format::Gif, width, height)?;
    let flags = reader.u8()?;
    reader.skip(2)?;
    skip_colours(&mut reader, flags)?;
    skip_to_frame(&mut reader)?;
    skip_frame(&mut reader)?;
    Ok(Container {
        header: Header { format: Format::Gif, width, height },
        orientation: Orientation::default(),
        profile: None,
        lossless: true,
        picture: Picture::File(bytes),
    })
}

fn skip_to_frame(reader: &mut Bytes) -> Result<(), ImageError> {
    for _ in 0..MAX_EXTENSIONS {
        match reader.u8()? {
            IMAGE => return Ok(()),
            EXTENSION => {
                reader.skip(1)?;
                skip_blocks(reader)?;
            }
            TRAILER => return Err(ImageError::undecodable(Format::Gif, "it has no frame")),
            other => return Err(ImageError::undecodable(Format::Gif, format!("a block begins with {other:#04x}"))),
        }
    }
    Err(ImageError::undecodable(Format::Gif, "it has more extensions than any picture"))
}

fn skip_frame(reader: &mut Bytes) -> Result<(), ImageError> {
    reader.skip(4)?;
    let (width, height) = (reader.u16_le()?, reader.u16_le()?);
    check_size(Format::Gif, width.into(), height.into())?;
    let flags = reader.u8()?;
    skip_colours(reader, flags)?;
    reader.skip(1)?;
    skip_blocks(reader)
}

fn skip_colours(reader: &mut Bytes, flags: u8) -> Result<(), ImageError> {
    if flags & 0x80 == 0 {
        return Ok(());
    }
    reader.skip(3 << ((flags & 7) + 1))
}

fn skip_blocks(reader: &mut Bytes) -> Result<(), ImageError> {
    let rest = reader.rest();
    let mut at = 0;
    while let Some(length) = rest.get(at).filter(|length| **length > 0) {
        at += usize::from(*length) + 1;
    }
    reader.skip(at + 1)
}
