//! Requests byte by byte, and how answers are classified.

use bytes::Bytes;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::platforms::{AddressField, tests};
use crate::stealth::RequestKind;

fn adapter() -> Dutchie {
    let config = settings::Config::with(&[]).unwrap().platform.dutchie;
    Dutchie::new(&config, DutchieData::load(None).unwrap()).unwrap()
}

fn store() -> Store {
    Store {
        slug: Some("deeply-rooted".to_owned()),
        menu_url: Some("https://dutchie.com/embedded-menu/deeply-rooted".to_owned()),
        ..tests::store(Platform::Dutchie, "6405ef617056e8014d79101b")
    }
}

fn answer(status: u16, body: &str) -> Response {
    tests::answer("dutchie.com", status, body)
}

#[test]
fn a_menu_page_is_asked_for_by_hash_byte_by_byte() {
    let query = adapter().menu_query(&store()).unwrap();
    let request = adapter().request_by_hash(&query, "abc");
    assert_eq!(request.kind, RequestKind::Fetch);
    assert_eq!(
        request.url.as_str(),
        concat!(
            "https://dutchie.com/api-3/graphql?operationName=FilteredProducts&variables=",
            "%7B%22includeEnterpriseSpecials%22%3Afalse%2C%22includeCannabinoids%22%3Atrue%2C%22productsFilter%22%3A%7B",
            "%22dispensaryId%22%3A%226405ef617056e8014d79101b%22%2C%22pricingType%22%3A%22rec%22%2C%22Status%22%3A%22All%22%2C",
            "%22types%22%3A%5B%5D%2C%22useCache%22%3Afalse%2C%22isDefaultSort%22%3Atrue%2C%22sortBy%22%3A%22popularSortIdx%22%2C",
            "%22sortDirection%22%3A1%2C%22bypassOnlineThresholds%22%3Atrue%2C%22isKioskMenu%22%3Afalse%2C",
            "%22removeProductsBelowOptionThresholds%22%3Afalse%7D%2C%22page%22%3A0%2C%22perPage%22%3A100%7D",
            "&extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22abc%22%7D%7D"
        )
    );
    assert_eq!(request.referer.as_str(), "https://dutchie.com/embedded-menu/deeply-rooted");
    assert_eq!(request.body, None);
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
    let query = adapter().menu_query(&store()).unwrap();
    let request = adapter().request(&query).unwrap();
    assert_eq!((request.kind, request.url.as_str()), (RequestKind::FetchWithBody, "https://dutchie.com/api-3/graphql"));
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
    let store = Store { api_host: api_host.map(str::to_owned), api_path: api_path.map(str::to_owned), ..store() };
    let query = adapter().menu_query(&store).unwrap();
    assert_eq!((query.endpoint.as_str(), query.referer.as_str()), (endpoint, referer));
}

#[rstest]
#[case::by_address(Some("https://dutchie.com/stores/vanity?x=1#top"), "https://dutchie.com/stores/vanity?x=1")]
#[case::of_another_host(Some("https://shop.example/stores/vanity?x=1"), "https://dutchie.com/stores/vanity")]
#[case::no_menu_address(Some("https://shop.example/"), "https://dutchie.com/dispensary/deeply-rooted")]
#[case::none(None, "https://dutchie.com/dispensary/deeply-rooted")]
fn the_referer_is_the_menu_page_at_the_same_origin(#[case] menu_url: Option<&str>, #[case] referer: &str) {
    let store = Store { menu_url: menu_url.map(str::to_owned), ..store() };
    assert_eq!(adapter().menu_query(&store).unwrap().referer.as_str(), referer);
}

#[rstest]
#[case::a_path("evil.example/x")]
#[case::a_user("user@evil.example")]
#[case::a_query("evil.example?x")]
#[case::nothing("")]
fn an_api_host_that_is_no_host_is_refused(#[case] api_host: &str) {
    let store = Store { api_host: Some(api_host.to_owned()), ..store() };
    assert!(matches!(adapter().menu_query(&store), Err(FetchError::NotAllowed { .. })));
}

