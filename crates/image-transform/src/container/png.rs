//! PNG's chunks, from the header to the end chunk.
//!
//! The crate `image` cannot take this over: it drops a profile that inflates beyond a limit instead of refusing it, keeps all
//! texts in memory, and reads no further than the pixels.

use std::borrow::Cow;

use fdeflate::{BoundedDecompressionError, decompress_to_vec_bounded};

use super::{Bytes, Container, Header, Picture, check_size};
use crate::exif::{self, Orientation};
use crate::{Format, ImageError, limits};

const SIGNATURE_BYTES: usize = 8;
const HEADER_BYTES: usize = 13;

pub fn read(bytes: &[u8]) -> Result<Container<'_>, ImageError> {
    let mut reader = Bytes::new(Format::Png, bytes);
    reader.skip(SIGNATURE_BYTES)?;
    let header = read_header(&mut reader)?;
    let mut found = ChunkFacts::default();
    loop {
        let (kind, body) = chunk(&mut reader)?;
        match kind {
            b"IEND" => break,
            b"IDAT" => found.has_data = true,
            b"iCCP" if found.profile.is_none() && !found.has_data => found.profile = inflate_profile(body)?,
            b"eXIf" => found.orientation = exif::orientation(body),
            _ => {}
        }
    }
    if !found.has_data {
        return Err(undecodable("it has no image data"));
    }
    Ok(Container {
        header,
        orientation: found.orientation,
        profile: found.profile.map(Cow::Owned),
        lossless: true,
        picture: Picture::File(&bytes[..reader.position()]),
    })
}

#[derive(Default)]
struct ChunkFacts {
    has_data: bool,
    profile: Option<Vec<u8>>,
    orientation: Orientation,
}

fn read_header(reader: &mut Bytes) -> Result<Header, ImageError> {
    let (kind, body) = chunk(reader)?;
    if kind != b"IHDR" || body.len() != HEADER_BYTES {
        return Err(undecodable("it does not begin with its header"));
    }
    let mut body = Bytes::new(Format::Png, body);
    let (width, height) = (body.u32_be()?, body.u32_be()?);
    check_size(Format::Png, width, height)?;
    Ok(Header { format: Format::Png, width, height })
}

fn chunk<'a>(reader: &mut Bytes<'a>) -> Result<(&'a [u8], &'a [u8]), ImageError> {
    let length = reader.u32_be()?;
    let kind = reader.take(4)?;
    if length > i32::MAX as u32 {
        return Err(undecodable("a chunk is longer than the format allows"));
    }
    let body = reader.take(length as usize)?;
    reader.skip(4)?; // the checksum, which the decoder compares
    Ok((kind, body))
}

/// A profile that cannot be inflated is ignored; one that inflates beyond the limit is a refusal.
fn inflate_profile(body: &[u8]) -> Result<Option<Vec<u8>>, ImageError> {
    let Some(name) = memchr::memchr(0, body) else { return Ok(None) };
    let Some(compressed) = body.get(name + 2..) else { return Ok(None) };
    match decompress_to_vec_bounded(compressed, limits::MAX_PROFILE_BYTES) {
        Ok(profile) => Ok(Some(profile)),
        Err(BoundedDecompressionError::OutputTooLarge { .. }) => {
            limits::check_profile(limits::MAX_PROFILE_BYTES + 1).map(|()| None)
        }
        Err(BoundedDecompressionError::DecompressionError { .. }) => Ok(None),
    }
}

fn undecodable(detail: &str) -> ImageError {
    ImageError::undecodable(Format::Png, detail)
}
