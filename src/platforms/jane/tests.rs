//! The request byte by byte, where the key goes, the way through a menu that is too large, and how answers are judged.

use rstest::rstest;
use serde_json::Value;

use super::*;
use crate::platforms::{AddressField, tests};

fn adapter(key: &str) -> Jane {
    let mut settings = settings::Config::with(&[]).unwrap().platform.jane;
    settings.key = key.into();
    Jane::new(&settings).unwrap()
}

fn store() -> Store {
    Store {
        slug: Some("copper-fern".to_owned()),
        api_host: Some("elsewhere.example".to_owned()),
        api_path: Some("/elsewhere".to_owned()),
        ..tests::store(Platform::Jane, "5876")
    }
}

fn answer(status: u16, body: &str) -> Response {
    tests::answer("search.iheartjane.com", status, body)
}

fn menu_query() -> Query {
    adapter("k").menu_query(&store()).unwrap()
}

#[test]
fn a_menu_is_asked_for_by_one_simple_post_byte_by_byte() {
    let request = adapter("k-e-y").request(&menu_query()).unwrap();
    assert_eq!(
        request.url.as_str(),
        concat!(
            "https://search.iheartjane.com/1/indexes/menu-products-production/query",
            "?x-algolia-agent=Algolia%20for%20JavaScript%20(4.24.0)%3B%20Browser%20(lite)&x-algolia-api-key=k-e-y",
            "&x-algolia-application-id=VFM4X0N23A"
        )
    );
    assert_eq!(
        request.body.as_deref().unwrap(),
        br#"{"query":"","filters":"store_id:5876","hitsPerPage":1000,"page":0,"facets":["kind"],"attributesToHighlight":[]}"#
    );
    assert_eq!(request.referer.as_str(), "https://www.iheartjane.com/stores/5876/copper-fern/menu");
    assert_eq!((request.kind, request.needs_preflight(), request.has_key()), (RequestKind::FetchWithBody, false, true));
}

#[test]
fn the_key_is_in_no_query_and_no_message_and_goes_to_no_host_of_pages() {
    let adapter = adapter("canary");
    let queries = [adapter.menu_query(&store()), adapter.resolve_query(&store())].map(Result::unwrap);
    let requests = queries.each_ref().map(|query| adapter.request(query).unwrap());
    assert!(!format!("{queries:?} {requests:?}").contains("canary"));
    assert_eq!(requests.map(|request| request.has_key()), [true, false]);
}

#[test]
fn the_page_of_the_menu_is_read_for_a_key_and_no_other_page() {
    let (adapter, point) = (adapter(""), DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 50.0 });
    let [menu, stores, store] =
        [adapter.menu_query(&store()), adapter.discovery_query(&point), adapter.resolve_query(&store())]
            .map(Result::unwrap);
    let page = adapter.key_page(&menu).unwrap();
    assert_eq!(page.url.as_str(), "https://www.iheartjane.com/stores/5876/copper-fern/menu");
    assert!(page.is_same_origin() && !page.has_key());
    assert!(adapter.key_page(&stores).is_none());
    assert_eq!([&menu, &stores, &store].map(|query| adapter.needs_key(query)), [true, true, false]);
    assert_eq!(adapter.api_hosts(), ["search.iheartjane.com", "www.iheartjane.com"]);
}

#[test]
fn a_key_that_was_read_takes_the_place_of_the_configured_one() {
    let shown = br#"{"algoliaAppId":"VFM4X0N23A","algoliaApiKey":"00112233445566778899aabbccddeeff"}"#;
    let adapter = adapter("configured");
    let key = adapter.read_key(shown).unwrap();
    let request = adapter.request_with_key(&menu_query(), &key);
    assert!(request.url.as_str().contains("x-algolia-api-key=00112233445566778899aabbccddeeff&"));
    assert!(!format!("{request:?} {key:?}").contains("00112233"));
}

#[rstest]
#[case::none(None)]
#[case::a_filter(Some("5876 OR store_id:1"))]
fn a_store_without_a_number_is_not_asked_for(#[case] id: Option<&str>) {
    let store = Store { platform_dispensary_id: id.map(str::to_owned), ..store() };
    assert_eq!(adapter("k").menu_query(&store).unwrap_err().label(), "not_addressable");
}

