//! Hostile files: each is refused for its own reason, quickly and with little memory. Then files that only look so, and
//! files that chance has damaged.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod allocations;
mod files;

use std::time::Duration;

use image_transform::{Format, ImageError, Stored, Transform, probe, render, to_stored};
use nix::time::{ClockId, clock_gettime};
use proptest::prelude::*;
use rstest::rstest;

/// Maximum time of this thread on a processor: five times what a refusal may take on a machine that does nothing else.
const MAX_TIME: Duration = Duration::from_millis(250);

/// Maximum number of bytes that a refusal may allocate at once.
const MAX_MEMORY: usize = 20 * 1024 * 1024;

const TRIES: usize = 6;

/// The refusal, after its time and memory were checked.
fn refusal(bytes: &[u8]) -> ImageError {
    // the caches are cold at the first try
    let refusals = (0..TRIES).map(|_| {
        let begin = processor_time();
        let (result, memory) = allocations::peak(|| to_stored(bytes).map(|stored| stored.source));
        (processor_time() - begin, memory, result.expect_err("it is accepted"))
    });
    let (time, memory, error) = refusals.min_by_key(|(time, ..)| *time).unwrap();
    assert!(time <= MAX_TIME, "refused after {time:?}: {error}");
    assert!(memory <= MAX_MEMORY, "refused after {memory} bytes were allocated: {error}");
    error
}

/// The time that this thread has had on a processor.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

#[rstest]
#[case::empty(vec![])]
#[case::one_byte(vec![0xFF])]
#[case::zeros(vec![0; 100_000])]
#[case::html(files::text("<!DOCTYPE html><html><script>alert(1)</script></html>"))]
#[case::html_with_a_byte_order_mark(files::text("\u{feff}<html></html>"))]
#[case::html_before_a_picture(files::joined(b"<html>", &files::png()))]
#[case::svg(files::text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"))]
#[case::xml_of_svg(files::text("<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a 'aaaa'>]><svg>&a;</svg>"))]
#[case::zip(files::joined(b"PK\x03\x04", &[0; 64]))]
#[case::zip_before_a_picture(files::joined(b"PK\x03\x04", &files::jpeg()))]
#[case::pdf(files::text("%PDF-1.7 1 0 obj"))]
#[case::bitmap(files::joined(b"BM", &[0; 64]))]
#[case::avif(files::joined(b"\0\0\0\x1cftypavif", &[0; 64]))]
#[case::png_without_pixels(files::png_header(0, 0))]
#[case::png_without_data(files::png_without_data())]
#[case::png_with_a_bad_checksum(files::png_with_a_bad_checksum())]
#[case::png_with_an_endless_chunk(files::png_with_chunk_length(u32::MAX))]
#[case::png_with_junk_for_data(files::png_with_data(&[0x55; 300]))]
#[case::jpeg_with_two_sizes(files::jpeg_with_two_sizes())]
#[case::jpeg_without_size(files::jpeg_without_size())]
#[case::jpeg_of_arithmetic_coding(files::jpeg_with_coding(0xC9))]
#[case::jpeg_without_height(files::jpeg_with_size(16, 0))]
#[case::jpeg_of_endless_markers(files::jpeg_of_endless_markers())]
#[case::jpeg_with_an_empty_segment(vec![0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0xFF, 0xD9])]
#[case::jpeg_with_a_broken_scan(files::with_a_broken_scan(files::jpeg()))]
#[case::odd_jpeg_with_a_broken_scan(files::with_a_broken_scan(files::jpeg_with_bytes_between_segments()))]
#[case::gif_without_frame(files::gif_without_frame())]
#[case::gif_of_junk(files::gif_of_junk())]
#[case::gif_of_endless_comments(files::gif_of_endless_comments())]
#[case::webp_of_junk(files::webp_of_junk())]
#[case::webp_with_another_canvas(files::webp_with_canvas(300, 300))]
fn what_is_no_image_is_refused(#[case] bytes: Vec<u8>) {
    assert_eq!(refusal(&bytes).reason(), "not_an_image");
}

