//! Requests to the letter, and answers told apart.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::stealth::Kind;

fn adapter() -> Dutchie {
    let config = config::Dutchie {
        base_url: "https://dutchie.com".to_owned(),
        api_path: "/api-3/graphql".to_owned(),
        per_page: 100,
        min_coverage: 0.995,
    };
    Dutchie::new(&config, DutchieData::load(None).unwrap()).unwrap()
}

fn store() -> Dispensary {
    Dispensary {
        id: 1,
        name: "Deeply Rooted".to_owned(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some("6405ef617056e8014d79101b".to_owned()),
        slug: Some("deeply-rooted".to_owned()),
        menu_url: Some("https://dutchie.com/embedded-menu/deeply-rooted".to_owned()),
        api_host: None,
        api_path: None,
        state: Some("AZ".to_owned()),
        timezone: None,
        crawl_enabled: true,
    }
}

fn answer(status: u16, body: &str) -> Response {
    Response {
        host: "dutchie.com".to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: HeaderMap::new(),
        raw: Bytes::copy_from_slice(body.as_bytes()),
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

fn parameters(url: &Url) -> BTreeMap<String, String> {
    url.query_pairs().into_owned().collect()
}

#[test]
fn a_menu_page_is_asked_for_by_hash_to_the_letter() {
    let query = adapter().menu(&store()).unwrap();
    let request = adapter().request(&query, Key::Hash("abc")).unwrap();
    assert_eq!(request.kind, Kind::GraphqlGet);
    assert_eq!(&request.url[..url::Position::AfterPath], "https://dutchie.com/api-3/graphql");
    assert_eq!(request.referer.as_str(), "https://dutchie.com/embedded-menu/deeply-rooted");
    assert_eq!(request.body, None);
    let parameters = parameters(&request.url);
    assert_eq!(parameters["operationName"], "FilteredProducts");
    assert_eq!(parameters["extensions"], r#"{"persistedQuery":{"sha256Hash":"abc","version":1}}"#);
    assert_eq!(
        parameters["variables"],
        concat!(
            r#"{"includeEnterpriseSpecials":false,"includeCannabinoids":true,"productsFilter":{"#,
            r#""dispensaryId":"6405ef617056e8014d79101b","pricingType":"rec","Status":"All","types":[],"useCache":false,"#,
            r#""isDefaultSort":true,"sortBy":"popularSortIdx","sortDirection":1,"bypassOnlineThresholds":true,"#,
            r#""isKioskMenu":false,"removeProductsBelowOptionThresholds":false},"page":0,"perPage":100}"#
        )
    );
    let headers: Vec<_> = request.script_headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(
        headers,
        [
            ("accept", "*/*"),
            ("content-type", "application/json"),
            ("apollographql-client-name", "Marketplace (production)"),
            ("apollo-require-preflight", "true"),
            ("x-apollo-operation-name", "FilteredProducts"),
        ]
    );
}

#[test]
fn the_full_text_is_posted() {
    let query = adapter().menu(&store()).unwrap();
    let request = adapter().request(&query, Key::FullText).unwrap();
    assert_eq!((request.kind, request.url.as_str()), (Kind::GraphqlPost, "https://dutchie.com/api-3/graphql"));
    let body: Value = serde_json::from_slice(&request.body.unwrap()).unwrap();
    assert_eq!(body["operationName"], "FilteredProducts");
    assert_eq!(body["variables"]["productsFilter"]["Status"], "All");
    assert!(body["query"].as_str().unwrap().starts_with("query FilteredProducts("));
}

#[rstest]
#[case::the_platforms(
    None,
    None,
    "https://dutchie.com/api-3/graphql",
    "https://dutchie.com/embedded-menu/deeply-rooted"
)]
#[case::another_shard(
    None,
    Some("/api-1/graphql"),
    "https://dutchie.com/api-1/graphql",
    "https://dutchie.com/embedded-menu/deeply-rooted"
)]
#[case::own_host(
    Some("shop.example"),
    None,
    "https://shop.example/api-3/graphql",
    "https://shop.example/embedded-menu/deeply-rooted"
)]
#[case::with_a_port(
    Some("127.0.0.1:8443"),
    None,
    "https://127.0.0.1:8443/api-3/graphql",
    "https://127.0.0.1:8443/embedded-menu/deeply-rooted"
)]
fn a_store_has_its_own_place(
    #[case] api_host: Option<&str>,
    #[case] api_path: Option<&str>,
    #[case] endpoint: &str,
    #[case] referer: &str,
) {
    let store = Dispensary { api_host: api_host.map(str::to_owned), api_path: api_path.map(str::to_owned), ..store() };
    let query = adapter().menu(&store).unwrap();
    assert_eq!((query.endpoint.as_str(), query.referer.as_str()), (endpoint, referer));
}

