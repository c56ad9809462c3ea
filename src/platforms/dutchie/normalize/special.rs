//! `specialData`: kept as the platform wrote it, without the fields that name a member of the store's staff.
//!
//! It is copied from text to text, since a parsed value takes many times its size.

use std::fmt;

use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::bundle::bundles;
use crate::platforms::reading::Raw;
use crate::platforms::reading::json_copy::copy_object;
use crate::platforms::reading::reader::Reader;
use domain::menu::product::SpecialsJson;

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
