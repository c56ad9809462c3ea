//! `Reader`: tolerant reading of one item's raw fields. A field of a wrong type is absent, and one warning
//! reports it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::first_of::FirstOf;
use super::half_character::with_whole_characters;
use super::{Raw, decimal};
use domain::menu::{Warning, Warnings};

/// Ids and labels are parts of unique keys, and an index entry has a limit.
const MAX_KEY_BYTES: usize = 200;
const MAX_TEXT_BYTES: usize = 2000;
/// Maximum number of options of a product, and so of prices, stock rows and images.
const MAX_LIST: usize = 200;

/// A text that may be part of a key: present, not blank, not longer than an index takes.
pub fn key_text(raw: Raw<'_>) -> Option<String> {
    scalar(raw?).ok().flatten().filter(|text| fits_a_key(text))
}

/// A text that is a segment of a path as it is.
pub fn slug(raw: Raw<'_>) -> Option<String> {
    let is_plain = |text: &String| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    key_text(raw).filter(is_plain)
}

pub struct Reader<'w> {
    id: &'w str,
    warnings: &'w mut Warnings,
    has_unknown_unit: bool,
}

impl<'w> Reader<'w> {
    pub fn new(id: &'w str, warnings: &'w mut Warnings) -> Self {
        Reader { id, warnings, has_unknown_unit: false }
    }

    pub fn warn(&mut self, kind: &'static str, detail: &str) {
        let provider_product_id = Some(self.id.to_owned());
        self.warnings.push(Warning { provider_product_id, kind, detail: detail.to_owned() });
    }

    /// A value has no unit, or one of which the program does not know how much it is.
    pub fn unknown_unit(&mut self, name: Option<&str>, field: &'static str) {
        self.has_unknown_unit = true;
        if let Some(name) = name {
            self.warn("unknown_unit", &format!("{field}: '{name}'"));
        }
    }

    pub fn has_unknown_unit(&self) -> bool {
        self.has_unknown_unit
    }

    /// A string, or a number as its text. Trimmed; blank is absent.
    pub fn text(&mut self, raw: Raw<'_>, field: &'static str) -> Option<String> {
        match scalar(raw?) {
            Ok(text) => text,
            Err(Unreadable) => self.bad_field(field, "a text"),
        }
    }

    /// An address; one without a scheme is that of a page of https.
    pub fn address(&mut self, raw: Raw<'_>, field: &'static str) -> Option<String> {
        let address = self.text(raw, field)?;
        Some(if address.starts_with("//") { format!("https:{address}") } else { address })
    }

    /// A text for a key of ours: cut where an index would refuse it.
    pub fn label(&mut self, raw: &RawValue, field: &'static str) -> Option<String> {
        let mut text = self.text(Some(raw), field)?;
        text.truncate(text.floor_char_boundary(MAX_KEY_BYTES));
        Some(text)
    }

    /// An amount of money in cents; null is none.
    pub fn amount(&mut self, raw: Raw<'_>, field: &'static str) -> Option<i32> {
        match raw?.get() {
            "null" => None,
            json => decimal::cents(json).or_else(|| self.bad_field(field, "an amount")),
        }
    }

    /// The first raw elements of a list; null is an empty one.
    pub fn list<'a>(&mut self, raw: Raw<'a>, field: &'static str) -> Vec<&'a RawValue> {
        let list: Option<FirstOf<'a, MAX_LIST>> = raw.and_then(|raw| match raw.get() {
            "null" | "[]" => None,
            text => serde_json::from_str(text).ok().or_else(|| self.bad_field(field, "a list")),
        });
        let FirstOf { kept, dropped } = list.unwrap_or_default();
        if dropped > 0 {
            self.warn("too_many", &format!("{field}: {dropped} more than {MAX_LIST}"));
        }
        kept
    }

    /// The texts of a list that are not blank; null is an empty list.
    pub fn texts(&mut self, raw: Raw<'_>, field: &'static str) -> Vec<String> {
        self.list(raw, field).into_iter().filter_map(|raw| self.text(Some(raw), field)).collect()
    }

    /// The objects of a list; null is an empty list.
    pub fn objects<'a, T: Deserialize<'a>>(&mut self, raw: Raw<'a>, field: &'static str) -> Vec<T> {
        self.list(raw, field).into_iter().filter_map(|raw| self.object(Some(raw), field)).collect()
    }

    /// A Boolean; null is none.
    pub fn flag(&mut self, raw: Raw<'_>, field: &'static str) -> Option<bool> {
        match raw?.get() {
            "true" => Some(true),
            "false" => Some(false),
            "null" => None,
            _ => self.bad_field(field, "true or false"),
        }
    }

    /// An object; null is none.
    pub fn object<'a, T: Deserialize<'a>>(&mut self, raw: Raw<'a>, field: &'static str) -> Option<T> {
        let text = raw?.get();
        // a list would be read as an object's fields in order
        let object = if text.starts_with('{') { serde_json::from_str(text).ok() } else { None };
        if object.is_none() && text != "null" {
            return self.bad_field(field, "an object");
        }
        object
    }

    pub fn bad_field<T>(&mut self, field: &'static str, expected: &str) -> Option<T> {
        self.warn("bad_field", &format!("{field} is not {expected}"));
        None
    }
}

struct Unreadable;

/// The text of a string or number; none for null and blank.
fn scalar(raw: &RawValue) -> Result<Option<String>, Unreadable> {
    let json = raw.get();
    match json.as_bytes().first() {
        Some(b'n') => Ok(None),
        Some(b'-' | b'0'..=b'9') => Ok(Some(json.to_owned())),
        Some(b'"') => Ok(clean(&unquoted(json).ok_or(Unreadable)?)),
        _ => Err(Unreadable),
    }
}

/// The text between the quotes, without a copy when nothing is escaped. Half a character becomes U+FFFD.
pub fn unquoted(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let read = serde_json::from_str(json).or_else(|_| serde_json::from_str(&with_whole_characters(json)));
    read.ok().map(Cow::Owned)
}

/// A text as it is kept: trimmed, not longer than [`MAX_TEXT_BYTES`]; blank is none.
pub fn clean(text: &str) -> Option<String> {
    // Postgres has no text with a NUL in it
    let text = if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { Cow::Borrowed(text) };
    let mut text = text.trim().to_owned();
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    Some(text).filter(|text| !text.is_empty())
}

/// Whether a text may be part of a key: an index entry has a limit.
pub fn fits_a_key(text: &str) -> bool {
    text.len() <= MAX_KEY_BYTES
}