#[rstest]
#[case::by_address(Some("https://dutchie.com/stores/vanity?x=1#top"), "https://dutchie.com/stores/vanity?x=1")]
#[case::of_another_host(Some("https://shop.example/stores/vanity?x=1"), "https://dutchie.com/stores/vanity")]
#[case::no_menu_address(Some("https://shop.example/"), "https://dutchie.com/dispensary/deeply-rooted")]
#[case::none(None, "https://dutchie.com/dispensary/deeply-rooted")]
fn the_referer_is_the_menu_page_at_the_same_origin(#[case] menu_url: Option<&str>, #[case] referer: &str) {
    let store = Dispensary { menu_url: menu_url.map(str::to_owned), ..store() };
    assert_eq!(adapter().menu(&store).unwrap().referer.as_str(), referer);
}

#[rstest]
#[case::a_path("evil.example/x")]
#[case::a_user("user@evil.example")]
#[case::a_query("evil.example?x")]
#[case::nothing("")]
fn an_api_host_that_is_no_host_is_refused(#[case] api_host: &str) {
    let store = Dispensary { api_host: Some(api_host.to_owned()), ..store() };
    assert!(matches!(adapter().menu(&store), Err(FetchError::Refused { .. })));
}

#[rstest]
#[case::by_address(store(), r#"{"dispensaryFilter":{"cNameOrID":"deeply-rooted"}}"#)]
#[case::by_slug(Dispensary { menu_url: None, slug: Some("other".to_owned()), ..store() }, r#"{"dispensaryFilter":{"cNameOrID":"other"}}"#)]
fn an_entry_is_asked_for_by_what_is_known(#[case] store: Dispensary, #[case] variables: &str) {
    let query = adapter().entry(&store).unwrap();
    assert_eq!((query.operation, query.variables.as_str()), ("ConsumerDispensaries", variables));
}

#[test]
fn a_store_without_any_entry_is_refused() {
    let store = Dispensary { menu_url: Some("https://shop.example/".to_owned()), slug: None, ..store() };
    assert!(matches!(adapter().entry(&store), Err(FetchError::Refused { .. })));
}

#[test]
fn discovery_asks_around_a_point_in_miles() {
    let point = DiscoveryPoint { state: "AZ".to_owned(), latitude: 33.45, longitude: -112.07, miles: 200.0 };
    let query = adapter().around(&point).unwrap();
    let variables: Value = serde_json::from_str(&query.variables).unwrap();
    assert_eq!(variables, json!({"dispensaryFilter": {"nearLat": 33.45, "nearLng": -112.07, "distance": 200.0}}));
    assert_eq!(query.endpoint.origin(), query.referer.origin());
}

fn page(ids: &[&str], total_count: Value, total_pages: Value) -> String {
    let products: Vec<Value> = ids.iter().map(|id| json!({"_id": id})).collect();
    let query_info = json!({"totalCount": total_count, "totalPages": total_pages});
    json!({"data": {"filteredProducts": {"products": products, "queryInfo": query_info}}}).to_string()
}

