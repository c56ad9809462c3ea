//! Resizing: Lanczos3 where a side shrinks, Catmull-Rom where it grows (as libvips does), with premultiplied alpha.

use fast_image_resize::images::TypedImage;
use fast_image_resize::pixels::{InnerPixel, U8, U8x3, U8x4};
use fast_image_resize::{FilterType, PixelTrait, ResizeAlg, ResizeOptions, Resizer};

use crate::geometry::{Geometry, Size};
use crate::pixels::Pixels;
use crate::planes::{Plane, Planes};
use crate::{Format, ImageError};

/// A part of a picture, in its pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    fn whole(width: u32, height: u32) -> Area {
        Area { left: 0.0, top: 0.0, width: width.into(), height: height.into() }
    }

    /// The part of a picture of this size that remains of it after the cut.
    fn kept((width, height): Size, geometry: &Geometry) -> Area {
        let (left, top) = geometry.crop_offset();
        let (horizontal, vertical) =
            (f64::from(width) / f64::from(geometry.scaled.0), f64::from(height) / f64::from(geometry.scaled.1));
        Area {
            left: f64::from(left) * horizontal,
            top: f64::from(top) * vertical,
            width: f64::from(geometry.cropped.0) * horizontal,
            height: f64::from(geometry.cropped.1) * vertical,
        }
    }
}

/// The picture resized and cut, not yet padded.
pub(crate) fn resize(pixels: Pixels, geometry: &Geometry) -> Result<Pixels, ImageError> {
    let source = (pixels.width, pixels.height);
    if source == geometry.scaled && !geometry.is_cropped() {
        return Ok(pixels);
    }
    if source == geometry.scaled {
        let (left, top) = geometry.crop_offset();
        return Ok(pixels.cropped(left, top, geometry.cropped.0, geometry.cropped.1));
    }
    let (horizontal, vertical) = (filter(source.0, geometry.scaled.0), filter(source.1, geometry.scaled.1));
    let (width, height) = geometry.cropped;
    let area = Area::kept(source, geometry);
    if horizontal == vertical {
        return resample(pixels, area, (width, height), horizontal);
    }
    let columns = Area { left: area.left, width: area.width, ..Area::whole(source.0, source.1) };
    let narrow = resample(pixels, columns, (width, source.1), horizontal)?;
    let rows = Area { top: area.top, height: area.height, ..Area::whole(width, source.1) };
    resample(narrow, rows, (width, height), vertical)
}

/// The planes resized and cut, with chroma at half size.
pub(crate) fn resize_planes(planes: Planes, geometry: &Geometry) -> Result<Planes, ImageError> {
    let (width, height) = geometry.cropped;
    if (planes.width, planes.height) == geometry.scaled && !geometry.is_cropped() {
        return Ok(planes);
    }
    let area = Area::kept((planes.width, planes.height), geometry);
    let half = Size::from((width.div_ceil(2), height.div_ceil(2)));
    // a chroma sample at an odd edge stands for a column or row that luma does not have
    let halves = Area {
        left: area.left / 2.0,
        top: area.top / 2.0,
        width: area.width * f64::from(half.0) / f64::from(width),
        height: area.height * f64::from(half.1) / f64::from(height),
    };
    Ok(Planes {
        width,
        height,
        y: resample_plane(planes.y, area, (width, height), FilterType::Lanczos3)?,
        u: resample_plane(widened(planes.u, halves), halves, half, FilterType::Lanczos3)?,
        v: resample_plane(widened(planes.v, halves), halves, half, FilterType::Lanczos3)?,
    })
}

/// The planes resized and cut, with chroma as large as luma.
pub(crate) fn resize_planes_fully(planes: Planes, geometry: &Geometry) -> Result<Planes, ImageError> {
    let (width, height) = geometry.cropped;
    let area = Area::kept((planes.width, planes.height), geometry);
    let halves =
        Area { left: area.left / 2.0, top: area.top / 2.0, width: area.width / 2.0, height: area.height / 2.0 };
    let filter = |from: u32, to: u32| if to > from { FilterType::Bilinear } else { FilterType::Lanczos3 };
    let chroma = filter(planes.u.width, geometry.scaled.0);
    Ok(Planes {
        width,
        height,
        y: resample_plane(planes.y, area, (width, height), FilterType::Lanczos3)?,
        u: resample_plane(planes.u, halves, (width, height), chroma)?,
        v: resample_plane(planes.v, halves, (width, height), chroma)?,
    })
}

fn filter(from: u32, to: u32) -> FilterType {
    if to > from { FilterType::CatmullRom } else { FilterType::Lanczos3 }
}

/// The plane with its last column and row repeated until it covers the area.
fn widened(plane: Plane, area: Area) -> Plane {
    let width = plane.width.max((area.left + area.width).ceil() as u32);
    let height = plane.height.max((area.top + area.height).ceil() as u32);
    if (width, height) == (plane.width, plane.height) {
        return plane;
    }
    let mut data = Vec::with_capacity(width as usize * height as usize);
    for y in 0..height {
        let row = plane.row(y);
        data.extend_from_slice(row);
        data.resize(data.len() + width as usize - row.len(), row.last().copied().unwrap_or_default());
    }
    Plane { width, height, data }
}

fn resample(mut pixels: Pixels, area: Area, size: Size, filter: FilterType) -> Result<Pixels, ImageError> {
    let convolve = if pixels.has_alpha() { convolve::<U8x4> } else { convolve::<U8x3> };
    let source = (pixels.width, pixels.height, pixels.data.as_mut_slice());
    let data = convolve(source, area, size, filter)?;
    Ok(Pixels { width: size.0, height: size.1, channels: pixels.channels, data })
}

fn resample_plane(mut plane: Plane, area: Area, size: Size, filter: FilterType) -> Result<Plane, ImageError> {
    let source = (plane.width, plane.height, plane.data.as_mut_slice());
    let data = convolve::<U8>(source, area, size, filter)?;
    Ok(Plane { width: size.0, height: size.1, data })
}

/// Typed, since a pixel's type that is known at run time would compile the code of all types. The source is
/// mutable for the same reason: the resizer's own pictures are, and each type of picture has a copy of the code.
fn convolve<P: PixelTrait + InnerPixel>(
    (width, height, data): (u32, u32, &mut [u8]),
    area: Area,
    size: Size,
    filter: FilterType,
) -> Result<Vec<u8>, ImageError> {
    let source = TypedImage::<P>::from_buffer(width, height, data).map_err(|error| failed(&error.to_string()))?;
    let mut data = vec![0; size.0 as usize * size.1 as usize * P::size()];
    let target = TypedImage::<P>::from_buffer(size.0, size.1, &mut data);
    let mut target = target.map_err(|error| failed(&error.to_string()))?;
    // rounding may carry the area over the edge by a hair
    let right = area.width.min(f64::from(width) - area.left);
    let bottom = area.height.min(f64::from(height) - area.top);
    let options =
        ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter)).crop(area.left, area.top, right, bottom);
    Resizer::new().resize_typed(&source, &mut target, &options).map_err(|error| failed(&error.to_string()))?;
    Ok(data)
}

fn failed(detail: &str) -> ImageError {
    ImageError::undecodable(Format::WebP, format!("it cannot be resized: {detail}"))
}
