//! `Planes`: a picture as lossy WebP codes it, luma at full and chroma at half size (BT.601, video range).
//!
//! A picture that stays in planes from one WebP to the next is never turned into RGB and back, which is most of the speed.

use crate::pixels::Pixels;

/// One channel of a picture, rows without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plane {
    pub width: u32,
    pub height: u32,
    pub data: Vec<u8>,
}

impl Plane {
    pub fn new(width: u32, height: u32) -> Plane {
        Plane { width, height, data: vec![0; width as usize * height as usize] }
    }

    pub fn row(&self, y: u32) -> &[u8] {
        let width = self.width as usize;
        let from = y.min(self.height - 1) as usize * width;
        &self.data[from..from + width]
    }
}

/// A picture of three planes. The chroma planes are either half as wide and high, rounded up, or as large as luma.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planes {
    pub width: u32,
    pub height: u32,
    pub y: Plane,
    pub u: Plane,
    pub v: Plane,
}

impl Planes {
    /// A picture with chroma at half size.
    pub fn new(width: u32, height: u32) -> Planes {
        let chroma = Plane::new(width.div_ceil(2), height.div_ceil(2));
        Planes { width, height, y: Plane::new(width, height), u: chroma.clone(), v: chroma }
    }
}

impl Planes {
    /// Converts planes of one size to RGB, as libwebp does.
    pub fn into_pixels(self) -> Pixels {
        let samples = self.y.data.iter().zip(&self.u.data).zip(&self.v.data);
        let mut data = vec![0; 3 * self.y.data.len()];
        for (pixel, ((&y, &u), &v)) in data.as_chunks_mut::<3>().0.iter_mut().zip(samples) {
            *pixel = to_rgb(y.into(), u.into(), v.into());
        }
        Pixels { width: self.width, height: self.height, channels: 3, data }
    }
}

/// BT.601 from video range, with 14 bits behind the point.
fn to_rgb(y: i32, u: i32, v: i32) -> [u8; 3] {
    let luma = (y - 16) * 19_077;
    let (u, v) = (u - 128, v - 128);
    let red = luma + 26_149 * v;
    let green = luma - 6_419 * u - 13_320 * v;
    let blue = luma + 33_050 * u;
    [red, green, blue].map(|value| ((value + (1 << 13)) >> 14).clamp(0, 255) as u8)
}
