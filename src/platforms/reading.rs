//! Readers for the answers of any platform: fields as raw JSON text, numbers in whatever form they come,
//! potencies.
//!
//! Pure, and tolerant: one field of a wrong type spoils nothing but itself. It must not know a platform's
//! fields.

pub mod brand;
pub mod decimal;
pub mod errors;
pub mod first_of;
pub mod half_character;
pub mod items;
pub mod json_copy;
pub mod key;
pub mod potency;
pub mod quantity;
pub mod reader;
pub mod text;
pub mod time;
pub mod value;

use serde_json::value::RawValue;

/// A field as it came; none where it is absent or null.
pub type Raw<'a> = Option<&'a RawValue>;
