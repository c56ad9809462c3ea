//! `FirstOf`: the first elements of a JSON list, so that a long one does not fill the memory.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Default)]
pub struct FirstOf<'a, const MAX: usize> {
    pub kept: Vec<&'a RawValue>,
    /// How many more there were.
    pub dropped: usize,
}

impl<'de: 'a, 'a, const MAX: usize> Deserialize<'de> for FirstOf<'a, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FirstOfVisitor::<MAX>)
    }
}

struct FirstOfVisitor<const MAX: usize>;

impl<'de, const MAX: usize> Visitor<'de> for FirstOfVisitor<MAX> {
    type Value = FirstOf<'de, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<FirstOf<'de, MAX>, S::Error> {
        let mut first = FirstOf::default();
        while first.kept.len() < MAX {
            let Some(element) = elements.next_element()? else { return Ok(first) };
            first.kept.push(element);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {
            first.dropped += 1;
        }
        Ok(first)
    }
}
