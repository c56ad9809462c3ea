//! Paintings: a coloured shape before a gradient, or before nothing, encoded as a file.

use std::ops::RangeInclusive;

use image::codecs::gif::GifEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{Delay, DynamicImage, ExtendedColorType, Frame, ImageEncoder, ImageResult, Rgba, RgbaImage};

use super::content::{Content, Format, Scale};
use super::plan::Subject;
use crate::draw::{Draw, Topic};

const SMALL: RangeInclusive<u64> = 40..=120;
const JPEG_QUALITY: u8 = 85;
/// The quickest.
const GIF_SPEED: i32 = 30;

pub(crate) struct Painting {
    content: Content,
    pub(crate) width: u32,
    pub(crate) height: u32,
    background: [Rgba<u8>; 2],
    foreground: Rgba<u8>,
    shape: Shape,
}

#[derive(Clone, Copy)]
enum Shape {
    Disc,
    Ring,
    Diamond,
    Leaf,
}

impl Painting {
    pub(crate) fn of(content: Content) -> Painting {
        let keys = [content.subject as u64, content.format as u64, content.number];
        // the same in every world, so that a process encodes each of them once
        let draw = &mut Draw::of(0, Topic::Painting, &keys);
        let (width, height) = size(draw, content);
        let background = [colour(draw, 150), colour(draw, 150)];
        let shape = *draw.pick(&[Shape::Disc, Shape::Ring, Shape::Diamond, Shape::Leaf]);
        Painting { content, width, height, background, foreground: colour(draw, 0), shape }
    }

    pub(crate) fn encode(&self) -> ImageResult<Vec<u8>> {
        let pixels = self.paint(1.0);
        let mut file = Vec::new();
        match self.content.format {
            Format::Jpeg => {
                let pixels = DynamicImage::ImageRgba8(pixels).into_rgb8();
                let encoder = JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY);
                encoder.write_image(&pixels, self.width, self.height, ExtendedColorType::Rgb8)?;
            }
            Format::Png => {
                PngEncoder::new(&mut file).write_image(&pixels, self.width, self.height, ExtendedColorType::Rgba8)?;
            }
            Format::Webp => {
                let encoder = WebPEncoder::new_lossless(&mut file);
                encoder.write_image(&pixels, self.width, self.height, ExtendedColorType::Rgba8)?;
            }
            Format::Gif => self.encode_gif(pixels, &mut file)?,
        }
        Ok(file)
    }

    /// Every second one moves: its shape shrinks.
    fn encode_gif(&self, pixels: RgbaImage, file: &mut Vec<u8>) -> ImageResult<()> {
        let mut encoder = GifEncoder::new_with_speed(file, GIF_SPEED);
        let frame = |pixels| Frame::from_parts(pixels, 0, 0, Delay::from_numer_denom_ms(200, 1));
        encoder.encode_frame(frame(pixels))?;
        if self.content.number.is_multiple_of(2) {
            encoder.encode_frame(frame(self.paint(0.6)))?;
        }
        Ok(())
    }

    /// Paints the shape at that share of its size.
    fn paint(&self, share: f32) -> RgbaImage {
        RgbaImage::from_fn(self.width, self.height, |x, y| {
            let across = |at: u32, of: u32| (at as f32 + 0.5) / of as f32 * 2.0 - 1.0;
            let (x, y) = (across(x, self.width), across(y, self.height));
            match self.shape.covers(x / share, y / share) {
                true => self.foreground,
                false if self.content.is_transparent() => Rgba([0, 0, 0, 0]),
                false => blend(self.background, (x + y + 2.0) / 4.0),
            }
        })
    }
}

impl Shape {
    /// Whether the shape covers a point, whose coordinates are from −1 to 1.
    fn covers(self, x: f32, y: f32) -> bool {
        let square = x * x + y * y;
        match self {
            Shape::Disc => square < 0.5,
            Shape::Ring => (0.25..0.6).contains(&square),
            Shape::Diamond => x.abs() + y.abs() < 0.8,
            Shape::Leaf => (x - 0.4) * (x - 0.4) + y * y < 0.7 && (x + 0.4) * (x + 0.4) + y * y < 0.7,
        }
    }
}

fn size(draw: &mut Draw, content: Content) -> (u32, u32) {
    match content.scale() {
        Scale::Small => {
            (draw.between(*SMALL.start(), *SMALL.end()) as u32, draw.between(*SMALL.start(), *SMALL.end()) as u32)
        }
        Scale::Medium if content.subject == Subject::Logo => (400, 160),
        Scale::Medium => (400, draw.between(300, 400) as u32),
        Scale::Large => (1200, 1200),
    }
}

/// Bright from `least` upwards.
fn colour(draw: &mut Draw, least: u64) -> Rgba<u8> {
    let mut channel = || draw.between(least, least + 105) as u8;
    Rgba([channel(), channel(), channel(), u8::MAX])
}

fn blend([from, to]: [Rgba<u8>; 2], share: f32) -> Rgba<u8> {
    let channel = |at: usize| (f32::from(from[at]) * (1.0 - share) + f32::from(to[at]) * share) as u8;
    Rgba([channel(0), channel(1), channel(2), u8::MAX])
}
