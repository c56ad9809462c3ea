//! JPEG's markers, from the start of the image to its end.
//!
//! The crate `image` cannot take this over: it copies the file and each part of a profile before a limit holds, and does not
//! notice that an end is missing.

use std::borrow::Cow;

use super::{Bytes, Container, Header, Picture, check_size};
use crate::exif::{self, Orientation};
use crate::{Format, ImageError, limits};

/// Maximum number of segments; files with many scans and much metadata have a few hundred.
const MAX_SEGMENTS: usize = 10_000;

const START_OF_IMAGE: u8 = 0xD8;
const END_OF_IMAGE: u8 = 0xD9;
const START_OF_SCAN: u8 = 0xDA;
const EXIF: u8 = 0xE1;
const PROFILE: u8 = 0xE2;
const PROFILE_PREFIX: &[u8] = b"ICC_PROFILE\0";

pub fn read(bytes: &[u8]) -> Result<Container<'_>, ImageError> {
    let mut walk =
        Walk { bytes: Bytes::new(Format::Jpeg, bytes), size: None, exif: None, profile: Vec::new(), segments: 0 };
    while walk.segment()? {}
    let (width, height) = walk.size.ok_or_else(|| undecodable("it has no frame header"))?;
    Ok(Container {
        header: Header { format: Format::Jpeg, width, height },
        orientation: walk.exif.unwrap_or_default(),
        profile: profile(walk.profile)?,
        lossless: false,
        // what follows the image's end belongs to no image
        picture: Picture::File(&bytes[..walk.bytes.position()]),
    })
}

struct Walk<'a> {
    bytes: Bytes<'a>,
    size: Option<(u32, u32)>,
    exif: Option<Orientation>,
    /// Parts of the colour profile with their numbers.
    profile: Vec<(u8, &'a [u8])>,
    segments: usize,
}

impl<'a> Walk<'a> {
    /// Reads one segment; false at the end of the image.
    fn segment(&mut self) -> Result<bool, ImageError> {
        let Some((marker, body)) = next_segment(&mut self.bytes)? else { return Ok(false) };
        self.segments += 1;
        if self.segments > MAX_SEGMENTS {
            return Err(undecodable("it has more segments than any picture"));
        }
        match marker {
            0xC0..=0xCF if ![0xC4, 0xC8, 0xCC].contains(&marker) => self.frame_header(marker, body)?,
            EXIF if body.starts_with(b"Exif\0\0") && self.exif.is_none() => self.exif = Some(exif::orientation(body)),
            PROFILE => self.profile_part(body),
            START_OF_SCAN => self.require_size()?,
            _ => {}
        }
        Ok(true)
    }

    fn frame_header(&mut self, marker: u8, body: &[u8]) -> Result<(), ImageError> {
        let mut body = Bytes::new(Format::Jpeg, body);
        let (precision, height, width) = (body.u8()?, body.u16_be()?, body.u16_be()?);
        if self.size.is_some() {
            return Err(undecodable("it has two frame headers"));
        }
        check_size(Format::Jpeg, width.into(), height.into())?;
        if !matches!(marker, 0xC0..=0xC2) || precision != 8 {
            let detail = format!("coding {marker:#04x} with {precision} bits");
            return Err(ImageError::unsupported(Format::Jpeg, detail));
        }
        self.size = Some((width.into(), height.into()));
        Ok(())
    }

    fn profile_part(&mut self, body: &'a [u8]) {
        if let Some([number, _count, part @ ..]) = body.strip_prefix(PROFILE_PREFIX) {
            self.profile.push((*number, part));
        }
    }

    fn require_size(&self) -> Result<(), ImageError> {
        self.size.map(|_| ()).ok_or_else(|| undecodable("a scan comes before the frame header"))
    }
}

/// The next segment's marker and body; `None` at the end of the image. Coded data before it is passed over.
pub(crate) fn next_segment<'a>(bytes: &mut Bytes<'a>) -> Result<Option<(u8, &'a [u8])>, ImageError> {
    loop {
        let marker = next_marker(bytes)?;
        match marker {
            END_OF_IMAGE => return Ok(None),
            // markers without a body
            START_OF_IMAGE | 0x01 | 0xD0..=0xD7 => continue,
            _ => {}
        }
        let length = usize::from(bytes.u16_be()?);
        let body = length.checked_sub(2).ok_or_else(|| undecodable("a segment is shorter than its length"))?;
        return Ok(Some((marker, bytes.take(body)?)));
    }
}

/// The next marker; coded data before it is passed over.
pub(crate) fn next_marker(bytes: &mut Bytes) -> Result<u8, ImageError> {
    loop {
        let at = memchr::memchr(0xFF, bytes.rest()).ok_or_else(no_end)?;
        bytes.skip(at + 1)?;
        match bytes.rest().first() {
            None => return Err(no_end()),
            // a stuffed byte, a fill byte
            Some(0x00 | 0xFF) => {}
            Some(_) => return bytes.u8(),
        }
    }
}

fn profile<'a>(mut parts: Vec<(u8, &'a [u8])>) -> Result<Option<Cow<'a, [u8]>>, ImageError> {
    limits::check_profile(parts.iter().map(|(_, part)| part.len()).sum())?;
    parts.sort_by_key(|(number, _)| *number);
    Ok(match parts.as_slice() {
        [] => None,
        [(_, part)] => Some(Cow::Borrowed(part)),
        parts => Some(parts.iter().flat_map(|(_, part)| *part).copied().collect()),
    })
}

fn no_end() -> ImageError {
    ImageError::truncated(Format::Jpeg, "it has no end marker")
}

fn undecodable(detail: &str) -> ImageError {
    ImageError::undecodable(Format::Jpeg, detail)
}
