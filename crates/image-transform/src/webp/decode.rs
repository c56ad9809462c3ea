//! Decoding by libwebp into memory of our own.

use libwebp_sys as sys;

use super::Features;
use crate::pixels::Pixels;
use crate::planes::Planes;
use crate::{Format, ImageError};

/// How the edges of coded blocks are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edges {
    Smoothed,
    AsCoded,
}

/// Reads the head of a bitstream.
pub(crate) fn features(data: &[u8]) -> Result<Features, ImageError> {
    let mut found =
        sys::WebPBitstreamFeatures { width: 0, height: 0, has_alpha: 0, has_animation: 0, format: 0, pad: [0; 5] };
    // SAFETY: the pointer and the length are those of one slice; `found` outlives the call.
    let status = unsafe { sys::WebPGetFeatures(data.as_ptr(), data.len(), &mut found) };
    check(status)?;
    Ok(Features {
        width: found.width.unsigned_abs(),
        height: found.height.unsigned_abs(),
        has_alpha: found.has_alpha != 0,
        is_animated: found.has_animation != 0,
        is_lossless: found.format == 2,
    })
}

/// Decodes to RGB, or RGBA where the picture has alpha, at the given size.
pub(crate) fn decode_pixels(data: &[u8], width: u32, height: u32) -> Result<Pixels, ImageError> {
    let features = features(data)?;
    let mut pixels = Pixels::new(width, height, if features.has_alpha { 4 } else { 3 });
    let mut config = config(features, width, height)?;
    config.output.colorspace =
        if features.has_alpha { sys::WEBP_CSP_MODE::MODE_RGBA } else { sys::WEBP_CSP_MODE::MODE_RGB };
    config.output.u.RGBA = sys::WebPRGBABuffer {
        rgba: pixels.data.as_mut_ptr(),
        stride: length(pixels.row_bytes())?,
        size: pixels.data.len(),
    };
    decode(data, &mut config)?;
    Ok(pixels)
}

/// Decodes a lossy picture to its planes, at the given size. Its alpha, if any, is dropped.
///
/// The edges of blocks may stay as they are, which saves time where the picture shrinks much anyway.
pub(crate) fn decode_planes(data: &[u8], width: u32, height: u32, edges: Edges) -> Result<Planes, ImageError> {
    let features = features(data)?;
    let mut planes = Planes::new(width, height);
    let mut config = config(features, width, height)?;
    config.options.bypass_filtering = (edges == Edges::AsCoded).into();
    config.output.colorspace = sys::WEBP_CSP_MODE::MODE_YUV;
    config.output.u.YUVA = sys::WebPYUVABuffer {
        y: planes.y.data.as_mut_ptr(),
        u: planes.u.data.as_mut_ptr(),
        v: planes.v.data.as_mut_ptr(),
        a: std::ptr::null_mut(),
        y_stride: length(planes.y.width as usize)?,
        u_stride: length(planes.u.width as usize)?,
        v_stride: length(planes.v.width as usize)?,
        a_stride: 0,
        y_size: planes.y.data.len(),
        u_size: planes.u.data.len(),
        v_size: planes.v.data.len(),
        a_size: 0,
    };
    decode(data, &mut config)?;
    Ok(planes)
}

fn config(features: Features, width: u32, height: u32) -> Result<sys::WebPDecoderConfig, ImageError> {
    let mut config = sys::WebPDecoderConfig::new().map_err(|()| undecodable("libwebp is of another version"))?;
    config.output.is_external_memory = 1;
    if (features.width, features.height) != (width, height) {
        config.options.use_scaling = 1;
        config.options.scaled_width = length(width as usize)?;
        config.options.scaled_height = length(height as usize)?;
    }
    Ok(config)
}

/// The buffers that `config` points to must be alive and of the size that it states.
fn decode(data: &[u8], config: &mut sys::WebPDecoderConfig) -> Result<(), ImageError> {
    // SAFETY: the pointer and the length are those of one slice. The output is external memory whose owners our two callers
    // hold, with strides and sizes taken from them; libwebp checks both against the picture before it writes.
    let status = unsafe { sys::WebPDecode(data.as_ptr(), data.len(), config) };
    check(status)
}

fn check(status: sys::VP8StatusCode) -> Result<(), ImageError> {
    use sys::VP8StatusCode as Status;
    match status {
        Status::VP8_STATUS_OK => Ok(()),
        Status::VP8_STATUS_NOT_ENOUGH_DATA | Status::VP8_STATUS_SUSPENDED => {
            Err(ImageError::truncated(Format::WebP, "its data ends before the picture does"))
        }
        Status::VP8_STATUS_UNSUPPORTED_FEATURE => Err(ImageError::unsupported(Format::WebP, "an unknown feature")),
        Status::VP8_STATUS_OUT_OF_MEMORY => Err(undecodable("there is not enough memory")),
        Status::VP8_STATUS_INVALID_PARAM | Status::VP8_STATUS_BITSTREAM_ERROR | Status::VP8_STATUS_USER_ABORT => {
            Err(undecodable("its bitstream is broken"))
        }
    }
}

fn length(value: usize) -> Result<std::ffi::c_int, ImageError> {
    value.try_into().map_err(|_| undecodable("a row is too long"))
}

fn undecodable(detail: &str) -> ImageError {
    ImageError::undecodable(Format::WebP, detail)
}
