//! Encoding by libwebp, with the settings of its command line tool, from memory of our own.

use std::ffi::{c_int, c_void};

use libwebp_sys as sys;

use crate::pixels::Pixels;
use crate::planes::Planes;
use crate::{Format, ImageError};

/// The two codings of WebP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Lossy { quality: u8, effort: Effort },
    Lossless,
}

/// How much time libwebp takes for a smaller file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Effort for renderings, which are made while a client waits: a quarter to a third less time for 5 to 10 % more bytes,
    /// from a size on where the time shows.
    Render,
    /// Effort for kept images: the default of libwebp and of sharp.
    Keep,
}

impl Effort {
    /// libwebp's `method`, from 0 to 6.
    fn method(self) -> c_int {
        match self {
            Effort::Render => 3,
            Effort::Keep => 4,
        }
    }

    /// libwebp's `partition_limit`, from 0 to 100: the higher, the sooner it gives up to predict small blocks.
    fn partition_limit(self, picture: &Picture) -> c_int {
        let pixels = i64::from(picture.raw.width) * i64::from(picture.raw.height);
        match self {
            Effort::Render if pixels >= MIN_LIMITED_PIXELS => 80,
            Effort::Render | Effort::Keep => 0,
        }
    }
}

/// Minimum size for a limit: smaller pictures are quick anyway, while a limit costs them a quarter more bytes.
const MIN_LIMITED_PIXELS: i64 = 300 * 300;

/// How thoroughly a lossless coding searches, from 0 to 100.
const LOSSLESS_EFFORT: f32 = 75.0;

pub(crate) fn encode_pixels(pixels: &Pixels, coding: Coding) -> Result<Vec<u8>, ImageError> {
    let mut picture = Picture::new(pixels.width, pixels.height)?;
    picture.raw.use_argb = (coding == Coding::Lossless).into();
    let stride = length(pixels.row_bytes())?;
    let import = if pixels.has_alpha() { sys::WebPPictureImportRGBA } else { sys::WebPPictureImportRGB };
    // SAFETY: `pixels` holds `height` rows of `stride` bytes; the picture's own copy is freed when `picture` is dropped.
    let imported = unsafe { import(&mut picture.raw, pixels.data.as_ptr(), stride) };
    if imported == 0 {
        return Err(failed(&picture));
    }
    picture.encode(coding)
}

/// Encodes planes, which are those of a lossy coding.
pub(crate) fn encode_planes(planes: &Planes, coding: Coding) -> Result<Vec<u8>, ImageError> {
    let mut picture = Picture::new(planes.width, planes.height)?;
    picture.raw.colorspace = sys::WebPEncCSP::WEBP_YUV420;
    // libwebp only reads planes that it did not allocate
    picture.raw.y = planes.y.data.as_ptr().cast_mut();
    picture.raw.u = planes.u.data.as_ptr().cast_mut();
    picture.raw.v = planes.v.data.as_ptr().cast_mut();
    picture.raw.y_stride = length(planes.y.width as usize)?;
    picture.raw.uv_stride = length(planes.u.width as usize)?;
    picture.encode(coding)
}

struct Picture {
    raw: sys::WebPPicture,
}

impl Picture {
    fn new(width: u32, height: u32) -> Result<Picture, ImageError> {
        let mut raw = sys::WebPPicture::new().map_err(|()| undecodable("libwebp is of another version"))?;
        raw.width = length(width as usize)?;
        raw.height = length(height as usize)?;
        Ok(Picture { raw })
    }

    fn encode(&mut self, coding: Coding) -> Result<Vec<u8>, ImageError> {
        let config = config(coding, self)?;
        let mut written: Vec<u8> = Vec::new();
        self.raw.writer = Some(write);
        self.raw.custom_ptr = (&raw mut written).cast();
        // SAFETY: the planes or the imported copy are alive and of the picture's size; `custom_ptr` is the vector that
        // `write` expects, and outlives the call.
        let encoded = unsafe { sys::WebPEncode(&config, &mut self.raw) };
        self.raw.custom_ptr = std::ptr::null_mut();
        if encoded == 0 { Err(failed(self)) } else { Ok(written) }
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        // SAFETY: frees what libwebp allocated; planes of ours are not known to its bookkeeping.
        unsafe { sys::WebPPictureFree(&mut self.raw) }
    }
}

/// Takes libwebp's output. Its `custom_ptr` is the vector of [`Picture::encode`].
unsafe extern "C" fn write(data: *const u8, size: usize, picture: *const sys::WebPPicture) -> c_int {
    // SAFETY: libwebp passes `size` readable bytes and the picture that is being encoded, whose `custom_ptr` we set.
    let (bytes, written) = unsafe {
        let custom: *mut c_void = (*picture).custom_ptr;
        (std::slice::from_raw_parts(data, size), &mut *custom.cast::<Vec<u8>>())
    };
    written.extend_from_slice(bytes);
    1
}

fn config(coding: Coding, picture: &Picture) -> Result<sys::WebPConfig, ImageError> {
    let mut config = sys::WebPConfig::new().map_err(|()| undecodable("libwebp is of another version"))?;
    match coding {
        Coding::Lossy { quality, effort } => {
            config.quality = quality.into();
            config.method = effort.method();
            config.partition_limit = effort.partition_limit(picture);
        }
        Coding::Lossless => {
            config.lossless = 1;
            config.quality = LOSSLESS_EFFORT;
        }
    }
    Ok(config)
}

fn failed(picture: &Picture) -> ImageError {
    undecodable(&format!("libwebp cannot encode it (error {})", picture.raw.error_code as i32))
}

fn length(value: usize) -> Result<c_int, ImageError> {
    value.try_into().map_err(|_| undecodable("a row is too long"))
}

fn undecodable(detail: &str) -> ImageError {
    ImageError::undecodable(Format::WebP, detail)
}
