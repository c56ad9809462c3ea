//! Whether a JSON document names each field of an object once. Readers differ in which of two they take, so
//! that a check before this server could see another value than this server.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Checks a document that was read already: its depth is bounded.
pub fn require_unique_fields(bytes: &[u8]) -> Result<(), serde_path_to_error::Error<serde_json::Error>> {
    let mut document = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut document).map(|Unique| ())
}

/// Any value whose objects name each field once.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Unique;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while let Some(Unique) = items.next_element()? {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Unique, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            let Unique = fields.next_value()?;
            if let Some(doubled) = seen.replace(name) {
                return Err(A::Error::custom(format_args!("duplicate field `{doubled}`")));
            }
        }
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::once(r#"{"a": 1, "b": [{"a": null}, {"a": -2.5}]}"#, true)]
    #[case::twice(r#"{"a": 1, "a": 1}"#, false)]
    #[case::deep(r#"{"a": [{"b": true, "c": "", "b": true}]}"#, false)]
    #[case::escaped(r#"{"a": 1, "\u0061": 2}"#, false)]
    fn a_doubled_field_is_found(#[case] document: &str, #[case] is_unique: bool) {
        assert_eq!(require_unique_fields(document.as_bytes()).is_ok(), is_unique);
    }
}
