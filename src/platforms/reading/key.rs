//! `Key`: the key of a field, as lenient as its value.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// A key without a copy, unless it is written with escapes.
pub struct Key<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_bytes<E: Error>(self, key: &'de [u8]) -> Result<Self::Value, E> {
                // the lossy reader alone is slow, and this is called for every key of a menu
                let text = std::str::from_utf8(key).map(Cow::Borrowed);
                Ok(Key(text.unwrap_or_else(|_| String::from_utf8_lossy(key))))
            }

            fn visit_bytes<E: Error>(self, key: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(String::from_utf8_lossy(key).into_owned())))
            }
        }
        // half of a surrogate pair in a key is not text, and would otherwise cost the whole page
        deserializer.deserialize_bytes(KeyVisitor)
    }
}
