//! The limits of an image. Every limit is checked on the header, before anything of the image's size is allocated.

use crate::ImageError;

/// Maximum number of bytes of an image as it comes in.
pub const MAX_BYTES: usize = 20 * 1024 * 1024;

/// Maximum number of pixels of an image, also of one that is rendered.
pub const MAX_PIXELS: u64 = 50_000_000;

/// Maximum number of pixels of one side: more than WebP can hold.
pub const MAX_SIDE: u32 = 16_383;

/// Maximum number of bytes of a colour profile, inflated. Other metadata is never inflated, so that [`MAX_BYTES`] bounds it.
pub const MAX_PROFILE_BYTES: usize = 4 * 1024 * 1024;

pub(crate) fn check_bytes(bytes: &[u8]) -> Result<(), ImageError> {
    at_most("the number of bytes", bytes.len() as u64, MAX_BYTES as u64)
}

pub(crate) fn check_size(width: u32, height: u32) -> Result<(), ImageError> {
    at_most("the width", width.into(), MAX_SIDE.into())?;
    at_most("the height", height.into(), MAX_SIDE.into())?;
    at_most("the number of pixels", u64::from(width) * u64::from(height), MAX_PIXELS)
}

pub(crate) fn check_profile(bytes: usize) -> Result<(), ImageError> {
    at_most("the colour profile's number of bytes", bytes as u64, MAX_PROFILE_BYTES as u64)
}

fn at_most(what: &'static str, value: u64, limit: u64) -> Result<(), ImageError> {
    if value > limit { Err(ImageError::TooLarge { what, value, limit }) } else { Ok(()) }
}
