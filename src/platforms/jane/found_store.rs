//! A store of Jane's as a [`FoundStore`], with the reason why it must not be promoted, if there is one.
//!
//! In: a store of the page's API, or a hit of the index of stores, which knows less. It must not know requests.

use serde_json::Value;
use url::Url;

use super::menu_url::is_id;
use crate::platforms::found_store::rejection_reason;
use crate::platforms::menu_address::is_name;
use crate::platforms::reading::value::{degrees, key, text};
use domain::store::{FoundStore, RejectionReason, us_states};

/// Names of time zones that Jane has from Ruby on Rails; one that is missing leaves the zone to the state's.
const TIME_ZONES: [(&str, &str); 9] = [
    ("Alaska", "America/Anchorage"),
    ("Arizona", "America/Phoenix"),
    ("Central Time (US & Canada)", "America/Chicago"),
    ("Eastern Time (US & Canada)", "America/New_York"),
    ("Hawaii", "Pacific/Honolulu"),
    ("Indiana (East)", "America/Indiana/Indianapolis"),
    ("Mountain Time (US & Canada)", "America/Denver"),
    ("Pacific Time (US & Canada)", "America/Los_Angeles"),
    ("Puerto Rico", "America/Puerto_Rico"),
];

/// None when it has no number as its id.
pub fn read(store: &Value, page_url: &Url) -> Option<FoundStore> {
    let id = key(&store["id"]).or_else(|| key(&store["objectID"])).filter(|id| is_id(id))?;
    let place = &store["_geoloc"];
    let slug = key(&store["url_slug"]);
    let mut found = FoundStore {
        name: text(&store["name"]).unwrap_or_default(),
        menu_url: Some(menu_url(&id, slug.as_deref(), page_url).to_string()),
        slug,
        address: text(&store["address"]).or_else(|| text(&store["full_address"])),
        city: text(&store["city"]),
        state: state(store),
        zip: text(&store["zip"]),
        latitude: degrees(&store["lat"], 90.0).or_else(|| degrees(&place["lat"], 90.0)),
        longitude: degrees(&store["long"], 180.0).or_else(|| degrees(&place["lng"], 180.0)),
        phone: text(&store["phone"]),
        timezone: text(&store["time_zone_identifier"]).and_then(|name| time_zone(&name)),
        is_recreational: store["recreational"].as_bool(),
        is_medical: store["medical"].as_bool(),
        website: text(&store["boost_menu_url"]),
        platform_dispensary_id: id,
        ..FoundStore::default()
    };
    let is_closed = store["visible"] == false || store["product_count"] == 0;
    found.rejection_reason = rejection_reason(&found, is_closed.then_some(RejectionReason::NotOpen));
    Some(found)
}

/// Address of the menu's page.
pub fn menu_url(id: &str, slug: Option<&str>, page_url: &Url) -> Url {
    let mut url = page_url.clone();
    let slug = slug.filter(|slug| is_name(slug)).map(|slug| format!("/{slug}")).unwrap_or_default();
    url.set_path(&format!("/stores/{id}{slug}/menu"));
    url
}

/// The field, or the word behind the last comma of the whole address: `12 Example Rd, Mesa, AZ 85201`.
fn state(store: &Value) -> Option<String> {
    let address = text(&store["full_address"]).unwrap_or_default();
    let in_address = address.rsplit(',').next().and_then(|last| last.split_whitespace().next()).map(str::to_owned);
    let named = text(&store["state"]).or(in_address)?;
    us_states::code(&named).map(str::to_owned)
}

fn time_zone(name: &str) -> Option<String> {
    TIME_ZONES.iter().find(|(known, _)| *known == name).map(|(_, zone)| (*zone).to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn store(change: Value) -> Option<FoundStore> {
        let mut store = json!({
            "id": 5876, "name": "Copper Fern - Mesa (REC)", "url_slug": "copper-fern-mesa-rec", "address": "12 Example Rd",
            "full_address": "12 Example Rd, Mesa, AZ 85201", "city": "Mesa", "state": "Arizona", "zip": "85201", "lat": 33.41,
            "long": -111.83, "phone": "(480) 555-0100", "time_zone_identifier": "Arizona", "recreational": true, "medical": false,
            "visible": true, "product_count": 712, "boost_menu_url": null,
        });
        for (key, value) in change.as_object().unwrap() {
            store[key] = value.clone();
        }
        read(&store, &Url::parse("https://www.iheartjane.com").unwrap())
    }

    #[test]
    fn a_store_is_read_whole() {
        let found = store(json!({})).unwrap();
        assert_eq!(found.platform_dispensary_id, "5876");
        let menu_url = "https://www.iheartjane.com/stores/5876/copper-fern-mesa-rec/menu";
        assert_eq!((found.menu_url.as_deref(), found.slug.as_deref()), (Some(menu_url), Some("copper-fern-mesa-rec")));
        assert_eq!((found.state.as_deref(), found.timezone.as_deref()), (Some("AZ"), Some("America/Phoenix")));
        assert_eq!((found.latitude, found.longitude), (Some(33.41), Some(-111.83)));
        assert_eq!((found.is_recreational, found.is_medical, found.rejection_reason), (Some(true), Some(false), None));
    }

    #[test]
    fn a_hit_of_the_index_is_read_with_what_it_has() {
        let hit = json!({"id": null, "objectID": "5876", "lat": null, "long": null, "_geoloc": {"lat": 33.41, "lng": -111.83},
                         "address": "", "state": null, "url_slug": "../x", "time_zone_identifier": "Samoa"});
        let found = store(hit).unwrap();
        assert_eq!((found.platform_dispensary_id.as_str(), found.latitude), ("5876", Some(33.41)));
        assert_eq!(found.address.as_deref(), Some("12 Example Rd, Mesa, AZ 85201"));
        assert_eq!((found.state.as_deref(), found.timezone), (Some("AZ"), None));
        assert_eq!(found.menu_url.as_deref(), Some("https://www.iheartjane.com/stores/5876/menu"));
    }

    #[rstest]
    #[case::fine(json!({}), None)]
    #[case::no_name(json!({"name": " "}), Some("no_name"))]
    #[case::hidden(json!({"visible": false}), Some("not_open"))]
    #[case::of_no_products(json!({"product_count": 0}), Some("not_open"))]
    #[case::of_unknown_visibility(json!({"visible": null, "product_count": null}), None)]
    #[case::another_country(json!({"state": "Ontario"}), Some("no_us_state"))]
    #[case::no_state(json!({"state": null, "full_address": null}), Some("no_us_state"))]
    fn only_open_stores_in_the_us_are_promoted(#[case] change: Value, #[case] reason: Option<&str>) {
        assert_eq!(store(change).unwrap().rejection_reason.map(<&str>::from), reason);
    }

    #[rstest]
    #[case::null(json!({"id": null}))]
    #[case::a_word(json!({"id": "copper-fern"}))]
    #[case::a_filter(json!({"id": "1 OR store_id:2"}))]
    fn a_store_without_a_number_is_nothing(#[case] change: Value) {
        assert_eq!(store(change), None);
    }
}
