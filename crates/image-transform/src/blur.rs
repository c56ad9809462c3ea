//! Gaussian blur as libvips does it: a mask of small integers, cut where the curve falls below a fifth of its peak, edges
//! repeated, rows first, each pass rounded to 8 bits.
//!
//! A mask whose values run from 20 down to 4 is a pile of at most 17 boxes, and a box costs two look-ups in running sums
//! whatever its width. So the time depends on the picture alone, not on sigma.

use crate::pixels::Pixels;

/// The height at which the curve is cut, as a share of its peak.
const MIN_AMPLITUDE: f64 = 0.2;

/// The mask's value at its centre.
const PEAK: f64 = 20.0;

/// Maximum number of neighbouring samples that the pass over columns works on at once: the sums of a strip stay in a cache.
const STRIP: usize = 64;

/// Blurs a picture; its alpha must have been multiplied in.
pub(crate) fn blur(pixels: &mut Pixels, sigma: f32) {
    let mask = Mask::new(sigma.into());
    let (row_bytes, channels) = (pixels.row_bytes(), pixels.channels);
    if mask.radius() == 0 || row_bytes == 0 {
        return;
    }
    blur_rows(&mut pixels.data, row_bytes, channels, &mask);
    blur_columns(&mut pixels.data, row_bytes, &mask);
}

struct Mask {
    boxes: Vec<BoxFilter>,
    /// The sum of the mask's values.
    sum: u32,
}

/// A part of the mask: the same value on both sides of the centre as far as a radius.
#[derive(Debug, PartialEq, Eq)]
struct BoxFilter {
    radius: usize,
    value: u32,
}

impl Mask {
    fn new(sigma: f64) -> Mask {
        let curve = |distance: usize| (-((distance * distance) as f64) / (2.0 * sigma * sigma)).exp();
        let value = |distance: &usize| (PEAK * curve(*distance)).round_ties_even() as u32;
        let beyond = (0..).find(|distance| curve(*distance) < MIN_AMPLITUDE).unwrap_or(1);
        let values: Vec<u32> = (0..beyond.max(1)).map(|distance| value(&distance)).collect();
        let following = values.iter().skip(1).chain([&0]);
        let steps = values.iter().zip(following).enumerate();
        let boxes: Vec<BoxFilter> = steps
            .filter(|(_, (value, next))| value > next)
            .map(|(radius, (value, next))| BoxFilter { radius, value: value - next })
            .collect();
        let sum = boxes.iter().map(|part| part.value * (2 * part.radius as u32 + 1)).sum();
        Mask { boxes, sum }
    }

    fn radius(&self) -> usize {
        self.boxes.last().map_or(0, |part| part.radius)
    }

    /// The rounded mean of one sum of samples, as libvips rounds it.
    fn mean(&self, sum: u32) -> u8 {
        ((sum + self.sum / 2) / self.sum) as u8
    }
}

fn blur_rows(data: &mut [u8], row_bytes: usize, channels: usize, mask: &Mask) {
    let radius = mask.radius();
    let mut sums = Vec::new();
    let mut weighted = vec![0; row_bytes];
    for row in data.chunks_exact_mut(row_bytes) {
        let width = row_bytes / channels;
        let sample = |x: usize| {
            let x = x.saturating_sub(radius).min(width - 1);
            &row[x * channels..(x + 1) * channels]
        };
        running_sums(&mut sums, channels, (0..width + 2 * radius).map(sample));
        weigh(&mut weighted, &sums, 0, channels, mask);
        row.iter_mut().zip(&weighted).for_each(|(sample, sum)| *sample = mask.mean(*sum));
    }
}

fn blur_columns(data: &mut [u8], row_bytes: usize, mask: &Mask) {
    let (height, radius) = (data.len() / row_bytes, mask.radius());
    let mut sums = Vec::new();
    for from in (0..row_bytes).step_by(STRIP) {
        let count = STRIP.min(row_bytes - from);
        let samples = |y: usize| {
            let y = y.saturating_sub(radius).min(height - 1);
            &data[y * row_bytes + from..y * row_bytes + from + count]
        };
        running_sums(&mut sums, count, (0..height + 2 * radius).map(samples));
        let mut weighted = vec![0; count];
        for y in 0..height {
            weigh(&mut weighted, &sums, y * count, count, mask);
            let row = &mut data[y * row_bytes + from..y * row_bytes + from + count];
            row.iter_mut().zip(&weighted).for_each(|(sample, sum)| *sample = mask.mean(*sum));
        }
    }
}

