//! `MediaFile`: a file of the site, with its bytes and their hash. It depends on (seed, subject, kind) only.

use std::fmt;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageResult};
use sha2::{Digest, Sha256};

use crate::draw::{Draw, Topic};

/// Minimum and maximum of a picture's side in pixels.
const SIDE: [u64; 2] = [24, 48];
const JPEG_QUALITY: u8 = 85;
const MP4_HEADER: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom";
/// Bytes of a video, at least and at most: enough to be cut anywhere.
const VIDEO_BYTES: [u64; 2] = [150_000, 250_000];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    Jpeg,
    Png,
    /// A header of MP4 before bytes that no player could show.
    Mp4,
}

#[derive(Clone, PartialEq, Eq)]
pub struct MediaFile {
    /// Path below the site's address, with its query where it has one.
    pub path: String,
    pub content: Bytes,
    /// The hash of `content`, in hex.
    pub sha256: String,
    pub media_type: &'static str,
}

impl FileKind {
    pub(super) fn pick(draw: &mut Draw) -> FileKind {
        *draw.pick(&[FileKind::Jpeg, FileKind::Jpeg, FileKind::Png, FileKind::Mp4])
    }

    /// Extension without its dot.
    pub fn extension(self) -> &'static str {
        match self {
            FileKind::Jpeg => "jpg",
            FileKind::Png => "png",
            FileKind::Mp4 => "mp4",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            FileKind::Jpeg => "image/jpeg",
            FileKind::Png => "image/png",
            FileKind::Mp4 => "video/mp4",
        }
    }
}

impl MediaFile {
    /// The file at `path`; its content is another for each subject.
    pub(super) fn make(seed: u64, subject: &str, path: String, kind: FileKind) -> MediaFile {
        let mut draw = Draw::of(seed, Topic::MediaFile, &[key(subject)]);
        let content = match kind {
            FileKind::Mp4 => video(&mut draw),
            // an encoder into memory fails for sizes only that no picture has
            FileKind::Jpeg | FileKind::Png => picture(&mut draw, kind).unwrap_or_default(),
        };
        let content = Bytes::from(content);
        MediaFile { path, sha256: sha256(&content), content, media_type: kind.media_type() }
    }

    /// The same file under another path.
    pub(super) fn at(&self, path: String) -> MediaFile {
        MediaFile { path, ..self.clone() }
    }

    /// Its successor: other bytes in the same place, of the same size.
    pub(super) fn changed(&self) -> MediaFile {
        let mut content = self.content.to_vec();
        // the header stays
        content.iter_mut().skip(MP4_HEADER.len()).for_each(|byte| *byte = byte.wrapping_add(1));
        let content = Bytes::from(content);
        MediaFile { sha256: sha256(&content), content, ..self.clone() }
    }

    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }

    /// Number of its bytes.
    pub fn size(&self) -> u64 {
        self.content.len() as u64
    }
}

/// Shows the file without the bytes, which a failed test must not show.
impl fmt::Debug for MediaFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, {} bytes, {}", self.path, self.media_type, self.size(), self.sha256)
    }
}

/// A number for a name, to draw by.
pub(super) fn key(name: &str) -> u64 {
    Sha256::digest(name).iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn video(draw: &mut Draw) -> Vec<u8> {
    let words = draw.between(VIDEO_BYTES[0], VIDEO_BYTES[1]) / 8;
    let noise = (0..words).flat_map(|_| draw.next().to_be_bytes());
    MP4_HEADER.iter().copied().chain(noise).collect()
}

fn picture(draw: &mut Draw, kind: FileKind) -> ImageResult<Vec<u8>> {
    let (width, height) = (draw.between(SIDE[0], SIDE[1]) as u32, draw.between(SIDE[0], SIDE[1]) as u32);
    let pixels: Vec<u8> = (0..width * height * 3).map(|_| draw.next() as u8).collect();
    let mut file = Vec::new();
    match kind {
        FileKind::Png => PngEncoder::new(&mut file).write_image(&pixels, width, height, ExtendedColorType::Rgb8)?,
        _ => JpegEncoder::new_with_quality(&mut file, JPEG_QUALITY).write_image(
            &pixels,
            width,
            height,
            ExtendedColorType::Rgb8,
        )?,
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_can_be_decoded_and_videos_have_their_header() {
        for kind in [FileKind::Jpeg, FileKind::Png] {
            let file = MediaFile::make(1, "a", "/a".to_owned(), kind);
            assert!(image::load_from_memory(&file.content).is_ok(), "{file:?}");
        }
        let video = MediaFile::make(1, "a", "/a".to_owned(), FileKind::Mp4);
        assert_eq!(&video.content[4..8], b"ftyp");
    }

    #[test]
    fn a_file_depends_on_its_seed_and_subject() {
        let file = |seed, subject| MediaFile::make(seed, subject, "/a".to_owned(), FileKind::Jpeg);
        assert_eq!(file(1, "a"), file(1, "a"));
        assert_ne!(file(1, "a").sha256, file(2, "a").sha256);
        assert_ne!(file(1, "a").sha256, file(1, "b").sha256);
    }
}
