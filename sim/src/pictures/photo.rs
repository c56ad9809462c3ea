//! `Photo`: a good picture as a file. Each is made when it is first asked for, and kept for all worlds of the
//! process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::content::Content;
use super::painting::Painting;

/// Photos that were made: at most about a hundred for each subject and format.
static KEPT: Mutex<BTreeMap<Content, Arc<Photo>>> = Mutex::new(BTreeMap::new());

#[derive(Clone, PartialEq, Eq)]
pub struct Photo {
    pub bytes: Bytes,
    /// The hash of `bytes`, in hex.
    pub sha256: String,
    /// Type of the content, whatever the answer's header says.
    pub content_type: &'static str,
    pub width: u32,
    pub height: u32,
}

impl Photo {
    pub(crate) fn of(content: Content) -> Arc<Photo> {
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(photo) = kept().get(&content) {
            return photo.clone();
        }
        let photo = Arc::new(Photo::make(content));
        kept().entry(content).or_insert(photo).clone()
    }

    fn make(content: Content) -> Photo {
        let painting = Painting::of(content);
        // an encoder into memory fails for sizes only that no painting has
        let bytes = Bytes::from(painting.encode().unwrap_or_default());
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let content_type = content.format.content_type();
        Photo { bytes, sha256, content_type, width: painting.width, height: painting.height }
    }
}

/// Shows the photo without the bytes, which a failed test must not show.
impl fmt::Debug for Photo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Photo { bytes, sha256, content_type, width, height } = self;
        write!(f, "{content_type} {width}×{height}, {} bytes, {sha256}", bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::ImageReader;

    use super::super::content::Format;
    use super::super::plan::Subject;
    use super::*;

    #[test]
    fn half_a_file_still_shows_its_size() {
        for (format, number) in
            [Format::Jpeg, Format::Png, Format::Webp].into_iter().flat_map(|f| (0..97).map(move |n| (f, n)))
        {
            let photo = Photo::of(Content { subject: Subject::Product, format, number });
            let half = photo.bytes.slice(..photo.bytes.len() / 2);
            let reader = ImageReader::new(Cursor::new(half)).with_guessed_format().unwrap();
            assert_eq!(reader.into_dimensions().ok(), Some((photo.width, photo.height)), "{photo:?}");
        }
    }
}
