//! Makes files: small whole ones of each format, and what a stranger may make of them.

use std::io::Cursor;

use image_transform::{Format, Transform, render, to_stored};

const WIDTH: usize = 64;
const HEIGHT: usize = 48;

fn rgb() -> Vec<u8> {
    let pixel = |at: usize| [(at * 7) as u8, (at / WIDTH * 5) as u8, (at * at / 31) as u8];
    (0..WIDTH * HEIGHT).flat_map(pixel).collect()
}

pub fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

pub fn joined(first: &[u8], second: &[u8]) -> Vec<u8> {
    [first, second].concat()
}

pub fn without_tail(mut bytes: Vec<u8>, count: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - count);
    bytes
}

fn replaced(mut bytes: Vec<u8>, at: usize, with: &[u8]) -> Vec<u8> {
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

fn position(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).unwrap()
}

pub fn jpeg() -> Vec<u8> {
    encoded_jpeg(false)
}

pub fn progressive_jpeg() -> Vec<u8> {
    encoded_jpeg(true)
}

/// Makes a JPEG with this part of its first scan's data, and an end marker behind it.
pub fn progressive_jpeg_ended_in_its_first_scan(percent: usize) -> Vec<u8> {
    let jpeg = progressive_jpeg();
    let head = position(&jpeg, &[0xFF, 0xDA]);
    let data = head + 2 + usize::from(u16::from_be_bytes([jpeg[head + 2], jpeg[head + 3]]));
    let scan = jpeg[data..].windows(2).position(|pair| pair[0] == 0xFF && pair[1] != 0).unwrap();
    [&jpeg[..data + scan * percent / 100], &[0xFF, 0xD9]].concat()
}

fn encoded_jpeg(progressive: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut bytes, 85);
    encoder.set_progressive(progressive);
    encoder.encode(&rgb(), WIDTH as u16, HEIGHT as u16, jpeg_encoder::ColorType::Rgb).unwrap();
    bytes
}

fn segment(marker: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u16 + 2).to_be_bytes();
    [&[0xFF, marker][..], &length, body].concat()
}

fn jpeg_with_segments(segments: &[u8]) -> Vec<u8> {
    let jpeg = jpeg();
    [&jpeg[..2], segments, &jpeg[2..]].concat()
}

pub fn jpeg_with_comment(comment: &[u8]) -> Vec<u8> {
    jpeg_with_segments(&segment(0xFE, comment))
}

pub fn jpeg_with_profile(count: usize) -> Vec<u8> {
    let part = |bytes: &[u8]| segment(0xE2, &[b"ICC_PROFILE\0\x01\x01", bytes].concat());
    jpeg_with_segments(&vec![7; count].chunks(60_000).flat_map(part).collect::<Vec<u8>>())
}

/// Makes a JPEG as some cameras write it, with bytes before a segment that belong to none.
pub fn jpeg_with_bytes_between_segments() -> Vec<u8> {
    jpeg_with_segments(&[&segment(0xFE, b"comment")[..], &[0x11; 8]].concat())
}

pub fn with_a_broken_scan(jpeg: Vec<u8>) -> Vec<u8> {
    let at = position(&jpeg, &[0xFF, 0xDA]) + 200;
    // no table has a code of ones alone
    replaced(jpeg, at, &[0xFF, 0x00].repeat(20))
}

fn frame_header(jpeg: &[u8]) -> usize {
    position(jpeg, &[0xFF, 0xC0])
}

pub fn jpeg_with_size(width: u16, height: u16) -> Vec<u8> {
    let jpeg = jpeg();
    let size = [height.to_be_bytes(), width.to_be_bytes()].concat();
    let at = frame_header(&jpeg) + 5;
    replaced(jpeg, at, &size)
}

pub fn jpeg_with_more_rows_than_data() -> Vec<u8> {
    jpeg_with_size(WIDTH as u16, 400)
}

pub fn jpeg_with_coding(marker: u8) -> Vec<u8> {
    let jpeg = jpeg();
    let at = frame_header(&jpeg) + 1;
    replaced(jpeg, at, &[marker])
}

pub fn jpeg_with_two_sizes() -> Vec<u8> {
    let jpeg = jpeg();
    let at = frame_header(&jpeg);
    let header = jpeg[at..at + 19].to_vec();
    [&jpeg[..at], &header, &jpeg[at..]].concat()
}

pub fn jpeg_without_size() -> Vec<u8> {
    let jpeg = jpeg();
    let at = frame_header(&jpeg);
    [&jpeg[..at], &jpeg[at + 19..]].concat()
}

pub fn jpeg_of_endless_markers() -> Vec<u8> {
    let mut bytes = vec![0xFF, 0xD8];
    bytes.extend([0xFF, 0xE0, 0, 2].repeat(19 * 1024 * 1024 / 4));
    bytes
}

/// A thumbnail's end marker must not count as the picture's.
pub fn jpeg_with_whole_thumbnail_only() -> Vec<u8> {
    let whole = jpeg_with_segments(&segment(0xE1, &joined(b"Exif\0\0II*\0", &jpeg())));
    let half = whole.len() - jpeg().len() / 2;
    whole[..half].to_vec()
}

