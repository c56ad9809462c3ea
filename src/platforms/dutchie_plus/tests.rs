//! The request byte by byte, where the key goes, and how answers are classified.

use rstest::rstest;

use super::*;
use crate::platforms::tests;

fn adapter(key: &str) -> DutchiePlus {
    let mut config = settings::Config::with(&[]).unwrap().platform.dutchie_plus;
    config.key = key.into();
    let data = DutchiePlusData::load(Some("schema = 1\n[document]\nmenu = 'query menu { \"x\" }'")).unwrap();
    DutchiePlus::new(&config, data).unwrap()
}

fn store() -> Store {
    Store {
        api_host: Some("elsewhere.example".to_owned()),
        api_path: Some("/elsewhere".to_owned()),
        ..tests::store(Platform::DutchiePlus, "6405ef617056e8014d79101b")
    }
}

fn answer(status: u16, body: &str) -> Response {
    tests::answer("plus.dutchie.com", status, body)
}

fn menu_request() -> Request {
    let adapter = adapter("k-e-y");
    let query = adapter.menu_query(&store()).unwrap();
    adapter.request(&query).unwrap()
}

#[test]
fn a_menu_is_asked_for_by_one_post_byte_by_byte() {
    let request = menu_request();
    assert_eq!(request.kind, RequestKind::FetchWithBody);
    assert_eq!(
        request.body.unwrap(),
        r#"{"operationName":"menu","variables":{"retailerId":"6405ef617056e8014d79101b"},"query":"query menu { \"x\" }"}"#
    );
    let headers: Vec<_> = request.script_headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let json = "application/json";
    assert_eq!(headers, [("accept", json), ("content-type", json), ("authorization", "Bearer k-e-y")]);
}

#[test]
fn the_key_goes_to_the_configured_address_whatever_the_store_says() {
    let request = menu_request();
    assert_eq!(request.url.as_str(), "https://plus.dutchie.com/plus/2021-07/graphql");
    assert!(request.is_same_origin());
}

#[test]
fn the_key_is_in_no_message() {
    let shown = format!("{:?} {:?}", menu_request(), settings::Secret::from("k-e-y"));
    assert!(!shown.contains("k-e-y"), "{shown}");
}

#[test]
fn without_a_key_or_an_id_nothing_is_asked() {
    let error = adapter("").menu_query(&store()).unwrap_err();
    assert!(error.to_string().ends_with("platform.dutchie_plus.key is not set"), "{error}");
    assert_eq!(adapter("").api_hosts(), [""; 0]);
    let unknown = Store { platform_dispensary_id: None, ..store() };
    assert_eq!(adapter("k").menu_query(&unknown).unwrap_err().label(), "not_addressable");
}

#[rstest]
#[case::a_menu(200, r#"{"data":{"menu":{"products":[{"id":"p"}]}}}"#, "1 of None")]
#[case::an_announced_total(200, r#"{"data":{"menu":{"products":[{"id":"p"}],"productsCount":2}}}"#, "1 of Some(2)")]
#[case::an_empty_menu(200, r#"{"data":{"menu":{"products":[]}}}"#, "0 of None")]
#[case::errors(200, r#"{"data":null,"errors":[{"message":"Retailer not found"}]}"#, "graphql")]
#[case::errors_beside_data(200, r#"{"data":{"menu":{"products":[]}},"errors":[{"message":"x"}]}"#, "graphql")]
#[case::a_wrong_key(200, r#"{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}]}"#, "key_refused")]
#[case::no_menu(200, r#"{"data":{}}"#, "decode")]
#[case::cut_off(200, r#"{"data":{"menu":{"products":[{"id":"p"}"#, "http")]
#[case::no_json(500, "oops", "http")]
#[case::a_menu_of_a_failure(500, r#"{"data":{"menu":{"products":[]}}}"#, "http")]
fn an_answer_is_judged(#[case] status: u16, #[case] body: &str, #[case] expected: &str) {
    let adapter = adapter("k");
    let query = adapter.menu_query(&store()).unwrap();
    let judged = adapter.read_menu(&query, &answer(status, body));
    let judged = judged.map_or_else(
        |error| error.label().to_owned(),
        |part| format!("{} of {:?}", part.page.products().len(), part.total_count),
    );
    assert_eq!(judged, expected);
}

/// A field that is read and not asked for would always be absent.
#[test]
fn the_shipped_document_asks_for_every_field_that_is_read() {
    let document = DutchiePlusData::load(None).unwrap();
    let words: Vec<&str> = document.menu_document().split(|c: char| !c.is_alphanumeric()).collect();
    let read = "id name enterpriseProductId brand imageUrl category subcategory strainType image potencyThc potencyCbd range unit \
                variants option priceRec priceMed specialPriceRec specialPriceMed quantity";
    for field in read.split_whitespace() {
        assert!(words.contains(&field), "{field}");
    }
}
