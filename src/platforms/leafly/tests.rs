//! The addresses byte by byte, and how answers are classified.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::platforms::tests;

fn adapter() -> Leafly {
    Leafly::new(&settings::Config::with(&[]).unwrap().platform.leafly).unwrap()
}

fn store() -> Store {
    Store {
        slug: Some("another-slug".to_owned()),
        api_host: Some("elsewhere.example".to_owned()),
        api_path: Some("/elsewhere".to_owned()),
        ..tests::store(Platform::Leafly, "copper-fern")
    }
}

fn answer(status: u16, body: &str) -> Response {
    tests::answer("consumer-api.leafly.com", status, body)
}

fn menu_page(slugs: &[&str], total: Value) -> String {
    let items: Vec<Value> =
        (0..).zip(slugs).map(|(id, slug)| json!({ "id": id, "name": "x", "dispensarySlug": slug })).collect();
    json!({ "data": items, "metadata": { "totalCount": total } }).to_string()
}

#[test]
fn a_menu_is_asked_for_by_the_slug_that_is_its_id() {
    let query = adapter().menu_query(&store()).unwrap();
    let request = adapter().request(&query).unwrap();
    let address = "https://consumer-api.leafly.com/api/dispensaries/v1/copper-fern/menu_items?skip=0&take=50";
    assert_eq!(request.url.as_str(), address);
    assert_eq!(request.referer.as_str(), "https://www.leafly.com/dispensary-info/copper-fern/menu");
    assert!(!request.needs_preflight());
}

#[rstest]
#[case::unknown(None)]
#[case::not_a_slug(Some("a/../b"))]
fn a_store_without_such_an_id_has_no_menu_yet(#[case] id: Option<&str>) {
    let unknown = Store { platform_dispensary_id: id.map(str::to_owned), ..store() };
    assert_eq!(adapter().menu_query(&unknown).unwrap_err().label(), "not_addressable");
}

#[rstest]
#[case::more_to_come(50, json!(120), Some(50))]
#[case::fewer_than_were_asked_for(30, json!(120), Some(30))]
#[case::the_last_page(50, json!(50), None)]
#[case::an_empty_page(0, json!(120), None)]
fn a_menu_ends_with_its_total_or_an_empty_page(
    #[case] items: usize,
    #[case] total: Value,
    #[case] skip: Option<usize>,
) {
    let query = adapter().menu_query(&store()).unwrap();
    let part = adapter().read_menu(&query, &answer(200, &menu_page(&vec!["copper-fern"; items], total))).unwrap();
    let next = part.next.map(|next| next.endpoint.query().unwrap().to_owned());
    assert_eq!((part.page.products().len(), next), (items, skip.map(|skip| format!("skip={skip}&take=50"))));
}

#[rstest]
#[case::a_menu(200, &menu_page(&["copper-fern"], json!(1)), "1 of Some(1)")]
#[case::in_other_letters(200, &menu_page(&["Copper-Fern"], json!(1)), "1 of Some(1)")]
#[case::of_another_store(200, &menu_page(&["other", "other", "copper-fern"], json!(3)), "http")]
#[case::nothing(200, &menu_page(&[], json!(830)), "0 of Some(830)")]
#[case::a_take_that_is_too_large(400, r#"{"message":"take must not be greater than 50"}"#, "graphql")]
#[case::renamed(404, "{}", "not_found")]
#[case::cut_off(200, r#"{"data":[{"id":"p"}"#, "http")]
#[case::no_menu(200, "{}", "decode")]
fn an_answer_is_judged(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let query = adapter().menu_query(&store()).unwrap();
    let judged = adapter().read_menu(&query, &answer(status, body)).map_or_else(
        |error| error.label().to_owned(),
        |part| format!("{} of {:?}", part.page.products().len(), part.total_count),
    );
    assert_eq!(judged, expected);
}

#[rstest]
#[case::by_its_slug(None, Some("another-slug"))]
#[case::by_its_menu_url(Some("leafly.com/dispensary-info/copper-fern"), Some("copper-fern"))]
fn a_store_is_found_by_a_menu_url_or_a_slug(#[case] menu_url: Option<&str>, #[case] expected: Option<&str>) {
    let store = Store { menu_url: menu_url.map(str::to_owned), ..store() };
    let query = adapter().resolve_query(&store).unwrap();
    let path = expected.map(|slug| format!("/api/dispensaries/v1/{slug}/menu_items?skip=0&take=1"));
    assert_eq!(Some(query.endpoint[url::Position::BeforePath..].to_owned()), path);
}

