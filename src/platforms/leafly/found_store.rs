//! A store of a search, or the one that a menu's products name, as a [`FoundStore`].

use serde_json::Value;

use super::requests::Addresses;
use crate::platforms::menu_address;
use crate::platforms::reading::value::{self, degrees, key, text};
use domain::store::{FoundStore, RejectionReason};

/// None when it has no slug by which its menu could be asked for: the slug is also its id.
pub fn read(store: &Value, addresses: &Addresses) -> Option<FoundStore> {
    let slug = key(&store["slug"]).filter(|slug| menu_address::is_name(slug))?;
    let place = &store["locations"][0];
    let state = value::state(&store["state"]);
    let mut found = FoundStore {
        address: address(store),
        city: text(&store["city"]),
        state,
        zip: text(&store["zip"]),
        latitude: degrees(&place["lat"], 90.0),
        longitude: degrees(&place["lon"], 180.0),
        phone: text(&store["phone"]),
        ..named(&slug, text(&store["name"]).unwrap_or_default(), addresses)
    };
    found.rejection_reason = rejection_reason(&found);
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

fn rejection_reason(store: &FoundStore) -> Option<RejectionReason> {
    if store.name.is_empty() {
        return Some(RejectionReason::NoName);
    }
    store.state.is_none().then_some(RejectionReason::NoUsState)
}

fn address(store: &Value) -> Option<String> {
    let lines: Vec<String> = ["address1", "address2"].iter().filter_map(|line| text(&store[line])).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}