/// The pages that are asked for, given what each one answers.
fn pages_asked(answers: &[String]) -> Vec<u64> {
    let (adapter, mut asked) = (adapter(), Vec::new());
    let mut next = Some(adapter.menu(&store()).unwrap());
    for body in answers {
        let Some(query) = next else { break };
        let variables: Value = serde_json::from_str(&query.variables).unwrap();
        asked.push(variables["page"].as_u64().unwrap());
        next = adapter.read_menu(&query, &answer(200, body)).unwrap().next;
    }
    assert!(next.is_none(), "more pages would be asked for");
    asked
}

#[rstest]
#[case::one(vec![page(&["a"], json!(1), json!(1))], vec![0])]
#[case::three(vec![page(&["a"], json!(300), json!(3)), page(&["b"], json!(300), json!(3)), page(&["c"], json!(300), json!(3))], vec![0, 1, 2])]
#[case::an_empty_page_ends_it(vec![page(&["a"], json!(300), json!(3)), page(&[], json!(300), json!(3))], vec![0, 1])]
#[case::page_0_says_how_many(vec![page(&["a"], json!(200), json!(2)), page(&["b"], json!(900), json!(9))], vec![0, 1])]
#[case::by_the_count_where_pages_are_not_said(vec![page(&["a"], json!(101), json!(null)), page(&["b"], json!(101), json!(null))], vec![0, 1])]
#[case::until_empty_where_nothing_is_said(vec![page(&["a"], json!(null), json!(null)), page(&["b"], json!(null), json!(null)), page(&[], json!(null), json!(null))], vec![0, 1, 2])]
#[case::an_empty_menu(vec![page(&[], json!(0), json!(0))], vec![0])]
fn pages_are_followed_as_page_0_says(#[case] answers: Vec<String>, #[case] asked: Vec<u64>) {
    assert_eq!(pages_asked(&answers), asked);
}

const STALE: &str =
    r#"{"errors": [{"message": "PersistedQueryNotFound", "extensions": {"code": "PERSISTED_QUERY_NOT_FOUND"}}]}"#;
const ERRORS_AND_DATA: &str = r#"{"errors": [{"message": "boom"}], "data": {"filteredProducts": {"products": [{"_id": "a"}]}, "filteredDispensaries": []}}"#;

/// A word for each class of outcome.
fn class(error: FetchError) -> &'static str {
    match error {
        FetchError::HashStale { .. } => "hash_stale",
        FetchError::GraphQl { .. } => "graphql_error",
        FetchError::Http { .. } => "transient",
        FetchError::Decode { .. } => "unreadable",
        _ => "something else",
    }
}

#[rstest]
#[case::stale(200, STALE, "hash_stale")]
#[case::stale_with_another_status(400, STALE, "hash_stale")]
#[case::stale_by_its_message(200, r#"{"errors": [{"message": "PersistedQueryNotFound"}]}"#, "hash_stale")]
#[case::errors_alone(200, r#"{"errors": [{"message": "boom"}]}"#, "graphql_error")]
#[case::errors_beside_data(200, ERRORS_AND_DATA, "graphql_error")]
#[case::errors_of_a_strange_form(200, r#"{"errors": "boom", "data": null}"#, "graphql_error")]
#[case::truncated(200, r#"{"data": {"filteredProducts": {"prod"#, "transient")]
#[case::a_status_without_a_word(404, "not here", "transient")]
#[case::no_json(200, "not here", "unreadable")]
#[case::no_data(200, r#"{"data": null}"#, "unreadable")]
fn answers_are_told_apart(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let (adapter, response) = (adapter(), answer(status, body));
    let menu = adapter.menu(&store()).unwrap();
    assert_eq!(class(adapter.read_menu(&menu, &response).unwrap_err()), expected);
    let entry = adapter.entry(&store()).unwrap();
    assert_eq!(class(adapter.read_stores(&entry, &response).unwrap_err()), expected);
}

#[test]
fn an_unknown_slug_finds_no_store() {
    let entry = adapter().entry(&store()).unwrap();
    let found = adapter().read_stores(&entry, &answer(200, r#"{"data": {"filteredDispensaries": []}}"#)).unwrap();
    assert_eq!(found, []);
}