#[rstest]
#[case::by_its_products(
    200,
    r#"{"data":[{"dispensarySlug":"another-slug","dispensaryName":"Fern"}]}"#,
    Ok(Some("Fern"))
)]
#[case::without_products(200, r#"{"data":[],"metadata":{"totalCount":0}}"#, Ok(Some("another-slug")))]
#[case::another(200, r#"{"data":[{"dispensarySlug":"other"}]}"#, Err("http"))]
#[case::unknown(404, "{}", Ok(None))]
#[case::no_menu(200, "{}", Err("decode"))]
fn a_store_is_known_by_its_menu(#[case] status: u16, #[case] body: &str, #[case] expected: Result<Option<&str>, &str>) {
    let query = adapter().resolve_query(&store()).unwrap();
    let found = adapter().read_store(&query, &answer(status, body));
    if let Ok(Some(found)) = &found {
        assert_eq!(found.platform_dispensary_id, "another-slug");
    }
    let name = found.map(|found| found.map(|found| found.name)).map_err(|error| error.label());
    assert_eq!(name, expected.map(|name| name.map(str::to_owned)));
}

#[test]
fn the_stores_around_a_point_come_page_by_page_from_another_host() {
    let point = DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 25.0 };
    let query = adapter().discovery_query(&point).unwrap();
    let address = |page: u32| {
        format!(
            "https://finder-service.leafly.com/v3/dispensaries?filter[]=dispensary&geo_query_type=point&lat=33.45&lon=-112.07\
             &radius=25mi&limit=100&page={page}&sort=default&return_facets=true"
        )
    };
    assert_eq!(query.endpoint.as_str(), address(1));
    let hosts = adapter().api_hosts();
    assert_eq!(hosts, ["consumer-api.leafly.com", "finder-service.leafly.com"]);
    let stores = |count: usize| {
        let stores: Vec<Value> = (0..count).map(|id| json!({ "slug": format!("s-{id}"), "name": "x" })).collect();
        json!({ "stores": stores }).to_string()
    };
    let first = adapter().read_stores(&query, &answer(200, &stores(100))).unwrap();
    let second = first.next.unwrap();
    assert_eq!((first.found.len(), second.endpoint.as_str()), (100, address(2).as_str()));
    assert_eq!(adapter().read_stores(&second, &answer(200, &stores(0))).unwrap().next, None);
    assert_eq!(adapter().read_stores(&query, &answer(200, "{}")).unwrap_err().label(), "decode");
}

fn found(change: Value) -> Option<FoundStore> {
    let mut store = json!({
        "name": "Copper Fern", "slug": "copper-fern", "address1": "12 Example Rd", "address2": "Suite 2", "city": "Mesa", "state": "AZ",
        "zip": "85201", "phone": "(480) 555-0100", "locations": [{ "lat": 33.41, "lon": -111.83 }],
    });
    for (key, value) in change.as_object().unwrap() {
        store[key] = value.clone();
    }
    found_store::read(&store, &adapter().0)
}

#[test]
fn a_store_of_a_search_is_read_whole() {
    let found = found(json!({})).unwrap();
    assert_eq!((found.platform_dispensary_id.as_str(), found.slug.as_deref()), ("copper-fern", Some("copper-fern")));
    assert_eq!(found.menu_url.as_deref(), Some("https://www.leafly.com/dispensary-info/copper-fern/menu"));
    assert_eq!((found.address.as_deref(), found.state.as_deref()), (Some("12 Example Rd, Suite 2"), Some("AZ")));
    assert_eq!((found.latitude, found.longitude), (Some(33.41), Some(-111.83)));
    assert_eq!(found.rejection_reason, None);
}

#[rstest]
#[case::no_name(json!({ "name": null }), Some(Some("no_name")))]
#[case::another_country(json!({ "state": "ON" }), Some(Some("no_us_state")))]
#[case::no_slug(json!({ "slug": null }), None)]
#[case::not_a_slug(json!({ "slug": "a/b" }), None)]
fn only_stores_in_the_us_are_promoted(#[case] change: Value, #[case] expected: Option<Option<&str>>) {
    let reason = found(change).map(|found| found.rejection_reason.map(<&str>::from));
    assert_eq!(reason, expected);
}
