//! Encoding: from pixels to the bytes of a format.

use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder, SamplingFactor};

use crate::pixels::Pixels;
use crate::{Format, ImageError, webp};

/// Encodes pixels. JPEG needs an opaque picture, and drops alpha.
pub(crate) fn encode(pixels: Pixels, format: Format, quality: u8) -> Result<Vec<u8>, ImageError> {
    match format {
        Format::WebP => webp::encode_pixels(&pixels, webp::Coding::Lossy { quality, effort: webp::Effort::Render }),
        Format::Jpeg => jpeg(&pixels.without_alpha(), quality),
        Format::Png => png(&pixels),
        Format::Gif | Format::Avif => Err(ImageError::unsupported(format, "it is not written")),
    }
}

fn jpeg(pixels: &Pixels, quality: u8) -> Result<Vec<u8>, ImageError> {
    let failed = |detail: &str| ImageError::undecodable(Format::Jpeg, format!("it cannot be encoded: {detail}"));
    let side = |value: u32| u16::try_from(value).map_err(|_| failed("it is too large"));
    let (width, height) = (side(pixels.width)?, side(pixels.height)?);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder.set_optimized_huffman_tables(true);
    let encoded = if pixels.is_gray() {
        encoder.encode(&first_channel(pixels), width, height, ColorType::Luma)
    } else {
        encoder.encode(&pixels.data, width, height, ColorType::Rgb)
    };
    encoded.map_err(|error| failed(&error.to_string()))?;
    Ok(bytes)
}

/// Share of samples like their neighbours from which on a picture is a drawing, in which a slow search finds repetitions. A
/// photograph has none to find, and gains by the filters of rows alone.
const MIN_FLATNESS: f64 = 0.25;

fn png(pixels: &Pixels) -> Result<Vec<u8>, ImageError> {
    let (colour, data) = match (pixels.is_gray(), pixels.has_alpha()) {
        (true, false) => (png::ColorType::Grayscale, first_channel(pixels)),
        (true, true) => (png::ColorType::GrayscaleAlpha, gray_and_alpha(pixels)),
        (false, false) => (png::ColorType::Rgb, pixels.data.clone()),
        (false, true) => (png::ColorType::Rgba, pixels.data.clone()),
    };
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixels.width, pixels.height);
    encoder.set_color(colour);
    encoder.set_depth(png::BitDepth::Eight);
    if pixels.flatness() < MIN_FLATNESS {
        encoder.set_compression(png::Compression::Fast);
    } else {
        encoder.set_compression(png::Compression::Balanced);
        encoder.set_filter(png::Filter::NoFilter);
    }
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&data));
    written.map_err(|error| ImageError::undecodable(Format::Png, format!("it cannot be encoded: {error}")))?;
    Ok(bytes)
}

fn first_channel(pixels: &Pixels) -> Vec<u8> {
    pixels.data.chunks_exact(pixels.channels).map(|pixel| pixel[0]).collect()
}

fn gray_and_alpha(pixels: &Pixels) -> Vec<u8> {
    pixels.data.as_chunks::<4>().0.iter().flat_map(|&[gray, _, _, alpha]| [gray, alpha]).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Format::WebP)]
    #[case(Format::Jpeg)]
    #[case(Format::Png)]
    fn a_format_is_written_that_shows_itself(#[case] format: Format) {
        for (channels, value) in [(3, 7), (4, 7), (3, 200)] {
            let mut pixels = Pixels::new(20, 10, channels);
            pixels.data.iter_mut().step_by(3).for_each(|sample| *sample = value);
            assert_eq!(Format::sniff(&encode(pixels, format, 50).unwrap()), Some(format));
        }
    }

    #[test]
    fn gif_is_not_written() {
        assert_eq!(encode(Pixels::new(1, 1, 3), Format::Gif, 50).unwrap_err().reason(), "not_an_image");
    }

    #[test]
    fn a_drawing_as_png_is_searched_for_repetitions() {
        let stripes = (0..200 * 200).flat_map(|at| if at / 5 % 7 < 3 { [10, 20, 200] } else { [250, 240, 30] });
        let pixels = Pixels { width: 200, height: 200, channels: 3, data: stripes.collect() };
        assert!(encode(pixels, Format::Png, 80).unwrap().len() < 3_000);
    }
}
