//! The addresses byte by byte, and how answers are classified.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::platforms::tests;
use crate::stealth::RequestKind;

fn adapter() -> Weedmaps {
    Weedmaps::new(&settings::Config::with(&[]).unwrap().platform.weedmaps).unwrap()
}

fn store() -> Store {
    Store {
        slug: Some("copper-fern".to_owned()),
        menu_url: Some("https://weedmaps.com/deliveries/copper-fern/menu".to_owned()),
        api_host: Some("elsewhere.example".to_owned()),
        api_path: Some("/elsewhere".to_owned()),
        ..tests::store(Platform::Weedmaps, "51000")
    }
}

fn answer(status: u16, body: &str) -> Response {
    tests::answer("api-g.weedmaps.com", status, body)
}

fn menu_page(items: usize, total: Value) -> String {
    let items: Vec<Value> = (0..items).map(|id| json!({ "id": id, "name": "x" })).collect();
    json!({ "meta": { "total_menu_items": total }, "data": { "menu_items": items } }).to_string()
}

#[test]
fn a_menu_is_asked_for_by_the_kind_and_the_name_of_its_listing() {
    let query = adapter().menu_query(&store()).unwrap();
    let request = adapter().request(&query).unwrap();
    assert_eq!(
        request.url.as_str(),
        "https://api-g.weedmaps.com/discovery/v1/listings/deliveries/copper-fern/menu_items?page=1&page_size=100&sort_by=name&sort_order=asc"
    );
    assert_eq!(request.referer.as_str(), "https://weedmaps.com/deliveries/copper-fern");
    assert_eq!((request.kind, request.needs_preflight()), (RequestKind::Fetch, false));
    assert_eq!(request.script_headers, [("accept", "application/json".to_owned())]);
}

#[rstest]
#[case::by_its_slug(Some("copper-fern"), None, Some("dispensaries/copper-fern"))]
#[case::by_its_menu_url(Some("other"), Some("https://a-b.wm.store"), Some("dispensaries/a-b"))]
#[case::by_its_slug_beside_a_url_of_another_form(
    Some("a"),
    Some("https://copperfern.example/shop"),
    Some("dispensaries/a")
)]
#[case::by_a_slug_that_is_none(Some("../x"), None, None)]
#[case::by_nothing(None, None, None)]
fn a_listing_is_found_by_a_menu_url_or_a_slug(
    #[case] slug: Option<&str>,
    #[case] menu_url: Option<&str>,
    #[case] expected: Option<&str>,
) {
    let store = Store { slug: slug.map(str::to_owned), menu_url: menu_url.map(str::to_owned), ..store() };
    let path = adapter().resolve_query(&store).ok().map(|query| query.endpoint.path().to_owned());
    assert_eq!(path, expected.map(|path| format!("/discovery/v1/listings/{path}")));
}

#[test]
fn a_store_without_an_id_has_no_menu_yet() {
    let unknown = Store { platform_dispensary_id: None, ..store() };
    assert_eq!(adapter().menu_query(&unknown).unwrap_err().label(), "not_addressable");
}

#[test]
fn the_listings_around_a_point_come_page_by_page() {
    let point = DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 25.0 };
    let query = adapter().discovery_query(&point).unwrap();
    let address = "https://api-g.weedmaps.com/discovery/v2/listings?filter[any_retailer_services][]=storefront\
                   &filter[any_retailer_services][]=delivery&filter[bounding_latlng]=33.45,-112.07&filter[bounding_radius]=25mi\
                   &latlng=33.45,-112.07&page_size=100&page=";
    assert_eq!(query.endpoint.as_str(), format!("{address}1"));
    let listings = |count: usize| -> String {
        let listings: Vec<Value> = (0..count).map(|id| json!({ "id": id, "name": "x" })).collect();
        json!({ "meta": { "total_listings": 130 }, "data": { "listings": listings } }).to_string()
    };
    let first = adapter().read_stores(&query, &answer(200, &listings(100))).unwrap();
    let second = first.next.unwrap();
    assert_eq!((first.found.len(), second.endpoint.as_str()), (100, format!("{address}2").as_str()));
    assert_eq!(adapter().read_stores(&second, &answer(200, &listings(30))).unwrap().next, None);
    assert_eq!(adapter().read_stores(&second, &answer(200, &listings(0))).unwrap().next, None);
}

#[rstest]
#[case::more_to_come(100, json!(250), Some(2))]
#[case::fewer_than_were_asked_for(60, json!(250), Some(2))]
#[case::the_last_page(100, json!(100), None)]
#[case::an_empty_page(0, json!(250), None)]
#[case::without_a_total(100, json!(null), Some(2))]
fn a_menu_ends_with_its_total_or_an_empty_page(#[case] items: usize, #[case] total: Value, #[case] next: Option<u32>) {
    let query = adapter().menu_query(&store()).unwrap();
    let part = adapter().read_menu(&query, &answer(200, &menu_page(items, total))).unwrap();
    let page = part.next.map(|next| next.cursor::<MenuCursor>().unwrap().position.page);
    assert_eq!((part.page.products().len(), page), (items, next));
}

