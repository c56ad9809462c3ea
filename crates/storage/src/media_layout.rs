//! Paths of media files under the storage root. Pure: a digest and an extension in, a relative path out, and
//! none that leads out of the root.
//!
//! `media/<aa>/<sha256>.<extension>`, where `<aa>` begins the digest. No name from outside is part of it.

/// The directory of all media files.
pub(super) const MEDIA: &str = "media";
const DIGEST_CHARS: usize = 64;
const MAX_EXTENSION: usize = 8;
/// Extensions of pictures that can be decoded.
const PICTURES: [&str; 4] = ["gif", "jpg", "png", "webp"];

/// The path of the file with this SHA-256 in lower-case hex. None: not a digest, or not an extension.
pub fn file(sha256: &str, extension: &str) -> Option<String> {
    let first = sha256.get(..2)?;
    let path = format!("{MEDIA}/{first}/{sha256}.{extension}");
    is_media(&path).then_some(path)
}

/// Whether the layout can name `path`.
pub fn is_media(path: &str) -> bool {
    extension_of(path).is_some()
}

/// Whether `path` names a picture. The extension is by the content that was downloaded.
pub fn is_picture(path: &str) -> bool {
    extension_of(path).is_some_and(|extension| PICTURES.contains(&extension))
}

/// None: the layout cannot name `path`.
fn extension_of(path: &str) -> Option<&str> {
    let (first, name) = path.strip_prefix(MEDIA)?.strip_prefix('/')?.split_once('/')?;
    let (digest, extension) = name.split_once('.')?;
    let is_named = is_digest(digest) && digest.starts_with(first) && first.len() == 2 && is_extension(extension);
    is_named.then_some(extension)
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST_CHARS && text.bytes().all(|char| matches!(char, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_extension(text: &str) -> bool {
    (1..=MAX_EXTENSION).contains(&text.len()) && text.bytes().all(|char| matches!(char, b'0'..=b'9' | b'a'..=b'z'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn digest() -> String {
        "ab12".repeat(16)
    }

    #[test]
    fn a_file_lies_below_the_beginning_of_its_digest() {
        let path = file(&digest(), "jpg").unwrap();
        assert_eq!(path, format!("media/ab/{}.jpg", digest()));
        assert!(is_media(&path));
    }

    #[rstest]
    #[case::jpeg("jpg", true)]
    #[case::png("png", true)]
    #[case::webp("webp", true)]
    #[case::gif("gif", true)]
    #[case::a_format_that_is_not_decoded("avif", false)]
    #[case::a_video("mp4", false)]
    #[case::a_page("html", false)]
    fn a_picture_is_known_by_its_extension(#[case] extension: &str, #[case] expected: bool) {
        assert_eq!(is_picture(&file(&digest(), extension).unwrap()), expected);
    }

    #[rstest]
    #[case::a_name(&file_of("../../etc/passwd", "jpg"))]
    #[case::upper_case(&file_of(&digest().to_uppercase(), "jpg"))]
    #[case::a_path_as_extension(&file_of(&digest(), "jpg/../x"))]
    #[case::no_extension(&file_of(&digest(), ""))]
    #[case::two_extensions(&file_of(&digest(), "tar.gz"))]
    #[case::another_directory(&format!("media/00/{}.jpg", digest()))]
    #[case::deeper(&format!("media/ab/x/{}.jpg", digest()))]
    #[case::an_image("images/brands/a/logo-12345678.webp")]
    #[case::nothing("")]
    fn nothing_else_is_a_media_file(#[case] path: &str) {
        assert!(!is_media(path) && !is_picture(path));
    }

    fn file_of(digest: &str, extension: &str) -> String {
        assert_eq!(file(digest, extension), None);
        format!("media/{}/{digest}.{extension}", &digest[..2])
    }
}