#[rstest]
#[case::by_address(store(), r#"{"dispensaryFilter":{"cNameOrID":"deeply-rooted"}}"#)]
#[case::by_slug(Store { menu_url: None, slug: Some("other".to_owned()), ..store() }, r#"{"dispensaryFilter":{"cNameOrID":"other"}}"#)]
fn a_store_is_looked_up_by_what_is_known(#[case] store: Store, #[case] variables: &str) {
    let query = adapter().resolve_query(&store).unwrap();
    assert_eq!((query.operation, query.parameters.as_str()), ("ConsumerDispensaries", variables));
}

#[test]
fn a_store_is_looked_up_by_hash_byte_by_byte() {
    let query = adapter().resolve_query(&store()).unwrap();
    let request = adapter().request_by_hash(&query, "abc");
    assert_eq!(
        request.url.as_str(),
        concat!(
            "https://dutchie.com/api-3/graphql?operationName=ConsumerDispensaries&variables=",
            "%7B%22dispensaryFilter%22%3A%7B%22cNameOrID%22%3A%22deeply-rooted%22%7D%7D",
            "&extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22abc%22%7D%7D"
        )
    );
}

#[rstest]
#[case::its_menu_url(Some("https://dutchie.com/stores/a"), AddressField::MenuUrl)]
#[case::a_page_of_another_form(Some("https://dutchie.com/about"), AddressField::Slug)]
#[case::its_slug(None, AddressField::Slug)]
fn the_field_that_leads_is_the_one_that_is_asked_by(#[case] menu_url: Option<&str>, #[case] field: AddressField) {
    let store = Store { menu_url: menu_url.map(str::to_owned), slug: Some("b".to_owned()), ..store() };
    assert_eq!(adapter().leading_field(&store), field);
    let asked = if field == AddressField::MenuUrl { "a" } else { "b" };
    assert_eq!(adapter().resolve_query(&store).unwrap().cursor, json!(asked));
}

#[test]
fn a_store_without_any_entry_is_refused() {
    let store = Store { menu_url: Some("https://shop.example/".to_owned()), slug: None, ..store() };
    assert!(matches!(adapter().resolve_query(&store), Err(FetchError::NotAddressable { .. })));
}

#[test]
fn discovery_asks_around_a_point_in_miles() {
    let point = DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 200.0 };
    let query = adapter().discovery_query(&point).unwrap();
    let request = adapter().request_by_hash(&query, "abc");
    assert_eq!(
        request.url.as_str(),
        concat!(
            "https://dutchie.com/api-3/graphql?operationName=ConsumerDispensaries&variables=",
            "%7B%22dispensaryFilter%22%3A%7B%22nearLat%22%3A33.45%2C%22nearLng%22%3A-112.07%2C%22distance%22%3A200%7D%7D",
            "&extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22abc%22%7D%7D"
        )
    );
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
    let mut next = Some(adapter.menu_query(&store()).unwrap());
    for body in answers {
        let Some(query) = next else { break };
        let variables: Value = serde_json::from_str(&query.parameters).unwrap();
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

/// The name of an error's class.
fn class(error: FetchError) -> &'static str {
    match error {
        FetchError::UnknownQuery { .. } => "hash_stale",
        FetchError::Rejected { .. } => "graphql_error",
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
#[case::refused_although_it_needs_no_key(
    200,
    r#"{"errors": [{"message": "x", "extensions": {"code": "UNAUTHENTICATED"}}]}"#,
    "graphql_error"
)]
#[case::errors_of_a_strange_form(200, r#"{"errors": "boom", "data": null}"#, "graphql_error")]
#[case::truncated(200, r#"{"data": {"filteredProducts": {"prod"#, "transient")]
#[case::a_status_alone(404, "not here", "transient")]
#[case::no_json(200, "not here", "unreadable")]
#[case::no_data(200, r#"{"data": null}"#, "unreadable")]
fn answers_are_classified(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let (adapter, response) = (adapter(), answer(status, body));
    let menu = adapter.menu_query(&store()).unwrap();
    assert_eq!(class(adapter.read_menu(&menu, &response).unwrap_err()), expected);
    let entry = adapter.resolve_query(&store()).unwrap();
    assert_eq!(class(adapter.read_stores(&entry, &response).unwrap_err()), expected);
}