pub fn compressed(data: &[u8]) -> Vec<u8> {
    let mut compressor = fdeflate::Compressor::new(Vec::new()).unwrap();
    compressor.write_data(data).unwrap();
    compressor.finish().unwrap()
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

fn chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&length[..], kind, body, &crc(&[kind, body].concat()).to_be_bytes()].concat()
}

/// The checksum of PNG.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc: u32, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

fn header_chunk(width: u32, height: u32) -> Vec<u8> {
    chunk(b"IHDR", &[&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 2, 0, 0, 0]].concat())
}

fn png_of(width: u32, height: u32, chunks: &[u8]) -> Vec<u8> {
    [SIGNATURE, &header_chunk(width, height), chunks, &chunk(b"IEND", &[])].concat()
}

fn rows(width: usize, height: usize) -> Vec<u8> {
    (0..height).flat_map(|row| [0].into_iter().chain(rgb().into_iter().cycle().skip(row).take(3 * width))).collect()
}

fn data_chunk() -> Vec<u8> {
    chunk(b"IDAT", &compressed(&rows(WIDTH, HEIGHT)))
}

pub fn png() -> Vec<u8> {
    png_of(WIDTH as u32, HEIGHT as u32, &data_chunk())
}

pub fn png_of_size(width: u32, height: u32) -> Vec<u8> {
    png_of(width, height, &chunk(b"IDAT", &compressed(&rows(width as usize, height as usize))))
}

pub fn png_header(width: u32, height: u32) -> Vec<u8> {
    png_of(width, height, &data_chunk())
}

pub fn png_without_data() -> Vec<u8> {
    png_of(WIDTH as u32, HEIGHT as u32, &[])
}

pub fn png_with_data(data: &[u8]) -> Vec<u8> {
    png_of(WIDTH as u32, HEIGHT as u32, &chunk(b"IDAT", data))
}

pub fn png_with_a_bad_checksum() -> Vec<u8> {
    let png = png();
    let at = png.len() - 13;
    let wrong = png[at] ^ 1;
    replaced(png, at, &[wrong])
}

pub fn png_with_chunk_length(length: u32) -> Vec<u8> {
    let png = png();
    let at = position(&png, b"IDAT") - 4;
    replaced(png, at, &length.to_be_bytes())
}

pub fn png_with_profile_bomb() -> Vec<u8> {
    let bomb = [&b"icc\0\0"[..], &compressed(&vec![0; 64 * 1024 * 1024])].concat();
    png_of(WIDTH as u32, HEIGHT as u32, &[chunk(b"iCCP", &bomb), data_chunk()].concat())
}

pub fn png_with_text_bomb() -> Vec<u8> {
    let bomb = [&b"Comment\0\0"[..], &compressed(&vec![0; 64 * 1024 * 1024])].concat();
    png_of(WIDTH as u32, HEIGHT as u32, &[chunk(b"zTXt", &bomb), data_chunk()].concat())
}

pub fn png_with_long_text() -> Vec<u8> {
    let text = [&b"Comment\0"[..], &vec![b'x'; 9 * 1024 * 1024]].concat();
    png_of(WIDTH as u32, HEIGHT as u32, &[chunk(b"tEXt", &text), data_chunk()].concat())
}

pub fn png_of_sixteen_bits(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[16, 2, 0, 0, 0]].concat();
    let data = compressed(&vec![0; (1 + 6 * width as usize) * height as usize]);
    [SIGNATURE, &chunk(b"IHDR", &header), &chunk(b"IDAT", &data), &chunk(b"IEND", &[])].concat()
}

/// Empty chunks, without one that ends them.
pub fn png_of_endless_chunks() -> Vec<u8> {
    let empty = chunk(b"teXt", &[]);
    let png = png();
    [&png[..png.len() - 12], &empty.repeat(19 * 1024 * 1024 / empty.len())].concat()
}

/// The alpha of each pixel of a PNG with alpha.
pub fn alphas_of_png(bytes: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().unwrap();
    assert_eq!(reader.output_color_type().0, png::ColorType::Rgba);
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut data).unwrap();
    data.chunks(4).map(|pixel| pixel[3]).collect()
}

pub fn gif() -> Vec<u8> {
    let indices: Vec<u8> = rgb().chunks(3).map(|pixel| pixel[0] % 4).collect();
    let palette = [0, 0, 0, 200, 10, 10, 10, 200, 10, 255, 255, 255];
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, WIDTH as u16, HEIGHT as u16, &palette).unwrap();
    encoder.write_frame(&gif::Frame::from_indexed_pixels(WIDTH as u16, HEIGHT as u16, indices, None)).unwrap();
    drop(encoder);
    bytes
}

pub fn gif_header(width: u16, height: u16) -> Vec<u8> {
    replaced(gif(), 6, &[width.to_le_bytes(), height.to_le_bytes()].concat())
}

fn gif_frame(gif: &[u8]) -> usize {
    // header, screen descriptor and four colours come first; no extension does
    13 + 12 + gif[25..].iter().position(|byte| *byte == 0x2C).unwrap()
}

