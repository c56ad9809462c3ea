//! `specialData`: kept as the platform wrote it, without the fields that name a member of the store's staff.
//!
//! It is copied from text to text, since a parsed value takes many times its size. The copy is JSON that
//! `jsonb` takes: nested as deep as the JSON reader allows, with whole surrogate pairs, numbers in range and
//! no NUL.

use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::bundle::bundles;
use super::wire::Key;
use crate::platforms::reading::Raw;
use crate::platforms::reading::reader::Reader;
use domain::menu::product::SpecialsJson;

const STAFF_ID: &str = "createdBy";
/// Maximum size: real ones have a few kilobytes.
const MAX_BYTES: usize = 64 << 10;

/// The specials of a page by their raw text: a sale covers many products.
#[derive(Default)]
pub struct PageSpecials<'a>(HashMap<&'a str, SpecialsJson>);

impl<'a> PageSpecials<'a> {
    /// The object with the platform's own key names; None when both lists are empty. Prices are never
    /// computed from them.
    pub fn read(&mut self, raw: Raw<'a>, read: &mut Reader<'_>) -> Option<SpecialsJson> {
        let text = raw?.get();
        if let Some(known) = self.0.get(text) {
            return Some(known.clone());
        }
        let specials = specials(raw, read)?;
        self.0.insert(text, specials.clone());
        Some(specials)
    }
}

fn specials(raw: Raw<'_>, read: &mut Reader<'_>) -> Option<SpecialsJson> {
    let size = raw?.get().len();
    if size > MAX_BYTES {
        read.warn("too_large", &format!("specialData has {size} bytes"));
        return None;
    }
    let SpecialData { json, has_bogo, has_sale } = read.object(raw, "specialData")?;
    let json = String::from_utf8(json).ok().filter(|_| has_bogo || has_sale)?;
    let bundles = bundles(&json);
    Some(SpecialsJson::new(json).with_bundles(bundles))
}

#[derive(Default)]
struct SpecialData {
    json: Vec<u8>,
    /// Whether its list of that name has elements.
    has_bogo: bool,
    has_sale: bool,
}

impl<'de> Deserialize<'de> for SpecialData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SpecialDataVisitor)
    }
}

struct SpecialDataVisitor;

impl<'de> Visitor<'de> for SpecialDataVisitor {
    type Value = SpecialData;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Self::Value, M::Error> {
        let mut data = SpecialData::default();
        copy_object(map, &mut data.json, |key, value| {
            let has_elements = value.starts_with(b"[") && value != b"[]";
            match key {
                "bogoSpecials" => data.has_bogo = has_elements,
                "saleSpecials" => data.has_sale = has_elements,
                _ => {}
            }
        })?;
        Ok(data)
    }
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
fn copy_object<'de, M: MapAccess<'de>>(
    mut map: M,
    json: &mut Vec<u8>,
    mut seen: impl FnMut(&str, &[u8]),
) -> Result<(), M::Error> {
    json.push(b'{');
    let start = json.len();
    while let Some(Key(key)) = map.next_key()? {
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
