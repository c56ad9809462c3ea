//! A dispensary object of Dutchie's as a [`FoundStore`], with the reason why it must not be promoted, if
//! there is one.

use serde_json::Value;
use url::Url;

use super::{MenuUrl, requests};
use crate::platforms::found_store::rejection_reason;
use crate::platforms::reading::value::{self, degrees, key, text};
use domain::store::{FoundStore, RejectionReason};
use domain::switches::word;

/// Words in the names of stores that sell nothing ("dnu": do not use).
const TEST_STORE_WORDS: [&str; 5] = ["sandbox", "sbx", "demo", "test", "dnu"];

#[derive(Clone, Copy)]
enum Status {
    Open,
    Closed,
}

const STATUSES: [(&str, Status); 8] = [
    ("open", Status::Open),
    ("closed", Status::Closed),
    ("temporarily closed", Status::Closed),
    ("permanently closed", Status::Closed),
    ("inactive", Status::Closed),
    ("disabled", Status::Closed),
    ("archived", Status::Closed),
    ("deleted", Status::Closed),
];

/// None when it has no id that could be a key.
pub fn read(store: &Value, base_url: &Url) -> Option<FoundStore> {
    let location = &store["location"];
    // GeoJSON order: longitude, latitude
    let coordinates = &location["geometry"]["coordinates"];
    let slug = key(&store["cName"]);
    let mut found = FoundStore {
        platform_dispensary_id: key(&store["id"])?,
        name: text(&store["name"]).unwrap_or_default(),
        menu_url: menu_url(store, slug.as_deref(), base_url),
        slug,
        address: value::lines([&location["ln1"], &location["ln2"]]).or_else(|| text(&store["address"])),
        city: text(&location["city"]),
        state: value::state(&location["state"]),
        zip: text(&location["zipcode"]),
        latitude: degrees(&coordinates[1], 90.0),
        longitude: degrees(&coordinates[0], 180.0),
        phone: text(&store["phone"]),
        timezone: text(&store["timezone"]),
        is_recreational: store["recDispensary"].as_bool(),
        is_medical: store["medicalDispensary"].as_bool(),
        status: text(&store["status"]),
        email: text(&store["email"]),
        ..FoundStore::default()
    };
    found.rejection_reason = rejection_reason(&found, own_reason(&found));
    Some(found)
}

fn own_reason(store: &FoundStore) -> Option<RejectionReason> {
    if is_test_store(&store.name) || store.slug.as_deref().is_some_and(is_test_store) {
        return Some(RejectionReason::NotAStore);
    }
    match store.status.as_deref().and_then(|status| word(status, &STATUSES)) {
        Some(Status::Open) => None,
        Some(Status::Closed) => Some(RejectionReason::NotOpen),
        None => Some(RejectionReason::UnknownStatus),
    }
}

/// Compares whole words: "Greatest Demos of Contest" is a store.
fn is_test_store(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let bare = words.map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase());
    bare.into_iter().any(|word| TEST_STORE_WORDS.contains(&word.as_str()))
}

