//! `Content`: the kind of a downloaded file, by its first bytes and not by its name or its server's word.
//!
//! In: a file. Out: its media type and an extension. It must not know where the file comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of bytes that are read for a file's kind.
const MAX_HEAD: u64 = 8192;
const UNKNOWN: Content = Content { media_type: "application/octet-stream", extension: "bin" };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub media_type: &'static str,
    /// Lower-case letters and digits.
    pub extension: &'static str,
}

impl Content {
    /// Reads the beginning of a file. It blocks for some milliseconds.
    pub fn of_file(path: &Path) -> io::Result<Content> {
        let mut head = Vec::new();
        File::open(path)?.take(MAX_HEAD).read_to_end(&mut head)?;
        Ok(Content::of(&head))
    }

    /// Takes the bytes at a file's beginning.
    pub fn of(head: &[u8]) -> Content {
        let known = infer::get(head);
        known.map_or(UNKNOWN, |kind| Content { media_type: kind.mime_type(), extension: kind.extension() })
    }

    /// A page in place of a medium: a login, or a challenge.
    pub fn is_page(&self) -> bool {
        self.media_type == "text/html"
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::jpeg(b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg", "jpg")]
    #[case::png(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", "png")]
    #[case::mp4(b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41", "video/mp4", "mp4")]
    #[case::a_page(b"<!DOCTYPE html><html><head>", "text/html", "html")]
    #[case::something(b"\x01\x02\x03\x04", "application/octet-stream", "bin")]
    #[case::nothing(b"", "application/octet-stream", "bin")]
    fn a_file_is_known_by_its_beginning(
        #[case] head: &[u8],
        #[case] media_type: &'static str,
        #[case] extension: &'static str,
    ) {
        assert_eq!(Content::of(head), Content { media_type, extension });
    }

    #[test]
    fn a_page_is_not_a_medium() {
        assert!(Content::of(b"  <html><body>Log in</body></html>").is_page());
        assert!(!Content::of(b"\xff\xd8\xff\xe0\0\x10JFIF").is_page());
    }
}