pub fn gif_with_frame_size(width: u16, height: u16) -> Vec<u8> {
    let gif = gif();
    let at = gif_frame(&gif) + 5;
    replaced(gif, at, &[width.to_le_bytes(), height.to_le_bytes()].concat())
}

pub fn gif_without_frame() -> Vec<u8> {
    let gif = gif();
    [&gif[..25], &[0x3B]].concat()
}

pub fn gif_of_junk() -> Vec<u8> {
    let gif = gif();
    [&gif[..25], &[0x99; 200]].concat()
}

pub fn gif_of_endless_comments() -> Vec<u8> {
    let comment = [0x21, 0xFE, 1, b'x', 0];
    [&gif()[..25], &comment.repeat(19 * 1024 * 1024 / comment.len())].concat()
}

/// Blocks of one byte, without the empty one that ends them.
pub fn gif_of_one_endless_comment() -> Vec<u8> {
    [&gif()[..25], &[0x21, 0xFE], &[1].repeat(19 * 1024 * 1024)].concat()
}

pub fn webp() -> Vec<u8> {
    to_stored(&jpeg()).unwrap().webp
}

pub fn lossless_webp() -> Vec<u8> {
    let stored = to_stored(&gif()).unwrap().webp;
    assert_eq!(&stored[12..16], b"VP8L");
    stored
}

fn riff(chunks: &[u8]) -> Vec<u8> {
    [&b"RIFF"[..], &(chunks.len() as u32 + 4).to_le_bytes(), b"WEBP", chunks].concat()
}

fn riff_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let padding: &[u8] = if body.len() % 2 == 1 { &[0] } else { &[] };
    [&kind[..], &(body.len() as u32).to_le_bytes(), body, padding].concat()
}

fn extended_header(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let (width, height) = ((width - 1).to_le_bytes(), (height - 1).to_le_bytes());
    riff_chunk(b"VP8X", &[&[flags, 0, 0, 0][..], &width[..3], &height[..3]].concat())
}

pub fn webp_of_junk() -> Vec<u8> {
    riff(&riff_chunk(b"VP8 ", &[0x11; 300]))
}

pub fn webp_with_canvas(width: u32, height: u32) -> Vec<u8> {
    riff(&[extended_header(0, width, height), webp()[12..].to_vec()].concat())
}

pub fn webp_with_size(width: u16, height: u16) -> Vec<u8> {
    let webp = webp();
    let at = position(&webp, &[0x9D, 0x01, 0x2A]) + 3;
    replaced(webp, at, &[width.to_le_bytes(), height.to_le_bytes()].concat())
}

pub fn webp_with_profile(count: usize) -> Vec<u8> {
    let header = extended_header(0x20, WIDTH as u32, HEIGHT as u32);
    riff(&[header, riff_chunk(b"ICCP", &vec![7; count]), webp()[12..].to_vec()].concat())
}

pub fn webp_animation(width: u32, height: u32, frame: &[u8], count: usize) -> Vec<u8> {
    animation(width, height, &frame_chunk(0, 0, frame).repeat(count))
}

pub fn webp_animation_at(width: u32, height: u32, left: u32, top: u32, frame: &[u8]) -> Vec<u8> {
    animation(width, height, &frame_chunk(left, top, frame))
}

fn animation(width: u32, height: u32, frames: &[u8]) -> Vec<u8> {
    let parameters = riff_chunk(b"ANIM", &[0; 6]);
    riff(&[&extended_header(0x02, width, height)[..], &parameters, frames].concat())
}

fn frame_chunk(left: u32, top: u32, frame: &[u8]) -> Vec<u8> {
    let [left, top] = [left / 2, top / 2].map(u32::to_le_bytes);
    let [width, height] = [WIDTH as u32 - 1, HEIGHT as u32 - 1].map(u32::to_le_bytes);
    let head = [&left[..3], &top[..3], &width[..3], &height[..3], &[100, 0, 0, 0]].concat();
    riff_chunk(b"ANMF", &[&head, frame].concat())
}

pub fn webp_with_riff_length(length: u32) -> Vec<u8> {
    replaced(webp(), 4, &length.to_le_bytes())
}

/// A file whose outer lengths are right, while its picture's data ends in the middle.
pub fn webp_cut_with_a_matching_head() -> Vec<u8> {
    let large = png_of_size(400, 300);
    let webp = render(&large, &Transform { format: Format::WebP, ..Transform::default() }).unwrap().bytes;
    riff(&riff_chunk(b"VP8 ", &webp[20..webp.len() / 2]))
}

/// Empty chunks, and at last one that the file does not hold.
pub fn webp_of_endless_chunks() -> Vec<u8> {
    let empty = riff_chunk(b"JUNK", &[]);
    let mut chunks = webp()[12..].to_vec();
    chunks.extend(empty.repeat(19 * 1024 * 1024 / empty.len()));
    chunks.extend([b'J', b'U', b'N', b'K', 0xFF, 0xFF, 0, 0]);
    riff(&chunks)
}
