//! Rendering: a kept image in the size, look and format that a query asks for.
//!
//! Order: decode, upright, resize and cut, gray, pad, blur, encode.

use crate::container::{self, Container, Picture};
use crate::geometry::{Geometry, Size};
use crate::pixels::Pixels;
use crate::planes::Planes;
use crate::{Format, ImageError, Transform, blur, colour, decode, encode, resize, webp};

/// A finished rendering.
#[derive(Debug, Clone)]
pub struct Rendered {
    pub bytes: Vec<u8>,
    pub format: Format,
    pub width: u32,
    pub height: u32,
}

/// The colour behind a transparent picture in a format that knows no transparency.
const WHITE: [u8; 3] = [255; 3];

const TRANSPARENT: [u8; 4] = [0; 4];

/// Renders an image of any accepted format.
///
/// # Errors
/// Bytes that are not an image, and a result beyond the limits.
pub fn render(stored: &[u8], transform: &Transform) -> Result<Rendered, ImageError> {
    let container = container::read(stored)?;
    let geometry = Geometry::new(container.upright_size(), transform)?;
    let bytes = match planes_of(&container, &geometry) {
        Some(data) if stays_in_planes(transform, &geometry) => {
            let planes = decode_planes(data, &container, &geometry)?;
            let coding = webp::Coding::Lossy { quality: transform.quality, effort: webp::Effort::Render };
            webp::encode_planes(&resize::resize_planes(planes, &geometry)?, coding)?
        }
        Some(data) => {
            let planes = decode_planes(data, &container, &geometry)?;
            finish(resize::resize_planes_fully(planes, &geometry)?.into_pixels(), transform, &geometry)?
        }
        None => {
            let pixels = decode::decode(&container, (container.header.width, container.header.height))?;
            finish(resize::resize(pixels, &geometry)?, transform, &geometry)?
        }
    };
    let (width, height) = geometry.canvas;
    Ok(Rendered { bytes, format: transform.format, width, height })
}

/// The bitstream, where the picture can be resized in its planes: lossy WebP that is opaque, upright, in sRGB, and shrinks.
fn planes_of<'a>(container: &Container<'a>, geometry: &Geometry) -> Option<&'a [u8]> {
    let Picture::File(data) = container.picture else { return None };
    let header = container.header;
    let is_plain = header.format == Format::WebP
        && !container.lossless
        && container.orientation.is_upright()
        && container.profile.is_none();
    let shrinks = geometry.scaled.0 < header.width && geometry.scaled.1 < header.height;
    let opaque = || webp::features(data).is_ok_and(|features| !features.has_alpha);
    (is_plain && shrinks && opaque()).then_some(data)
}

fn stays_in_planes(transform: &Transform, geometry: &Geometry) -> bool {
    transform.format == Format::WebP && !transform.gray && transform.blur.is_none() && !geometry.is_padded()
}

fn decode_planes(data: &[u8], container: &Container, geometry: &Geometry) -> Result<Planes, ImageError> {
    let source = (container.header.width, container.header.height);
    let (width, height) = decoded_size(source, geometry.scaled);
    let averages_out = shrinks_by(MIN_AVERAGING_SHRINK, source, geometry.scaled);
    let edges = if averages_out { webp::Edges::AsCoded } else { webp::Edges::Smoothed };
    webp::decode_planes(data, width, height, edges)
}

/// A picture that shrinks by more than this is reduced by its decoder first, so that a large one takes little memory.
const MAX_SHRINK: u32 = 8;

/// Shrink from which on the edges of a picture's blocks average out.
const MIN_AVERAGING_SHRINK: u32 = 3;

/// The shrink that is left to the resizing after the decoder's reduction.
const REST: u32 = 4;

fn decoded_size(source: Size, target: Size) -> Size {
    if shrinks_by(MAX_SHRINK, source, target) { (target.0 * REST, target.1 * REST) } else { source }
}

fn shrinks_by(factor: u32, source: Size, target: Size) -> bool {
    source.0 >= factor * target.0 && source.1 >= factor * target.1
}

/// Applies everything after the resize.
fn finish(mut pixels: Pixels, transform: &Transform, geometry: &Geometry) -> Result<Vec<u8>, ImageError> {
    if transform.gray {
        colour::to_gray(&mut pixels);
    }
    if geometry.is_padded() {
        pixels = padded(pixels, transform, geometry);
    }
    if let Some(sigma) = transform.blur {
        pixels.multiply_alpha();
        blur::blur(&mut pixels, sigma);
        pixels.divide_alpha();
    }
    if transform.format == Format::Jpeg {
        pixels = pixels.flattened(ground(transform));
    }
    encode::encode(pixels, transform.format, transform.quality)
}

fn padded(pixels: Pixels, transform: &Transform, geometry: &Geometry) -> Pixels {
    let (left, top) = geometry.canvas_offset();
    let mut canvas = Pixels::filled(geometry.canvas.0, geometry.canvas.1, padding(transform));
    canvas.place(&pixels.with_alpha(), left, top);
    if canvas.is_translucent() { canvas } else { canvas.without_alpha() }
}

/// The colour around a picture on its canvas.
fn padding(transform: &Transform) -> [u8; 4] {
    if transform.format == Format::Jpeg {
        let [red, green, blue] = ground(transform);
        return [red, green, blue, 255];
    }
    transform.background.unwrap_or(TRANSPARENT)
}

/// The opaque colour behind a JPEG: the background, laid on white where it is not opaque itself.
fn ground(transform: &Transform) -> [u8; 3] {
    let Some(background) = transform.background else { return WHITE };
    let pixel = Pixels { width: 1, height: 1, channels: 4, data: background.to_vec() }.flattened(WHITE);
    pixel.data.try_into().unwrap_or(WHITE)
}
