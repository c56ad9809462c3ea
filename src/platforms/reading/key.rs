//! `Key`: the key of a field, as lenient as its value.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

/// A key without a copy, unless it is written with escapes. Half of a surrogate pair in a key is not text, and would
/// otherwise cost the whole page.
pub struct Key<'a>(pub Cow<'a, [u8]>);

impl<'a> Key<'a> {
    pub fn into_text(self) -> Cow<'a, str> {
        match self.0 {
            // the lossy reader alone is slow
            Cow::Borrowed(key) => std::str::from_utf8(key).map_or_else(|_| String::from_utf8_lossy(key), Cow::Borrowed),
            Cow::Owned(key) => Cow::Owned(String::from_utf8_lossy(&key).into_owned()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_bytes<E: Error>(self, key: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_bytes<E: Error>(self, key: &[u8]) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_vec())))
            }
        }
        deserializer.deserialize_bytes(KeyVisitor)
    }
}
