//! libwebp, behind safe functions: the only unsafe code of this crate.
//!
//! In: coded WebP, or pixels and planes. Out: the other. It knows nothing of canvases, orientation or colour profiles.

#![allow(unsafe_code)]

mod decode;
mod encode;

pub(crate) use decode::{Edges, decode_pixels, decode_planes, features};
pub(crate) use encode::{Coding, Effort, encode_pixels, encode_planes};

/// The head of a bitstream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Features {
    pub width: u32,
    pub height: u32,
    pub has_alpha: bool,
    pub is_animated: bool,
    pub is_lossless: bool,
}