#[rstest]
#[case::too_many_bytes(vec![0xFF; 21 * 1024 * 1024])]
#[case::png_too_wide(files::png_header(16_384, 1))]
#[case::png_with_the_largest_numbers(files::png_header(i32::MAX as u32, i32::MAX as u32))]
#[case::png_of_100_megapixels(files::png_header(10_000, 10_000))]
#[case::png_with_a_bomb_for_profile(files::png_with_profile_bomb())]
#[case::jpeg_with_the_largest_numbers(files::jpeg_with_size(65_535, 65_535))]
#[case::jpeg_of_51_megapixels(files::jpeg_with_size(16_000, 3_200))]
#[case::jpeg_with_much_profile(files::jpeg_with_profile(5 * 1024 * 1024))]
#[case::jpeg_with_little_but_profile(files::jpeg_with_profile(19 * 1024 * 1024))]
#[case::gif_with_the_largest_numbers(files::gif_header(65_535, 65_535))]
#[case::gif_with_a_frame_beyond_its_canvas(files::gif_with_frame_size(65_535, 65_535))]
#[case::webp_with_the_largest_canvas(files::webp_with_canvas(1 << 24, 1 << 24))]
#[case::webp_of_268_megapixels(files::webp_with_size(16_383, 16_383))]
#[case::webp_with_much_profile(files::webp_with_profile(5 * 1024 * 1024))]
#[case::webp_with_a_huge_first_frame(files::webp_animation(16, 16, &files::webp_with_size(16_383, 16_383)[12..], 1))]
fn what_is_too_large_is_refused_by_its_header(#[case] bytes: Vec<u8>) {
    assert_eq!(refusal(&bytes).reason(), "too_large");
    assert_eq!(probe(&bytes).unwrap_err().reason(), "too_large");
}

#[rstest]
#[case::jpeg_without_end(files::without_tail(files::jpeg(), 2))]
#[case::jpeg_that_ends_before_its_last_row(files::jpeg_with_more_rows_than_data())]
#[case::jpeg_cut_in_its_scan_with_a_thumbnail(files::jpeg_with_whole_thumbnail_only())]
#[case::progressive_jpeg_without_data(files::progressive_jpeg_ended_in_its_first_scan(0))]
#[case::progressive_jpeg_with_half_of_its_first_scan(files::progressive_jpeg_ended_in_its_first_scan(50))]
#[case::progressive_jpeg_without_colours(files::progressive_jpeg_ended_in_its_first_scan(100))]
#[case::png_without_end(files::without_tail(files::png(), 12))]
#[case::png_with_a_chunk_beyond_the_end(files::png_with_chunk_length(1_000_000))]
#[case::png_with_too_little_data(files::png_with_data(&files::compressed(&[0; 40])))]
#[case::gif_of_one_endless_comment(files::gif_of_one_endless_comment())]
#[case::png_of_endless_chunks(files::png_of_endless_chunks())]
#[case::webp_longer_than_the_file(files::webp_with_riff_length(1 << 30))]
#[case::webp_cut_with_a_matching_head(files::webp_cut_with_a_matching_head())]
#[case::webp_of_endless_chunks(files::webp_of_endless_chunks())]
fn what_ends_early_is_truncated(#[case] bytes: Vec<u8>) {
    assert_eq!(refusal(&bytes).reason(), "truncated");
}

#[rstest]
#[case::jpeg(files::jpeg())]
#[case::progressive_jpeg(files::progressive_jpeg())]
#[case::png(files::png())]
#[case::webp(files::webp())]
#[case::lossless_webp(files::lossless_webp())]
#[case::gif(files::gif())]
#[case::animated_webp(files::webp_animation(64, 48, &files::webp()[12..], 3))]
fn a_part_of_a_file_is_truncated(#[case] whole: Vec<u8>) {
    to_stored(&whole).expect("the whole is accepted");
    for percent in [25, 50, 75, 90, 99] {
        let part = &whole[..whole.len() * percent / 100];
        // an animation is complete as soon as its first frame is, except that its head says more
        assert_eq!(refusal(part).reason(), "truncated", "{percent} %");
    }
}

