//! `Pixels`: an uncompressed picture of 8-bit RGB or RGBA, and the ways to turn and lay it.

use crate::exif::Orientation;

/// A picture of 8 bits a channel in sRGB, rows without gaps, alpha not multiplied in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pixels {
    pub width: u32,
    pub height: u32,
    /// 3 for RGB, 4 for RGBA.
    pub channels: usize,
    pub data: Vec<u8>,
}

impl Pixels {
    pub fn new(width: u32, height: u32, channels: usize) -> Pixels {
        let data = vec![0; width as usize * height as usize * channels];
        Pixels { width, height, channels, data }
    }

    pub fn filled(width: u32, height: u32, colour: [u8; 4]) -> Pixels {
        let data = colour.repeat(width as usize * height as usize);
        Pixels { width, height, channels: 4, data }
    }

    pub fn has_alpha(&self) -> bool {
        self.channels == 4
    }

    pub fn row_bytes(&self) -> usize {
        self.width as usize * self.channels
    }

    /// Whether any pixel lets something shine through.
    pub fn is_translucent(&self) -> bool {
        self.has_alpha() && self.data.as_chunks::<4>().0.iter().any(|pixel| pixel[3] != 255)
    }

    /// Whether red, green and blue are equal everywhere.
    pub fn is_gray(&self) -> bool {
        self.data.chunks_exact(self.channels).all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2])
    }

    /// The share of pixels that equal their left neighbour.
    pub fn flatness(&self) -> f64 {
        let rows = self.data.chunks_exact(self.row_bytes());
        let pairs = rows.flat_map(|row| row.iter().zip(&row[self.channels..]));
        pairs.filter(|(left, right)| left == right).count() as f64 / self.data.len() as f64
    }

    pub fn upright(self, orientation: Orientation) -> Pixels {
        if orientation.is_upright() {
            return self;
        }
        if self.has_alpha() { turn::<4>(&self, orientation) } else { turn::<3>(&self, orientation) }
    }

    /// The same picture with an alpha channel.
    pub fn with_alpha(self) -> Pixels {
        if self.has_alpha() {
            return self;
        }
        let data = self.data.as_chunks::<3>().0.iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect();
        Pixels { channels: 4, data, ..self }
    }

    /// The same picture without its alpha channel, whose content is dropped.
    pub fn without_alpha(self) -> Pixels {
        if !self.has_alpha() {
            return self;
        }
        let data = self.data.as_chunks::<4>().0.iter().flat_map(|&[r, g, b, _]| [r, g, b]).collect();
        Pixels { channels: 3, data, ..self }
    }

    /// The picture laid on an opaque colour.
    pub fn flattened(self, [red, green, blue]: [u8; 3]) -> Pixels {
        if !self.has_alpha() {
            return self;
        }
        let lay = |over: u8, under: u8, alpha: u8| {
            let alpha = u32::from(alpha);
            ((u32::from(over) * alpha + u32::from(under) * (255 - alpha) + 127) / 255) as u8
        };
        let pixels = self.data.as_chunks::<4>().0.iter();
        let data = pixels.flat_map(|&[r, g, b, a]| [lay(r, red, a), lay(g, green, a), lay(b, blue, a)]).collect();
        Pixels { channels: 3, data, ..self }
    }

    /// Multiplies alpha into the colours, so that neighbours can be averaged.
    pub fn multiply_alpha(&mut self) {
        if !self.has_alpha() {
            return;
        }
        for [colour @ .., alpha] in self.data.as_chunks_mut::<4>().0 {
            let alpha = u32::from(*alpha);
            *colour = colour.map(|value| ((u32::from(value) * alpha + 127) / 255) as u8);
        }
    }

    /// Takes alpha out of the colours again.
    pub fn divide_alpha(&mut self) {
        if !self.has_alpha() {
            return;
        }
        for [colour @ .., alpha] in self.data.as_chunks_mut::<4>().0 {
            let alpha = u32::from(*alpha);
            let divided =
                |value: u8| (u32::from(value) * 255 + alpha / 2).checked_div(alpha).unwrap_or(0).min(255) as u8;
            *colour = colour.map(divided);
        }
    }

    /// Copies `source` onto this picture at a position, where both overlap. Both must have the same channels.
    pub fn place(&mut self, source: &Pixels, left: u32, top: u32) {
        let columns = source.width.min(self.width.saturating_sub(left)) as usize;
        let rows = source.height.min(self.height.saturating_sub(top)) as usize;
        if columns == 0 {
            return;
        }
        let (bytes, row_bytes) = (columns * self.channels, self.row_bytes());
        let targets = self.data.chunks_exact_mut(row_bytes).skip(top as usize).take(rows);
        for (target, row) in targets.zip(source.data.chunks_exact(source.row_bytes())) {
            let from = left as usize * source.channels;
            target[from..from + bytes].copy_from_slice(&row[..bytes]);
        }
    }

    /// The part of the picture that begins at a position; it must lie inside.
    pub fn cropped(&self, left: u32, top: u32, width: u32, height: u32) -> Pixels {
        let (from, bytes) = (left as usize * self.channels, width as usize * self.channels);
        let rows = self.data.chunks_exact(self.row_bytes()).skip(top as usize).take(height as usize);
        let data = rows.flat_map(|row| &row[from..from + bytes]).copied().collect();
        Pixels { width, height, channels: self.channels, data }
    }
}

