//! Content codings of HTTP, as answers name them.

/// Maximum number of codings of one body.
pub const MAX_CODINGS: usize = 3;
/// Codings registered at IANA, except `identity`.
const REGISTERED: [&str; 10] =
    ["aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "zstd"];

/// The codings in the values of `Content-Encoding`, in the order in which they were applied; at most one more than
/// [`MAX_CODINGS`]. A name that no coding is registered under is ignored, as by browsers.
pub fn codings<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Vec<&'static str> {
    let names = values.into_iter().flat_map(|names| names.split(|byte| *byte == b','));
    names.filter_map(registered).take(MAX_CODINGS + 1).collect()
}

fn registered(name: &[u8]) -> Option<&'static str> {
    let name = name.trim_ascii().to_ascii_lowercase();
    let name = name.strip_prefix(b"x-").unwrap_or(&name);
    REGISTERED.into_iter().find(|coding| coding.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one(&["gzip"], &["gzip"])]
    #[case::another_case(&["GZip"], &["gzip"])]
    #[case::an_old_name(&["x-gzip"], &["gzip"])]
    #[case::several(&["deflate, gzip"], &["deflate", "gzip"])]
    #[case::several_lines(&["deflate", "gzip"], &["deflate", "gzip"])]
    #[case::identity(&["identity"], &[])]
    #[case::identity_and_another(&["identity, gzip"], &["gzip"])]
    #[case::none(&["none"], &[])]
    #[case::empty(&[""], &[])]
    #[case::a_charset(&["utf-8"], &[])]
    #[case::odd_bytes(&["\u{fc}"], &[])]
    #[case::many(&["gzip, gzip, gzip, gzip, gzip"], &["gzip", "gzip", "gzip", "gzip"])]
    fn codings_are_read_by_their_names(#[case] values: &[&str], #[case] expected: &[&str]) {
        assert_eq!(codings(values.iter().map(|value| value.as_bytes())), expected);
    }
}