#[rstest]
#[case::zip_behind_jpeg(files::joined(&files::jpeg(), b"PK\x03\x04 archive"), Format::Jpeg)]
#[case::script_behind_gif(files::joined(&files::gif(), b"*/=1;alert(document.cookie)//"), Format::Gif)]
#[case::page_behind_png(files::joined(&files::png(), b"<html><script>alert(1)</script>"), Format::Png)]
#[case::page_behind_webp(files::joined(&files::webp(), b"<?php system($_GET['c']); ?>"), Format::WebP)]
#[case::script_in_a_comment(files::jpeg_with_comment(b"<script>alert(1)</script>"), Format::Jpeg)]
#[case::bomb_in_a_text_chunk(files::png_with_text_bomb(), Format::Png)]
#[case::long_text(files::png_with_long_text(), Format::Png)]
#[case::bytes_between_segments(files::jpeg_with_bytes_between_segments(), Format::Jpeg)]
#[case::half_a_profile(files::jpeg_with_profile(100), Format::Jpeg)]
#[case::frame_flood(files::webp_animation(64, 48, &files::webp()[12..], 5_000), Format::WebP)]
fn what_surrounds_a_picture_is_dropped(#[case] bytes: Vec<u8>, #[case] format: Format) {
    let Stored { webp, width, height, source } = to_stored(&bytes).unwrap();
    assert_eq!((width, height, source), (64, 48, format));
    for word in [&b"script"[..], b"php", b"PK\x03\x04", b"alert"] {
        assert!(!webp.windows(word.len()).any(|part| part == word), "it survived");
    }
}

#[test]
fn the_first_frame_lies_where_its_animation_puts_it() {
    let animation = files::webp_animation_at(100, 80, 30, 20, &files::webp()[12..]);
    let header = probe(&animation).unwrap();
    assert_eq!((header.width, header.height), (100, 80));
    let transform = Transform { format: Format::Png, ..Transform::default() };
    let rendered = render(&animation, &transform).unwrap();
    assert_eq!((rendered.width, rendered.height), (100, 80));
    let alphas = files::alphas_of_png(&rendered.bytes);
    let opaque = alphas.iter().filter(|alpha| **alpha == 255).count();
    assert_eq!(opaque, 64 * 48);
    assert_eq!((alphas[20 * 100 + 29], alphas[20 * 100 + 30]), (0, 255));
}

#[test]
fn deep_pixels_are_reduced_while_they_are_read() {
    let (width, height) = (800, 600);
    let bytes = files::png_of_sixteen_bits(width, height);
    let (stored, memory) = allocations::peak(|| to_stored(&bytes));
    assert_eq!(stored.map(|stored| (stored.width, stored.height)), Ok((width, height)));
    let reduced = 3 * width as usize * height as usize;
    assert!(memory < 2 * reduced, "{memory} bytes were allocated for {reduced} bytes of pixels");
}

#[test]
fn a_result_beyond_all_sense_is_refused() {
    let tall = files::png_of_size(1, 16_383);
    let transform = Transform { width: Some(4000), enlarge: true, ..Transform::default() };
    let error = render(&tall, &transform).unwrap_err();
    assert_eq!(error.reason(), "too_large");
}

fn samples() -> Vec<Vec<u8>> {
    let animation = files::webp_animation(64, 48, &files::webp()[12..], 2);
    let still = [files::jpeg(), files::progressive_jpeg(), files::png(), files::gif(), files::webp()];
    still.into_iter().chain([files::lossless_webp(), animation]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn damage_never_panics(
        sample in proptest::sample::select(samples()),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<proptest::sample::Index>()),
    ) {
        let mut bytes = sample;
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        if let Ok(stored) = to_stored(&bytes) {
            prop_assert!(probe(&stored.webp).is_ok());
        }
    }

    #[test]
    fn any_cut_of_a_file_is_refused(sample in proptest::sample::select(samples()), cut: proptest::sample::Index) {
        let part = &sample[..cut.index(sample.len())];
        // the trailer of a GIF follows its only frame; without it, nothing is missing
        let complete_gif = part.starts_with(b"GIF") && part.len() + 1 == sample.len();
        prop_assert!(complete_gif || to_stored(part).is_err());
    }
}