/// An address that leads to the menu, whatever the store links to itself.
fn menu_url(store: &Value, slug: Option<&str>, base_url: &Url) -> Option<String> {
    let given = [&store["menuUrl"], &store["embeddedMenuUrl"]].into_iter().filter_map(text);
    let usable = given.into_iter().find(|address| MenuUrl::parse(address).is_some());
    usable.or_else(|| Some(requests::at(base_url, &format!("/dispensary/{}", slug?)).to_string()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn store(change: Value) -> Option<FoundStore> {
        let mut store = json!({
            "id": "6405ef617056e8014d79101b", "name": "Deeply Rooted", "cName": "deeply-rooted", "status": "open",
            "timezone": "America/Phoenix", "phone": "602-555-0100", "address": "1 Main St, Phoenix, AZ 85001",
            "location": {"ln1": "1 Main St", "ln2": "Suite 2", "city": "Phoenix", "state": "Arizona", "zipcode": "85001",
                         "geometry": {"coordinates": [-112.07, 33.45]}},
            "recDispensary": true, "medicalDispensary": false, "menuUrl": "https://deeplyrooted.example/shop",
        });
        for (key, value) in change.as_object().unwrap() {
            store[key] = value.clone();
        }
        read(&store, &Url::parse("https://dutchie.com").unwrap())
    }

    #[test]
    fn a_store_is_read_whole() {
        let found = store(json!({})).unwrap();
        assert_eq!(found.rejection_reason, None);
        assert_eq!(found.menu_url.as_deref(), Some("https://dutchie.com/dispensary/deeply-rooted"));
        assert_eq!((found.latitude, found.longitude), (Some(33.45), Some(-112.07)));
        assert_eq!(found.state.as_deref(), Some("AZ"));
        assert_eq!(found.address.as_deref(), Some("1 Main St, Suite 2"));
        assert_eq!((found.is_recreational, found.is_medical), (Some(true), Some(false)));
    }

    #[test]
    fn a_menu_address_of_a_known_form_is_kept() {
        let found = store(json!({"menuUrl": null, "embeddedMenuUrl": "https://a.example/stores/vanity"})).unwrap();
        assert_eq!(found.menu_url.as_deref(), Some("https://a.example/stores/vanity"));
        assert_eq!(found.slug.as_deref(), Some("deeply-rooted"));
    }

    #[rstest]
    #[case::fine(json!({}), None)]
    #[case::no_name(json!({"name": " "}), Some("no_name"))]
    #[case::sandbox(json!({"name": "Deeply Rooted - Sandbox"}), Some("not_a_store"))]
    #[case::sbx(json!({"name": "SBX 12"}), Some("not_a_store"))]
    #[case::numbered(json!({"name": "Demo2"}), Some("not_a_store"))]
    #[case::test(json!({"name": "(TEST) Store"}), Some("not_a_store"))]
    #[case::do_not_use(json!({"name": "DNU-old"}), Some("not_a_store"))]
    #[case::by_its_slug(json!({"cName": "deeply-rooted-sandbox"}), Some("not_a_store"))]
    #[case::only_part_of_a_word(json!({"name": "The Greatest Demographic"}), None)]
    #[case::closed(json!({"status": "closed"}), Some("not_open"))]
    #[case::closed_in_capitals(json!({"status": " CLOSED "}), Some("not_open"))]
    #[case::open_in_capitals(json!({"status": "OPEN "}), None)]
    #[case::no_status(json!({"status": null}), Some("unknown_status"))]
    #[case::an_empty_status(json!({"status": ""}), Some("unknown_status"))]
    #[case::a_status_of_another_type(json!({"status": {"is": "open"}}), Some("unknown_status"))]
    #[case::another_status(json!({"status": "ouvert"}), Some("unknown_status"))]
    #[case::no_location(json!({"location": null}), Some("no_us_state"))]
    #[case::another_country(json!({"location": {"state": "ON"}}), Some("no_us_state"))]
    #[case::by_code(json!({"location": {"state": "az"}}), None)]
    fn only_real_open_stores_in_the_us_are_promoted(#[case] change: Value, #[case] reason: Option<&str>) {
        assert_eq!(store(change).unwrap().rejection_reason.map(<&str>::from), reason);
    }

    #[test]
    fn texts_have_a_bound() {
        let long = "x".repeat(60_000);
        let found = store(json!({"cName": long, "name": long, "menuUrl": null})).unwrap();
        assert_eq!((found.slug, found.menu_url), (None, None), "a slug is a key: part of one is none");
        assert_eq!(found.name.len(), 2000);
    }

    #[rstest]
    #[case::null(json!({"id": null}))]
    #[case::blank(json!({"id": ""}))]
    #[case::nuls_and_blanks(json!({"id": "\u{0} \u{0}"}))]
    #[case::too_long_for_a_key(json!({"id": "x".repeat(201)}))]
    fn a_store_without_an_id_is_nothing(#[case] change: Value) {
        assert_eq!(store(change), None);
    }
}