#[rstest]
#[case::a_menu(200, &menu_page(1, json!(1)), "1 of Some(1)")]
#[case::a_soft_block(200, &menu_page(0, json!(1240)), "0 of Some(1240)")]
#[case::no_live_menu(
    200,
    r#"{"meta":{"total_menu_items":0,"has_live_menu":false},"data":{"menu_items":[]}}"#,
    "0 of Some(0)"
)]
#[case::a_refused_question(422, r#"{"errors":[{"detail":"limit is too large"}]}"#, "graphql")]
#[case::another_one(400, r#"{"message":"no"}"#, "graphql")]
#[case::renamed(404, r#"{"errors":[{"detail":"not found"}]}"#, "not_found")]
#[case::cut_off(200, r#"{"data":{"menu_items":[{"id":"p"}"#, "http")]
#[case::no_menu(200, r#"{"data":{}}"#, "decode")]
#[case::a_menu_of_a_failure(206, &menu_page(1, json!(1)), "http")]
fn an_answer_is_judged(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let query = adapter().menu_query(&store()).unwrap();
    let judged = adapter().read_menu(&query, &answer(status, body)).map_or_else(
        |error| error.label().to_owned(),
        |part| format!("{} of {:?}", part.page.products().len(), part.total_count),
    );
    assert_eq!(judged, expected);
}

#[test]
fn a_refused_question_is_refused_in_the_servers_words() {
    let query = adapter().menu_query(&store()).unwrap();
    let error =
        adapter().read_menu(&query, &answer(422, r#"{"errors":[{"detail":"limit is too large"}]}"#)).unwrap_err();
    assert_eq!(error.to_string(), "menu_items was answered with errors: limit is too large");
}

fn listing_with(change: Value) -> Value {
    let mut listing = json!({
        "id": 9, "wmid": 51000, "name": "Copper Fern Mesa", "slug": "copper-fern", "type": "delivery", "license_type": "hybrid",
        "address": "12 Example Rd", "city": "Mesa", "state": "Arizona", "zip_code": "85201", "latitude": 33.41, "longitude": -111.83,
        "timezone": "America/Phoenix", "phone_number": "4805550100", "web_url": "https://weedmaps.com/deliveries/copper-fern",
        "menu_items_count": 1240, "is_recreational": true,
    });
    for (key, value) in change.as_object().unwrap() {
        listing[key] = value.clone();
    }
    listing
}

fn read_store(change: Value) -> Result<Option<FoundStore>, FetchError> {
    let query = adapter().resolve_query(&store()).unwrap();
    let body = json!({ "data": { "listing": listing_with(change) } }).to_string();
    adapter().read_store(&query, &answer(200, &body))
}

#[test]
fn a_listing_is_read_whole() {
    let found = read_store(json!({})).unwrap().unwrap();
    assert_eq!((found.platform_dispensary_id.as_str(), found.name.as_str()), ("51000", "Copper Fern Mesa"));
    assert_eq!(found.menu_url.as_deref(), Some("https://weedmaps.com/deliveries/copper-fern"));
    assert_eq!((found.state.as_deref(), found.zip.as_deref()), (Some("AZ"), Some("85201")));
    assert_eq!((found.latitude, found.longitude), (Some(33.41), Some(-111.83)));
    assert_eq!((found.is_recreational, found.is_medical), (Some(true), Some(true)));
    assert_eq!((found.timezone.as_deref(), found.rejection_reason), (Some("America/Phoenix"), None));
}

#[rstest]
#[case::of_a_courier(json!({ "web_url": null }), "https://weedmaps.com/deliveries/copper-fern")]
#[case::of_a_storefront(json!({ "web_url": "https://x.example/", "type": "dispensary" }), "https://weedmaps.com/dispensaries/copper-fern")]
fn a_listing_without_an_address_has_that_of_its_kind(#[case] change: Value, #[case] expected: &str) {
    let found = read_store(change).unwrap().unwrap();
    assert_eq!(found.menu_url.as_deref(), Some(expected));
    let slug = (!expected.contains("deliveries")).then_some("copper-fern");
    assert_eq!(found.slug.as_deref(), slug, "the slug alone is that of a storefront");
}

#[rstest]
#[case::fine(json!({}), None)]
#[case::an_unknown_kind(json!({ "type": "kiosk" }), None)]
#[case::no_name(json!({ "name": " " }), Some("no_name"))]
#[case::a_doctor(json!({ "type": "doctor" }), Some("not_a_store"))]
#[case::a_shop_of_a_brand(json!({ "type": "store" }), Some("not_a_store"))]
#[case::no_items(json!({ "menu_items_count": 0 }), Some("not_open"))]
#[case::not_published(json!({ "published": false }), Some("not_open"))]
#[case::another_country(json!({ "state": "Ontario" }), Some("no_us_state"))]
fn only_stores_with_a_menu_are_promoted(#[case] change: Value, #[case] reason: Option<&str>) {
    assert_eq!(read_store(change).unwrap().unwrap().rejection_reason.map(<&str>::from), reason);
}

#[rstest]
#[case::by_its_license(json!({ "license_type": "medical", "is_recreational": true }), (Some(false), Some(true)))]
#[case::by_its_flag(json!({ "license_type": null, "is_recreational": false }), (Some(false), None))]
fn a_listing_sells_to_those_whom_its_license_names(
    #[case] change: Value,
    #[case] expected: (Option<bool>, Option<bool>),
) {
    let found = read_store(change).unwrap().unwrap();
    assert_eq!((found.is_recreational, found.is_medical), expected);
}

#[test]
fn another_listing_is_the_wrong_one_and_an_unknown_slug_is_none() {
    assert!(read_store(json!({ "slug": "other" })).unwrap_err().to_string().contains("wrong_store"));
    assert_eq!(
        read_store(json!({ "slug": "Copper-Fern" })).unwrap().map(|found| found.name),
        Some("Copper Fern Mesa".to_owned())
    );
    assert_eq!(read_store(json!({ "wmid": null, "id": null })).unwrap_err().label(), "decode");
    let query = adapter().resolve_query(&store()).unwrap();
    assert_eq!(adapter().read_store(&query, &answer(404, "{}")).unwrap(), None);
    assert_eq!(adapter().read_store(&query, &answer(200, "{}")).unwrap_err().label(), "decode");
}
