//! Copies of JSON that `jsonb` takes: nested as deep as the JSON reader allows, with whole surrogate pairs, numbers in range, no
//! NUL, and without the fields that name a member of a store's staff.
//!
//! In: JSON text, as a value or in the midst of one. Out: the same as text, made without a parsed value, which takes many times
//! its size. It must not know a platform's fields.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::key::Key;

const STAFF_ID: &str = "createdBy";

/// The copy of a whole value; none where a database would refuse it.
pub fn copied(text: &str) -> Option<String> {
    let mut json = Vec::with_capacity(text.len());
    Copy(&mut json).deserialize(&mut serde_json::Deserializer::from_str(text)).ok()?;
    String::from_utf8(json).ok()
}

/// Writes one value to the end of a JSON text.
struct Copy<'j>(&'j mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Copy<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copy<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        copy_object(map, self.0, |_, _| ())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<(), S::Error> {
        self.0.push(b'[');
        let start = self.0.len();
        while elements.next_element_seed(Copy(self.0))?.is_some() {
            self.0.push(b',');
        }
        end(self.0, start, b']');
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        write_text(self.0, text)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        write(self.0, &())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        write(self.0, &value)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        write(self.0, &number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        write(self.0, &number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        write(self.0, &number)
    }
}

/// `seen` gets each key and its value as copied.
pub fn copy_object<'de, M: MapAccess<'de>>(
    mut map: M,
    json: &mut Vec<u8>,
    mut seen: impl FnMut(&str, &[u8]),
) -> Result<(), M::Error> {
    json.push(b'{');
    let start = json.len();
    while let Some(key) = map.next_key::<Key<'_>>()?.map(Key::into_text) {
        if key == STAFF_ID || key.contains('\0') {
            map.next_value::<IgnoredAny>()?;
            continue;
        }
        write(json, &key)?;
        json.push(b':');
        let value = json.len();
        map.next_value_seed(Copy(json))?;
        seen(&key, &json[value..]);
        json.push(b',');
    }
    end(json, start, b'}');
    Ok(())
}

/// Ends a list or object that began before `start`: its last element left a comma.
fn end(json: &mut Vec<u8>, start: usize, bracket: u8) {
    if json.len() > start {
        json.pop();
    }
    json.push(bracket);
}

/// `jsonb` has no text with a NUL in it.
fn write_text<E: Error>(json: &mut Vec<u8>, text: &str) -> Result<(), E> {
    if text.contains('\0') { write(json, &text.replace('\0', "")) } else { write(json, text) }
}

fn write<E: Error>(json: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) -> Result<(), E> {
    serde_json::to_writer(json, value).map_err(E::custom)
}
