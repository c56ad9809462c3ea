//! A store of a search, or the one that a menu's products name, as a [`FoundStore`].

use serde_json::Value;

use super::requests::Addresses;
use crate::platforms::found_store::rejection_reason;
use crate::platforms::menu_address;
use crate::platforms::reading::value::{self, degrees, key, text};
use domain::store::FoundStore;

/// None when it has no slug by which its menu could be asked for: the slug is also its id.
pub fn read(store: &Value, addresses: &Addresses) -> Option<FoundStore> {
    let slug = key(&store["slug"]).filter(|slug| menu_address::is_name(slug))?;
    let place = &store["locations"][0];
    let mut found = FoundStore {
        address: value::lines([&store["address1"], &store["address2"]]),
        city: text(&store["city"]),
        state: value::state(&store["state"]),
        zip: text(&store["zip"]),
        latitude: degrees(&place["lat"], 90.0),
        longitude: degrees(&place["lon"], 180.0),
        phone: text(&store["phone"]),
        ..named(&slug, text(&store["name"]).unwrap_or_default(), addresses)
    };
    found.rejection_reason = rejection_reason(&found, None);
    Some(found)
}

/// A store of which its name alone is known.
pub fn named(slug: &str, name: String, addresses: &Addresses) -> FoundStore {
    FoundStore {
        platform_dispensary_id: slug.to_owned(),
        name,
        slug: Some(slug.to_owned()),
        menu_url: Some(addresses.page_of(slug).to_string()),
        ..FoundStore::default()
    }
}
