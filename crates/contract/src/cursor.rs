//! `Cursor`: the end of a page of a list. Clients send it back as they received it; its form may change.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Distinguishes a cursor of this order from one of another.
const MARK: &str = "id<";

/// The next page holds ids below this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(into = "String", try_from = "String")]
#[schema(value_type = String)]
pub struct Cursor(pub i64);

impl From<Cursor> for String {
    fn from(Cursor(id): Cursor) -> String {
        URL_SAFE_NO_PAD.encode(format!("{MARK}{id}"))
    }
}

impl TryFrom<String> for Cursor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let id = text.and_then(|text| text.strip_prefix(MARK)?.parse().ok());
        id.map(Cursor).ok_or("not a cursor of this list")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_nothing_else_does() {
        let read = |text: &str| Cursor::try_from(text.to_owned());
        assert_eq!(read(&String::from(Cursor(i64::MAX))), Ok(Cursor(i64::MAX)));
        assert!(read("17").is_err() && read("").is_err() && read(&URL_SAFE_NO_PAD.encode("17")).is_err());
    }
}