#[test]
fn a_store_of_which_a_field_failed_is_read_without_it_and_one_that_failed_whole_costs_the_answer() {
    let adapter = adapter();
    let entry = adapter.resolve_query(&store()).unwrap();
    let read = |failed: usize| {
        let stores = json!([{ "id": "a", "cName": "a", "name": "A", "status": null }, null]);
        let errors = json!([{ "message": "boom", "path": ["filteredDispensaries", failed, "status"] }]);
        let body = json!({ "errors": errors, "data": { "filteredDispensaries": stores } }).to_string();
        adapter.read_stores(&entry, &answer(200, &body))
    };
    let found = read(0).unwrap().found;
    assert_eq!(found.iter().map(|store| store.platform_dispensary_id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(class(read(1).unwrap_err()), "graphql_error");
}

#[rstest]
#[case::text(json!("300"), json!("3"))]
#[case::with_a_fraction(json!(300.0), json!(3.0))]
fn totals_of_any_type_are_read(#[case] total_count: Value, #[case] total_pages: Value) {
    let query = adapter().menu_query(&store()).unwrap();
    let part = adapter().read_menu(&query, &answer(200, &page(&["a"], total_count, total_pages))).unwrap();
    assert_eq!((part.total_count, part.next.is_some()), (Some(300), true));
}

#[test]
fn a_page_of_four_times_what_was_asked_for_is_the_most_that_is_read() {
    let query = adapter().menu_query(&store()).unwrap();
    let read = |count: usize| {
        let body = page(&vec!["a"; count], json!(count), json!(1));
        adapter().read_menu(&query, &answer(200, &body))
    };
    assert_eq!(read(400).unwrap().page.products().len(), 400);
    assert_eq!(class(read(401).unwrap_err()), "unreadable");
}

#[test]
fn a_part_of_an_answer_is_no_menu() {
    let query = adapter().menu_query(&store()).unwrap();
    let body = page(&["a"], json!(1), json!(1));
    assert_eq!(class(adapter().read_menu(&query, &answer(206, &body)).unwrap_err()), "transient");
}

#[rstest]
#[case::ours(&["6405ef617056e8014d79101b", "6405ef617056e8014d79101b"], true)]
#[case::one_of_another(&["6405ef617056e8014d79101b", "6405ef617056e8014d79101b", "other"], true)]
#[case::of_another(&["other", "other", "6405ef617056e8014d79101b"], false)]
#[case::of_two_others(&["one", "one", "other", "other", "6405ef617056e8014d79101b"], false)]
#[case::half_of_others(&["one", "other", "6405ef617056e8014d79101b", "6405ef617056e8014d79101b"], true)]
#[case::of_none_that_is_named(&[], true)]
fn a_menu_of_another_store_is_not_read(#[case] stores: &[&str], #[case] is_read: bool) {
    let products: Vec<Value> = stores.iter().enumerate().map(|(n, id)| json!({"_id": n, "DispensaryID": id})).collect();
    let body = json!({"data": {"filteredProducts": {"products": products, "queryInfo": {"totalCount": stores.len()}}}});
    let query = adapter().menu_query(&store()).unwrap();
    let read = adapter().read_menu(&query, &answer(200, &body.to_string()));
    assert_eq!(read.map(|_| "read").unwrap_or_else(class), if is_read { "read" } else { "transient" });
}

#[rstest]
#[case::by_its_slug(&[("1", "deeply-rooted")], Some("1"))]
#[case::by_a_vanity_slug(&[("1", "another-slug")], Some("1"))]
#[case::among_others(&[("2", "other"), ("1", "Deeply-Rooted")], Some("1"))]
#[case::only_others(&[("2", "other"), ("3", "more")], None)]
fn an_answer_about_other_stores_binds_none(#[case] answered: &[(&str, &str)], #[case] expected: Option<&str>) {
    let stores: Vec<Value> =
        answered.iter().map(|(id, slug)| json!({"id": id, "cName": slug, "name": slug, "status": "open"})).collect();
    let body = json!({"data": {"filteredDispensaries": stores}}).to_string();
    let query = adapter().resolve_query(&store()).unwrap();
    let found = adapter().read_store(&query, &answer(200, &body));
    let found = found.map(|found| found.map(|store| store.platform_dispensary_id));
    assert_eq!(found.as_ref().ok().cloned().flatten().as_deref(), expected);
    assert_eq!(found.is_err(), expected.is_none());
}

#[test]
fn an_id_is_answered_about_by_itself_only() {
    let store = Store { menu_url: None, slug: Some("6405ef617056e8014d79101b".to_owned()), ..store() };
    let query = adapter().resolve_query(&store).unwrap();
    let body = json!({"data": {"filteredDispensaries": [{"id": "other", "cName": "x", "name": "X"}]}}).to_string();
    assert_eq!(class(adapter().read_store(&query, &answer(200, &body)).unwrap_err()), "transient");
}

/// Runs the test below in a process of its own, whose memory nothing else moves.
#[cfg(target_os = "linux")]
#[test]
fn a_hostile_page_of_32_mebibytes_takes_less_than_64_with_its_own() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "platforms::dutchie::tests::reading_a_hostile_page", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by a_hostile_page_of_32_mebibytes_takes_less_than_64_with_its_own, in a process of its own"]
fn reading_a_hostile_page() {
    const INFLATED: usize = 32 << 20;
    let peak_kb = || -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let query = adapter().menu_query(&store()).unwrap();
    let before = peak_kb();
    let hostile = |head: &str, element: &str, tail: &str| {
        // made in place: a copy would count as the reader's
        let mut body = String::with_capacity(INFLATED + head.len() + tail.len());
        body.push_str(head);
        let chunk = element.repeat(4096);
        (0..INFLATED / chunk.len()).for_each(|_| body.push_str(&chunk));
        body.push_str(tail);
        Response { raw: Bytes::new(), body: Bytes::from(body), ..answer(200, "") }
    };
    let no_products = hostile(r#"{"data":{"filteredProducts":{"products":["#, "0,", "0]}}}");
    adapter().read_menu(&query, &no_products).unwrap_err();
    drop(no_products);
    let options = hostile(r#"{"data":{"filteredProducts":{"products":[{"_id":"a","Options":["#, "0,", "0]}]}}}");
    normalize::normalise(&[&options.body]).unwrap();
    drop(options);
    let keys = hostile(r#"{"data":{"filteredProducts":{"products":[{"#, r#""a":0,"#, r#""_id":"a"}]}}}"#);
    normalize::normalise(&[&keys.body]).unwrap();
    drop(keys);
    let stores = hostile(r#"{"data":{"filteredDispensaries":["#, "0,", "0]}}");
    adapter().read_stores(&query, &stores).unwrap_err();
    drop(stores);
    let errors = hostile(r#"{"data":null,"errors":["#, "0,", "0]}");
    adapter().read_stores(&query, &errors).unwrap_err();
    let more = (peak_kb() - before) / 1024;
    assert!(more < 64, "{more} MiB, the page's own {} among them", INFLATED >> 20);
}

#[test]
fn an_unknown_slug_finds_no_store() {
    let entry = adapter().resolve_query(&store()).unwrap();
    let found = adapter().read_stores(&entry, &answer(200, r#"{"data": {"filteredDispensaries": []}}"#)).unwrap();
    assert_eq!(found, StoresPart::default());
}