fn turn<const N: usize>(source: &Pixels, orientation: Orientation) -> Pixels {
    let (width, height) = (source.width as usize, source.height as usize);
    let (out_width, out_height) = if orientation.swaps_sides() { (height, width) } else { (width, height) };
    let pixels = source.data.as_chunks::<N>().0;
    let mut data = Vec::with_capacity(source.data.len());
    for y in 0..out_height {
        for column in 0..out_width {
            let x = if orientation.mirror { out_width - 1 - column } else { column };
            let (from_x, from_y) = match orientation.quarters {
                0 => (x, y),
                1 => (y, height - 1 - x),
                2 => (width - 1 - x, height - 1 - y),
                _ => (width - 1 - y, x),
            };
            data.extend_from_slice(&pixels[from_y * width + from_x]);
        }
    }
    Pixels { width: out_width as u32, height: out_height as u32, channels: N, data }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Two columns, three rows; the red channel counts from 1.
    fn numbered() -> Pixels {
        Pixels { width: 2, height: 3, channels: 3, data: (1..=6).flat_map(|n| [n, 0, 0]).collect() }
    }

    #[rstest]
    #[case::mirrored(true, 0, [2, 1, 4, 3, 6, 5])]
    #[case::upside_down(false, 2, [6, 5, 4, 3, 2, 1])]
    #[case::mirrored_upside_down(true, 2, [5, 6, 3, 4, 1, 2])]
    #[case::transposed(true, 1, [1, 3, 5, 2, 4, 6])]
    #[case::a_quarter(false, 1, [5, 3, 1, 6, 4, 2])]
    #[case::transversed(true, 3, [6, 4, 2, 5, 3, 1])]
    #[case::three_quarters(false, 3, [2, 4, 6, 1, 3, 5])]
    fn a_picture_is_turned_upright(#[case] mirror: bool, #[case] quarters: u8, #[case] expected: [u8; 6]) {
        let turned = numbered().upright(Orientation { mirror, quarters });
        let reds: Vec<u8> = turned.data.chunks(3).map(|pixel| pixel[0]).collect();
        assert_eq!(reds, expected);
        assert_eq!((turned.width, turned.height), if quarters % 2 == 1 { (3, 2) } else { (2, 3) });
    }

    #[test]
    fn a_half_clear_pixel_mixes_with_its_ground() {
        let pixels = Pixels { width: 2, height: 1, channels: 4, data: vec![200, 0, 0, 128, 9, 9, 9, 0] };
        assert_eq!(pixels.flattened([0, 0, 255]).data, [100, 0, 127, 0, 0, 255]);
    }

    #[test]
    fn what_hangs_over_the_edge_is_cut() {
        let mut canvas = Pixels::new(2, 2, 3);
        canvas.place(&numbered(), 1, 1);
        let reds: Vec<u8> = canvas.data.chunks(3).map(|pixel| pixel[0]).collect();
        assert_eq!(reds, [0, 0, 0, 1]);
    }
}