/// Sums of everything before each position, for `step` samples side by side.
fn running_sums<'a>(sums: &mut Vec<u32>, step: usize, samples: impl Iterator<Item = &'a [u8]>) {
    sums.clear();
    sums.resize(step, 0);
    for samples in samples {
        let before = sums.len() - step;
        sums.extend_from_within(before..);
        let last = &mut sums[before + step..];
        last.iter_mut().zip(samples).for_each(|(sum, sample)| *sum += u32::from(*sample));
    }
}

/// Lays the mask's boxes on the sums, for as many samples from `first` on as `weighted` holds.
fn weigh(weighted: &mut [u32], sums: &[u32], first: usize, step: usize, mask: &Mask) {
    let (radius, count) = (mask.radius(), weighted.len());
    weighted.fill(0);
    for part in &mask.boxes {
        let low = first + (radius - part.radius) * step;
        let high = first + (radius + part.radius + 1) * step;
        let ends = sums[high..high + count].iter().zip(&sums[low..low + count]);
        for (weighted, (high, low)) in weighted.iter_mut().zip(ends) {
            *weighted += part.value * (high - low);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn values(sigma: f64) -> Vec<u32> {
        let mask = Mask::new(sigma);
        let at =
            |distance: usize| mask.boxes.iter().filter(|part| part.radius >= distance).map(|part| part.value).sum();
        (0..=mask.radius()).map(at).collect()
    }

    #[rstest]
    #[case::too_weak_to_show(0.3, &[20])]
    #[case::weak(1.0, &[20, 12])]
    #[case::middle(3.0, &[20, 19, 16, 12, 8, 5])]
    fn the_mask_is_that_of_libvips(#[case] sigma: f64, #[case] expected: &[u32]) {
        assert_eq!(values(sigma), expected);
    }

    #[test]
    fn the_widest_mask_has_few_boxes() {
        let mask = Mask::new(1000.0);
        assert!(mask.boxes.len() <= 17 && mask.radius() == 1794, "{} {}", mask.boxes.len(), mask.radius());
    }

    /// The mask laid on each pixel, one after another.
    fn plain(pixels: &Pixels, sigma: f64) -> Vec<u8> {
        let values = values(sigma);
        let radius = values.len() as i64 - 1;
        let sum: u32 = values[0] + 2 * values[1..].iter().sum::<u32>();
        let (width, height) = (i64::from(pixels.width), i64::from(pixels.height));
        let pass = |data: &[u8], step: (i64, i64)| -> Vec<u8> {
            let at =
                |x: i64, y: i64| u32::from(data[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize]);
            let blurred = |x: i64, y: i64| {
                let taps = -radius..=radius;
                let weighted: u32 =
                    taps.map(|tap| values[tap.unsigned_abs() as usize] * at(x + tap * step.0, y + tap * step.1)).sum();
                ((weighted + sum / 2) / sum) as u8
            };
            (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| blurred(x, y)).collect()
        };
        pass(&pass(&pixels.data, (1, 0)), (0, 1))
    }

    proptest! {
        #[test]
        fn boxes_give_what_the_mask_gives(
            (width, data) in (1usize..40).prop_flat_map(|width| {
                (Just(width), proptest::collection::vec(any::<u8>(), width..=width * 30))
            }),
            sigma in 0.3f32..20.0,
        ) {
            let height = data.len() / width;
            let data = data[..width * height].to_vec();
            let mut pixels = Pixels { width: width as u32, height: height as u32, channels: 1, data };
            let expected = plain(&pixels, sigma.into());
            blur(&mut pixels, sigma);
            prop_assert_eq!(pixels.data, expected);
        }
    }
}