/// Filters of the questions that a crawl asks, with the number of the page, given what each one answers.
fn questions(per_page: u32, answers: &[Value]) -> Vec<(String, u64)> {
    let adapter = Jane { per_page, ..adapter("k") };
    let (mut asked, mut next) = (Vec::new(), Some(adapter.menu_query(&store()).unwrap()));
    for body in answers {
        let Some(query) = next else { break };
        let question: Value = serde_json::from_str(&query.parameters).unwrap();
        let filter =
            question["filters"].as_str().unwrap().trim_start_matches("store_id:5876").trim_start_matches(" AND ");
        asked.push((filter.to_owned(), question["page"].as_u64().unwrap()));
        next = adapter.read_menu(&query, &answer(200, &body.to_string())).unwrap().next;
    }
    assert_eq!(next, None, "more would be asked for");
    asked
}

fn page(total: usize, pages: usize, facets: Value) -> Value {
    json!({"hits": [{"product_id": 1, "store_id": 5876}], "nbHits": total, "nbPages": pages, "facets": facets})
}

#[test]
fn a_menu_above_the_ceiling_is_asked_for_by_kind_and_a_large_kind_by_subtype() {
    let none = json!({});
    let answers = [
        page(2400, 1, json!({"kind": {"flower": 1300, "pre-roll": 900, "a \"b\"": 100}})),
        page(100, 1, none.clone()),
        page(1300, 1, json!({"root_subtype": {"Shake": 700, "Bud": 500}})),
        page(500, 1, none.clone()),
        page(700, 1, none.clone()),
        page(100, 1, none.clone()),
        page(900, 1, none.clone()),
        page(100, 1, none),
    ];
    let filters: Vec<String> = questions(1000, &answers).into_iter().map(|(filter, _)| filter).collect();
    assert_eq!(
        filters,
        [
            "",
            r#"kind:"a \"b\"""#,
            r#"kind:"flower""#,
            r#"kind:"flower" AND root_subtype:"Bud""#,
            r#"kind:"flower" AND root_subtype:"Shake""#,
            r#"kind:"flower" AND NOT root_subtype:"Bud" AND NOT root_subtype:"Shake""#,
            r#"kind:"pre-roll""#,
            r#"NOT kind:"a \"b\"" AND NOT kind:"flower" AND NOT kind:"pre-roll""#,
        ]
    );
}

#[rstest]
#[case::one(&[(7, 1)], &[0])]
#[case::an_empty_menu(&[(0, 0)], &[0])]
#[case::several(&[(25, 3), (25, 3), (25, 3)], &[0, 1, 2])]
#[case::one_that_cannot_be_cut(&[(99, 2), (99, 2)], &[0, 1])]
#[case::products_that_went_meanwhile(&[(25, 3), (24, 3), (24, 3), (24, 3), (24, 3)], &[0, 1, 0, 1, 2])]
#[case::products_that_came_meanwhile(&[(24, 3), (25, 3), (25, 3)], &[0, 1, 2])]
#[case::products_that_go_all_the_time(&[(25, 3), (24, 3), (24, 3), (23, 3), (23, 3), (22, 3), (21, 3)], &[0, 1, 0, 1, 0, 1, 2])]
fn pages_are_followed_and_begun_again_where_products_went(#[case] answers: &[(usize, usize)], #[case] asked: &[u64]) {
    let answers: Vec<Value> = answers.iter().map(|(total, pages)| page(*total, *pages, json!({}))).collect();
    let pages: Vec<u64> = questions(10, &answers).into_iter().map(|(_, page)| page).collect();
    assert_eq!(pages, asked);
}

#[test]
fn the_size_of_a_menu_is_that_of_its_first_answer_not_of_a_part() {
    let adapter = adapter("k");
    let whole = page(2400, 1, json!({"kind": {"flower": 2400}}));
    let part = adapter.read_menu(&menu_query(), &answer(200, &whole.to_string())).unwrap();
    assert_eq!((part.total_count, part.is_estimate), (Some(2400), false));
    let of_kind = adapter.read_menu(&part.next.unwrap(), &answer(200, &page(2400, 3, json!({})).to_string())).unwrap();
    assert_eq!((of_kind.total_count, of_kind.next.is_some()), (None, true));
}

