//! A listing as a [`FoundStore`], with the reason why it must not be promoted, if there is one.

use serde_json::Value;

use super::license;
use super::menu_url::{Listing, ListingKind};
use super::requests::Addresses;
use crate::platforms::found_store::rejection_reason;
use crate::platforms::menu_address;
use crate::platforms::reading::value::{self, degrees, key, text};
use domain::store::{FoundStore, RejectionReason};
use domain::switches::word;

/// Kinds of listings; those without a menu of goods have none.
const KINDS: [(&str, Option<ListingKind>); 4] = [
    ("dispensary", Some(ListingKind::Dispensaries)),
    ("delivery", Some(ListingKind::Deliveries)),
    ("doctor", None),
    ("store", None),
];

/// None when it has no id that could be a key.
pub fn read(listing: &Value, addresses: &Addresses) -> Option<FoundStore> {
    let slug = key(&listing["slug"]);
    let address = address_of(listing, slug.as_deref(), addresses);
    let menus = text(&listing["license_type"]).and_then(|license| license::menus(&license));
    let mut found = FoundStore {
        platform_dispensary_id: key(&listing["wmid"]).or_else(|| key(&listing["id"]))?,
        name: text(&listing["name"]).unwrap_or_default(),
        menu_url: address.as_ref().map(|(menu_url, _)| menu_url.clone()),
        // a storefront may have the slug of a courier, and a slug names one store
        slug: slug.filter(|_| !address.is_some_and(|(_, listing)| listing.is_courier())),
        address: text(&listing["address"]),
        city: text(&listing["city"]),
        state: value::state(&listing["state"]),
        zip: text(&listing["zip_code"]),
        latitude: degrees(&listing["latitude"], 90.0),
        longitude: degrees(&listing["longitude"], 180.0),
        phone: text(&listing["phone_number"]),
        timezone: text(&listing["timezone"]),
        is_recreational: menus.map(|menus| menus.is_recreational).or_else(|| listing["is_recreational"].as_bool()),
        is_medical: menus.map(|menus| menus.is_medical),
        licences: licences(listing),
        website: text(&listing["website"]),
        email: text(&listing["email"]),
        ..FoundStore::default()
    };
    found.rejection_reason = rejection_reason(&found, own_reason(listing));
    Some(found)
}

/// Numbers of `licenses`, or the single `license_number`.
fn licences(listing: &Value) -> Vec<String> {
    let listed = listing["licenses"].as_array().into_iter().flatten().map(|license| &license["number"]);
    listed.chain([&listing["license_number"]]).filter_map(text).collect()
}

fn own_reason(listing: &Value) -> Option<RejectionReason> {
    if kind(listing) == Some(None) {
        return Some(RejectionReason::NotAStore);
    }
    let is_closed = listing["menu_items_count"].as_u64() == Some(0) || listing["published"] == false;
    is_closed.then_some(RejectionReason::NotOpen)
}

/// None: the word is missing or unknown.
fn kind(listing: &Value) -> Option<Option<ListingKind>> {
    text(&listing["type"]).and_then(|kind| word(&kind, &KINDS))
}

/// The address of its menu, and the listing by which the menu is asked for.
fn address_of(listing: &Value, slug: Option<&str>, addresses: &Addresses) -> Option<(String, Listing)> {
    let given = text(&listing["web_url"]).and_then(|address| Some((address.clone(), Listing::of_url(&address)?)));
    given.or_else(|| {
        let slug = slug.filter(|slug| menu_address::is_name(slug))?.to_owned();
        let kind = kind(listing).flatten().unwrap_or(ListingKind::Dispensaries);
        let listing = Listing { kind, slug };
        Some((addresses.page_of(&listing).to_string(), listing))
    })
}
