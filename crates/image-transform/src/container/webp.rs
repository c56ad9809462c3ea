//! WebP's chunks. Only the first frame of an animation is looked at.
//!
//! The crate `image` cannot take this over: it does not show where that frame lies, for libwebp to decode it, and does not
//! notice that a chunk behind a still picture is missing.

use std::borrow::Cow;

use super::{Bytes, Container, Header, Picture, check_size};
use crate::exif::{self, Orientation};
use crate::{Format, ImageError, limits, webp};

const RIFF_BYTES: usize = 8;

pub fn read(bytes: &[u8]) -> Result<Container<'_>, ImageError> {
    let file = whole_file(bytes)?;
    let mut walk = Walk::default();
    let mut reader = Bytes::new(Format::WebP, file);
    reader.skip(RIFF_BYTES + 4)?;
    while !reader.is_at_end() {
        let (kind, body) = chunk(&mut reader)?;
        walk.chunk(kind, body)?;
    }
    let bitstream = walk.frame.as_ref().map_or(file, |frame| frame.data);
    let features = webp::features(bitstream)?;
    check_size(Format::WebP, features.width, features.height)?;
    let (width, height) = match (&walk.frame, walk.canvas) {
        (Some(_), Some(canvas)) => canvas,
        _ => (features.width, features.height),
    };
    if walk.frame.is_none() && features.is_animated {
        return Err(undecodable("it is an animation without a frame"));
    }
    Ok(Container {
        header: Header { format: Format::WebP, width, height },
        orientation: walk.orientation,
        profile: walk.profile.map(Cow::Borrowed),
        lossless: features.is_lossless,
        picture: walk.frame.map_or(Picture::File(file), |frame| frame.picture(features.width, features.height)),
    })
}

/// The file as long as its head says; what follows belongs to no image.
fn whole_file(bytes: &[u8]) -> Result<&[u8], ImageError> {
    let mut reader = Bytes::new(Format::WebP, bytes);
    reader.skip(4)?;
    let length = reader.u32_le()? as usize;
    bytes.get(..length.saturating_add(RIFF_BYTES)).ok_or_else(|| {
        let detail = format!("its head says {} bytes, it has {}", length.saturating_add(RIFF_BYTES), bytes.len());
        ImageError::truncated(Format::WebP, detail)
    })
}

#[derive(Default)]
struct Walk<'a> {
    canvas: Option<(u32, u32)>,
    profile: Option<&'a [u8]>,
    orientation: Orientation,
    frame: Option<Frame<'a>>,
}

impl<'a> Walk<'a> {
    fn chunk(&mut self, kind: &[u8], body: &'a [u8]) -> Result<(), ImageError> {
        match kind {
            b"VP8X" => {
                let mut body = Bytes::new(Format::WebP, body);
                body.skip(4)?;
                let canvas = (body.u24_le()? + 1, body.u24_le()? + 1);
                check_size(Format::WebP, canvas.0, canvas.1)?;
                self.canvas = Some(canvas);
            }
            b"ICCP" => {
                limits::check_profile(body.len())?;
                self.profile = Some(body);
            }
            b"EXIF" => self.orientation = exif::orientation(body),
            b"ANMF" if self.frame.is_none() => self.frame = Some(Frame::read(body)?),
            _ => {}
        }
        Ok(())
    }
}

struct Frame<'a> {
    left: u32,
    top: u32,
    data: &'a [u8],
}

impl<'a> Frame<'a> {
    fn read(body: &'a [u8]) -> Result<Frame<'a>, ImageError> {
        let mut reader = Bytes::new(Format::WebP, body);
        let (left, top) = (reader.u24_le()? * 2, reader.u24_le()? * 2);
        reader.skip(10)?;
        Ok(Frame { left, top, data: reader.rest() })
    }

    fn picture(self, width: u32, height: u32) -> Picture<'a> {
        let Frame { left, top, data } = self;
        Picture::Frame { data, left, top, width, height }
    }
}

fn chunk<'a>(reader: &mut Bytes<'a>) -> Result<(&'a [u8], &'a [u8]), ImageError> {
    let kind = reader.take(4)?;
    let length = reader.u32_le()? as usize;
    let body = reader.take(length)?;
    // a padding byte that the file's end swallowed hurts no decoder
    if length % 2 == 1 && !reader.is_at_end() {
        reader.skip(1)?;
    }
    Ok((kind, body))
}

fn undecodable(detail: &str) -> ImageError {
    ImageError::undecodable(Format::WebP, detail)
}