#[rstest]
#[case::a_menu(200, r#"{"hits":[{"product_id":1,"store_id":5876}],"nbHits":1,"nbPages":1}"#, "1 of Some(1)")]
#[case::an_empty_menu(200, r#"{"hits":[],"nbHits":0,"nbPages":0}"#, "0 of Some(0)")]
#[case::of_another_store(
    200,
    r#"{"hits":[{"product_id":1,"store_id":7}],"nbHits":1}"#,
    "http: wrong_store: it was asked for 5876 and answered about 7"
)]
#[case::refused(400, r#"{"message":"filters: unexpected token","status":400}"#, "graphql: filters: unexpected token")]
#[case::refused_by_another_status(422, r#"{"errors":[{"detail":"no such page"}]}"#, "graphql: no such page")]
#[case::refused_without_words(400, "no", "graphql: no message")]
#[case::cut_off(200, r#"{"hits":[{"product_id":1"#, "http: the answer is cut off")]
#[case::no_menu(200, r#"{"results":[]}"#, "decode: no hits in it")]
#[case::a_status_alone(404, "{}", "http: status 404")]
#[case::a_menu_of_a_failure(500, r#"{"hits":[]}"#, "http: status 500")]
fn an_answer_is_judged(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let judged = adapter("k").read_menu(&menu_query(), &answer(status, body));
    let (label, says) = match &judged {
        Ok(part) => (format!("{} of {:?}", part.page.products().len(), part.total_count), String::new()),
        Err(error) => (error.label().to_owned(), error.to_string()),
    };
    let (wanted, words) = expected.split_once(": ").unwrap_or((expected, ""));
    assert!(label == wanted && says.ends_with(words), "{label}: {says}");
}

#[rstest]
#[case::by_its_number(
    Some("https://www.iheartjane.com/stores/77/copper-fern/menu"),
    "https://www.iheartjane.com/api/v1/stores/77"
)]
#[case::by_its_slug(None, "https://www.iheartjane.com/api/v1/stores?slug=copper-fern")]
fn a_store_is_looked_up_by_what_is_known(#[case] menu_url: Option<&str>, #[case] address: &str) {
    let store = Store { menu_url: menu_url.map(str::to_owned), ..store() };
    let request = adapter("k").request(&adapter("k").resolve_query(&store).unwrap()).unwrap();
    assert_eq!((request.kind, request.url.as_str()), (RequestKind::Fetch, address));
    let leads = if menu_url.is_some() { AddressField::MenuUrl } else { AddressField::Slug };
    assert_eq!(adapter("k").leading_field(&store), leads);
}

#[rstest]
#[case::itself(true, 200, r#"{"store":{"id":77,"name":"A"}}"#, Ok(Some("77")))]
#[case::another(true, 200, r#"{"store":{"id":78,"name":"A"}}"#, Err("http"))]
#[case::unknown(true, 404, "no", Err("not_found"))]
#[case::by_a_former_slug(false, 200, r#"{"stores":[{"id":77,"url_slug":"new"}]}"#, Ok(Some("77")))]
#[case::among_others(
    false,
    200,
    r#"{"stores":[{"id":78,"url_slug":"x"},{"id":77,"url_slug":"Copper-Fern"}]}"#,
    Ok(Some("77"))
)]
#[case::others_alone(false, 200, r#"{"stores":[{"id":78,"url_slug":"x"},{"id":79,"url_slug":"y"}]}"#, Err("http"))]
#[case::none(false, 200, r#"{"stores":[]}"#, Ok(None))]
#[case::refused(false, 422, r#"{"message":"no"}"#, Err("graphql"))]
fn an_answer_about_other_stores_binds_none(
    #[case] by_number: bool,
    #[case] status: u16,
    #[case] body: &str,
    #[case] expected: Result<Option<&str>, &str>,
) {
    let menu_url = by_number.then(|| "https://www.iheartjane.com/stores/77".to_owned());
    let query = adapter("k").resolve_query(&Store { menu_url, ..store() }).unwrap();
    let found = adapter("k").read_store(&query, &answer(status, body));
    let found = found.map(|found| found.map(|store| store.platform_dispensary_id));
    assert_eq!(found.as_ref().map(Option::as_deref).map_err(FetchError::label), expected);
}

#[test]
fn stores_around_a_point_are_asked_for_page_by_page_in_metres() {
    let adapter = adapter("k");
    let query = adapter.discovery_query(&DiscoveryPoint { latitude: 33.45, longitude: -112.07, miles: 50.0 }).unwrap();
    assert_eq!(
        query.parameters,
        r#"{"query":"","aroundLatLng":"33.45,-112.07","aroundRadius":80468,"hitsPerPage":100,"page":0}"#
    );
    let read = |query: &Query, pages: u64, total: u64| {
        let body =
            json!({"hits": [{"objectID": "77", "name": "A"}, {"objectID": "x"}], "nbPages": pages, "nbHits": total});
        adapter.read_stores(query, &answer(200, &body.to_string()))
    };
    let first = read(&query, 2, 150).unwrap();
    assert_eq!(first.found.iter().map(|store| store.platform_dispensary_id.as_str()).collect::<Vec<_>>(), ["77"]);
    let next = first.next.unwrap();
    assert!(next.parameters.ends_with(r#""page":1}"#), "{}", next.parameters);
    assert_eq!(read(&next, 2, 150).unwrap().next, None);
    assert_eq!(read(&query, 10, 1001).unwrap_err().label(), "decode", "not all of them can be had");
}
