//! Reading of lines that a tool printed. They repeat what strangers' sites say: every value is checked,
//! bounded, or left out.

use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::json_text::repaired;
use crate::tool::MAX_LINE_BYTES;
use foundation::text::clean;

/// Maximum size of an item's metadata as JSON.
pub const MAX_METADATA_BYTES: usize = 64 << 10;
/// Maximum number of characters of a title.
const MAX_TITLE: usize = 500;
/// Maximum length of an id, or of a part of it.
const MAX_ID_BYTES: usize = 512;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LineError {
    #[error("it is not a JSON object")]
    NoObject,
    #[error("it is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    #[error("it names an unknown event")]
    UnknownEvent,
    #[error("{0} is missing, or is too long")]
    Missing(&'static str),
    #[error("it names a file outside of the work directory")]
    OutsidePath,
}

pub fn object(line: &[u8]) -> Result<Map<String, Value>, LineError> {
    // a tool prints texts of strangers as they came, half an emoji too
    let read = serde_json::from_slice(line).or_else(|_| serde_json::from_str(&repaired(line)));
    match read {
        Ok(Value::Object(object)) => Ok(object),
        // the rest of it was left out
        _ if line.len() >= MAX_LINE_BYTES => Err(LineError::TooLong),
        _ => Err(LineError::NoObject),
    }
}

/// A number or a text, as a text without zero bytes, which the database refuses.
pub fn id(object: &Map<String, Value>, name: &'static str) -> Result<String, LineError> {
    let found = match object.get(name) {
        Some(Value::String(text)) => text.replace('\0', ""),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    match found.len() {
        1..=MAX_ID_BYTES => Ok(found),
        _ => Err(LineError::Missing(name)),
    }
}

pub fn title(object: &Map<String, Value>) -> Option<String> {
    let title: String = clean(object.get("title")?.as_str()?).chars().take(MAX_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

/// Reads an address of the web; None where it is another.
pub fn address(object: &Map<String, Value>, name: &str) -> Option<String> {
    let address = object.get(name)?.as_str()?;
    crate::input::address(address).ok().map(str::to_owned)
}

/// A file directly in the work directory; its configuration names no other.
pub fn file(object: &Map<String, Value>, name: &'static str, work: &Path) -> Result<PathBuf, LineError> {
    let path = object.get(name).and_then(Value::as_str).ok_or(LineError::Missing(name))?;
    let rest = Path::new(path).strip_prefix(work).map_err(|_| LineError::OutsidePath)?;
    let mut parts = rest.components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(file)), None) if !path.contains('\0') => Ok(work.join(file)),
        _ => Err(LineError::OutsidePath),
    }
}

/// Keeps as many fields as there is room for, the smallest first, without zero bytes.
pub fn bounded(object: Map<String, Value>) -> Map<String, Value> {
    let measured = object.into_iter().map(|(name, value)| {
        let (name, value) = (name.replace('\0', ""), without_zeros(value));
        // two quotes, a colon and a comma; escapes are in the length of a text
        let bytes = Value::from(name.as_str()).to_string().len() + value.to_string().len() + 2;
        (bytes, name, value)
    });
    let mut measured: Vec<_> = measured.collect();
    measured.sort_by_key(|(bytes, ..)| *bytes);
    let mut room = MAX_METADATA_BYTES - "{}".len();
    let mut kept = Map::new();
    for (bytes, name, value) in measured {
        let Some(rest) = room.checked_sub(bytes) else { break };
        room = rest;
        kept.insert(name, value);
    }
    kept
}

/// Nesting is bounded by the reader of JSON.
fn without_zeros(value: Value) -> Value {
    match value {
        Value::String(text) if text.contains('\0') => Value::String(text.replace('\0', "")),
        Value::Array(values) => values.into_iter().map(without_zeros).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(name, value)| (name.replace('\0', ""), without_zeros(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn object_of(value: Value) -> Map<String, Value> {
        object(value.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::inside("/w/a.jpg", Ok("/w/a.jpg"))]
    #[case::dots("/w/../etc/passwd", Err(LineError::OutsidePath))]
    #[case::deeper("/w/a/b", Err(LineError::OutsidePath))]
    #[case::itself("/w/", Err(LineError::OutsidePath))]
    #[case::relative("a.jpg", Err(LineError::OutsidePath))]
    #[case::neighbour("/w2/a.jpg", Err(LineError::OutsidePath))]
    #[case::zero("/w/a\0b", Err(LineError::OutsidePath))]
    fn a_file_is_in_the_work_directory(#[case] path: &str, #[case] expected: Result<&str, LineError>) {
        let found = file(&object_of(json!({ "path": path })), "path", Path::new("/w"));
        assert_eq!(found, expected.map(PathBuf::from));
    }

    #[rstest]
    #[case::half_an_emoji(br#"{"title": "a\ud83c"}"#)]
    #[case::latin_1(b"{\"title\": \"a\xfc\"}")]
    fn an_odd_character_costs_itself_alone(#[case] line: &[u8]) {
        assert_eq!(title(&object(line).unwrap()).as_deref(), Some("a\u{fffd}"));
    }

    #[test]
    fn an_object_that_was_cut_says_so() {
        let line = format!("{{\"title\": \"{}", "x".repeat(MAX_LINE_BYTES));
        assert_eq!(object(&line.as_bytes()[..MAX_LINE_BYTES]), Err(LineError::TooLong));
        assert_eq!(object(b"{\"title\": \"x"), Err(LineError::NoObject));
    }

    #[test]
    fn metadata_that_is_too_large_loses_its_largest_fields() {
        let large = "x".repeat(40 << 10);
        let kept = bounded(object_of(json!({ "a": large, "b": large, "c": 1, "d\0": "e\0", "f": ["\0"] })));
        assert_eq!(kept.get("c"), Some(&json!(1)));
        assert_eq!((kept.get("d"), kept.get("f")), (Some(&json!("e")), Some(&json!([""]))));
        assert_eq!(kept.len(), 4);
    }
}
