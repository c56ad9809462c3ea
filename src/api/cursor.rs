//! `Cursor`: where a page ended. Clients hand it back as they got it, and look into it at their own risk.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Tells a cursor of this order from one of another.
const MARK: &str = "id<";

/// The next page holds ids below this one.
pub fn write(id: i64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{MARK}{id}"))
}

pub fn read(cursor: &str) -> Result<i64, String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let id = text.and_then(|text| text.strip_prefix(MARK)?.parse().ok());
    id.ok_or_else(|| "not one that a page of this list ended with".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        assert_eq!(read(&write(i64::MAX)), Ok(i64::MAX));
        assert!(read("17").is_err() && read("").is_err() && read(&URL_SAFE_NO_PAD.encode("17")).is_err());
    }
}
