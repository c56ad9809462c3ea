//! Colours: from an embedded profile to sRGB, and from sRGB to gray.

use std::sync::LazyLock;

use moxcms::{ColorProfile, DataColorSpace, Layout, RenderingIntent, TransformOptions};

use crate::pixels::Pixels;

/// Converts pixels to sRGB. A profile that is broken or of another kind than the pixels changes nothing: the picture is
/// worth more than its exact colours.
pub(crate) fn to_srgb(pixels: Pixels, profile: Option<&[u8]>) -> Pixels {
    let Some(profile) = profile.and_then(|bytes| ColorProfile::new_from_slice(bytes).ok()) else { return pixels };
    let converted = match profile.color_space {
        DataColorSpace::Rgb => convert_rgb(&pixels, &profile),
        DataColorSpace::Gray => convert_gray(&pixels, &profile),
        _ => None,
    };
    converted.map_or(pixels.clone(), |data| Pixels { data, ..pixels })
}

fn options() -> TransformOptions {
    TransformOptions { rendering_intent: RenderingIntent::Perceptual, ..TransformOptions::default() }
}

fn convert_rgb(pixels: &Pixels, profile: &ColorProfile) -> Option<Vec<u8>> {
    let layout = if pixels.has_alpha() { Layout::Rgba } else { Layout::Rgb };
    let transform = profile.create_transform_8bit(layout, &ColorProfile::new_srgb(), layout, options()).ok()?;
    let mut data = vec![0; pixels.data.len()];
    transform.transform(&pixels.data, &mut data).ok()?;
    Some(data)
}

/// A gray picture has been decoded to equal channels, so that 256 values say everything.
fn convert_gray(pixels: &Pixels, profile: &ColorProfile) -> Option<Vec<u8>> {
    let srgb = ColorProfile::new_srgb();
    let transform = profile.create_transform_8bit(Layout::Gray, &srgb, Layout::Rgb, options()).ok()?;
    let all: Vec<u8> = (0..=255).collect();
    let mut table = vec![0; 3 * all.len()];
    transform.transform(&all, &mut table).ok()?;
    let mut data = pixels.data.clone();
    for pixel in data.chunks_exact_mut(pixels.channels) {
        let gray = 3 * usize::from(pixel[0]);
        pixel[..3].copy_from_slice(&table[gray..gray + 3]);
    }
    Some(data)
}

/// Turns each colour into the gray of its luminance, which is weighed in linear light.
pub(crate) fn to_gray(pixels: &mut Pixels) {
    let (linear, srgb) = (&*TO_LINEAR, &*TO_SRGB);
    for pixel in pixels.data.chunks_exact_mut(pixels.channels) {
        let light = |channel: usize| linear[usize::from(pixel[channel])];
        let luminance = 0.2126 * light(0) + 0.7152 * light(1) + 0.0722 * light(2);
        let gray = srgb[(luminance * LINEAR_STEPS + 0.5) as usize];
        pixel[..3].fill(gray);
    }
}

/// Number of steps: fine enough that neighbouring dark grays stay apart.
const LINEAR_STEPS: f32 = 65_535.0;

static TO_LINEAR: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|value| {
        let value = value as f32 / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    })
});

static TO_SRGB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let encode = |step: u32| {
        let light = step as f32 / LINEAR_STEPS;
        let value = if light <= 0.003_130_8 { light * 12.92 } else { 1.055 * light.powf(1.0 / 2.4) - 0.055 };
        (value * 255.0 + 0.5) as u8
    };
    (0..=LINEAR_STEPS as u32).map(encode).collect()
});

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn gray_of(colour: [u8; 3]) -> [u8; 3] {
        let mut pixels = Pixels { width: 1, height: 1, channels: 3, data: colour.to_vec() };
        to_gray(&mut pixels);
        [pixels.data[0], pixels.data[1], pixels.data[2]]
    }

    #[rstest]
    #[case::black([0, 0, 0], 0)]
    #[case::white([255, 255, 255], 255)]
    #[case::red([255, 0, 0], 127)]
    #[case::green([0, 255, 0], 220)]
    #[case::blue([0, 0, 255], 76)]
    fn gray_weighs_linear_light(#[case] colour: [u8; 3], #[case] expected: u8) {
        assert_eq!(gray_of(colour), [expected; 3]);
    }

    #[test]
    fn gray_stays_what_it_is() {
        for value in 0..=255 {
            assert_eq!(gray_of([value; 3]), [value; 3]);
        }
    }

    #[test]
    fn a_broken_profile_changes_nothing() {
        let pixels = Pixels { width: 1, height: 1, channels: 3, data: vec![1, 2, 3] };
        assert_eq!(to_srgb(pixels.clone(), Some(b"no profile")), pixels);
    }

    #[test]
    fn a_wide_colour_comes_out_stronger() {
        let profile = ColorProfile::new_display_p3().encode().unwrap();
        let pixels = Pixels { width: 1, height: 1, channels: 3, data: vec![200, 50, 50] };
        let converted = to_srgb(pixels, Some(&profile));
        assert!(converted.data[0] > 200 && converted.data[1] < 50, "{:?}", converted.data);
    }
}
