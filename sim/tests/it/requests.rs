//! The origin's requirements, the stores it finds, and the form of its answers.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use sim::{Coding, Operation, Settings, Simulator, history};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Answer, PATIENCE, Way, certified, get, graphql, http2, menu_page, menu_variables, send, small};

#[path = "../../../tests/testkit/fixture.rs"]
mod fixture;

const MENU: Operation = Operation::FilteredProducts;
/// A client timeout that a test waits for.
const BRIEF: Duration = Duration::from_millis(50);

fn request(sim: &Simulator) -> Request<Full<Bytes>> {
    get(sim, "/api-3/graphql", MENU, menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25), history(MENU)[0])
}

async fn answer(sim: &Simulator, request: Request<Full<Bytes>>) -> Answer {
    send(sim, &Way::Direct, request).await.unwrap()
}

async fn found(sim: &Simulator, operation: Operation, filter: Value) -> Vec<String> {
    let answer = graphql(sim, &Way::Direct, operation, json!({ "dispensaryFilter": filter })).await.unwrap();
    let dispensaries = answer.json()["data"]["filteredDispensaries"].as_array().unwrap().clone();
    dispensaries.iter().map(|dispensary| dispensary["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_request_without_the_preflight_headers_is_refused() {
    let sim = Simulator::start(small()).unwrap();
    for header in ["content-type", "apollo-require-preflight"] {
        let mut request = request(&sim);
        request.headers_mut().remove(header);
        assert_eq!(answer(&sim, request).await.status, 400, "{header}");
    }
}

#[tokio::test]
async fn every_shard_answers_and_no_other_path_does() {
    let sim = Simulator::start(small()).unwrap();
    let variables = || menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25);
    for (path, status) in [("/graphql", 200), ("/api-0/graphql", 200), ("/api-4/graphql", 200), ("/api-5/graphql", 404)]
    {
        let request = get(&sim, path, MENU, variables(), history(MENU)[0]);
        assert_eq!(answer(&sim, request).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_switched_hash_makes_the_old_one_unknown() {
    let sim = Simulator::start(small()).unwrap();
    let with = |hash: &str| get(&sim, "/graphql", MENU, menu_variables("any", 0, 25), hash);
    assert_eq!(answer(&sim, with(history(MENU)[1])).await.error_code().as_deref(), Some("PERSISTED_QUERY_NOT_FOUND"));
    sim.switch_hash(MENU, Some("f00d"));
    assert_eq!(answer(&sim, with(history(MENU)[0])).await.error_code().as_deref(), Some("PERSISTED_QUERY_NOT_FOUND"));
    assert_eq!(answer(&sim, with("f00d")).await.error_code(), None);
    assert_eq!(sim.counts().hash_not_found, 2);
}

#[tokio::test]
async fn one_shard_is_stale_while_another_is_current() {
    let sim = Simulator::start(small()).unwrap();
    sim.set_shard_stale("/api-1/graphql", true);
    let with = |path: &str, hash: &str| get(&sim, path, MENU, menu_variables("any", 0, 25), hash);
    assert!(answer(&sim, with("/api-1/graphql", history(MENU)[0])).await.error_code().is_some());
    assert!(answer(&sim, with("/api-1/graphql", history(MENU)[1])).await.error_code().is_none());
    assert!(answer(&sim, with("/api-2/graphql", history(MENU)[0])).await.error_code().is_none());
}

#[tokio::test]
async fn a_stale_shard_knows_what_was_retired_elsewhere() {
    let sim = Simulator::start(small()).unwrap();
    let search = Operation::DispensarySearch;
    sim.set_shard_stale("/api-1/graphql", true);
    sim.switch_hash(search, Some("f00d"));
    for (path, hash, is_known) in [
        ("/api-1/graphql", history(search)[0], true),
        ("/api-1/graphql", "f00d", false),
        ("/api-2/graphql", history(search)[0], false),
        ("/api-2/graphql", "f00d", true),
    ] {
        let request = get(&sim, path, search, json!({ "dispensaryFilter": { "state": "AZ" } }), hash);
        assert_eq!(answer(&sim, request).await.error_code().is_none(), is_known, "{path} {hash}");
    }
}

#[tokio::test]
async fn only_answers_with_data_and_menus_of_the_catalogue_are_counted() {
    let sim = Simulator::start(small()).unwrap();
    let store = &sim.stores()[0].platform_dispensary_id;
    for (id, per_page) in [(store.as_str(), 25), (store.as_str(), 26), ("a stranger's", 25)] {
        graphql(&sim, &Way::Direct, MENU, menu_variables(id, 0, per_page)).await.unwrap();
    }
    let counts = sim.counts();
    assert_eq!((counts.answered, counts.menus), (2, [(store.clone(), 2)].into()));
}

#[tokio::test]
async fn full_text_works_without_any_hash() {
    let sim = Simulator::start(small()).unwrap();
    sim.switch_hash(MENU, None);
    assert!(answer(&sim, request(&sim)).await.error_code().is_some());
    let answer = answer(&sim, in_full(&sim, "{ filteredProducts { products { _id } } }")).await;
    assert_eq!((answer.products().len(), sim.counts().full_text), (25, 1));
}

fn in_full(sim: &Simulator, text: &str) -> Request<Full<Bytes>> {
    let variables = menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25);
    let body = json!({ "operationName": "FilteredProducts", "query": text, "variables": variables });
    let (mut parts, _) = request(sim).into_parts();
    (parts.method, parts.uri) = (http::Method::POST, format!("{}/graphql", sim.base_url()).parse().unwrap());
    Request::from_parts(parts, Full::from(body.to_string()))
}

#[tokio::test]
async fn a_full_text_gets_what_it_asks_for_and_nothing_else() {
    let sim = Simulator::start(small()).unwrap();
    let text =
        "query FilteredProducts($page: Int) { filteredProducts(page: $page) { products { Name brand { id } } } }";
    let menu = answer(&sim, in_full(&sim, text)).await.json()["data"]["filteredProducts"].clone();
    let keys = |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&menu), ["products"]);
    let branded = menu["products"].as_array().unwrap().iter().find(|product| product["brand"].is_object()).unwrap();
    assert_eq!((keys(branded), keys(&branded["brand"])), (vec!["Name".into(), "brand".into()], vec!["id".into()]));
}

#[tokio::test]
async fn a_full_text_of_another_operation_is_refused() {
    let sim = Simulator::start(small()).unwrap();
    for text in ["query FilteredProducts { filteredDispensaries { id } }", "filteredProducts"] {
        assert_eq!(answer(&sim, in_full(&sim, text)).await.status, 400, "{text}");
    }
}

#[tokio::test]
async fn the_coding_is_one_the_client_offers_and_gzip_where_it_may() {
    let sim = Simulator::start(small()).unwrap();
    let cases = [
        ("br, gzip", Some("gzip")),
        ("zstd", Some("zstd")),
        ("br;q=0.5", Some("br")),
        ("deflate, gzip;q=0", Some("deflate")),
        ("identity", None),
    ];
    for (offered, chosen) in cases {
        let mut request = request(&sim);
        request.headers_mut().insert("accept-encoding", offered.parse().unwrap());
        let answer = answer(&sim, request).await;
        assert_eq!(answer.headers.get("content-encoding").map(|coding| coding.to_str().unwrap()), chosen);
        assert_eq!(answer.products().len(), 25, "{offered}");
    }
}

#[tokio::test]
async fn a_preferred_coding_is_used_where_it_is_offered() {
    let sim = Simulator::start(Settings { coding: Some(Coding::Zstd), ..small() }).unwrap();
    for (offered, chosen) in [("gzip, br, zstd", "zstd"), ("gzip, br", "gzip")] {
        let mut request = request(&sim);
        request.headers_mut().insert("accept-encoding", offered.parse().unwrap());
        assert_eq!(answer(&sim, request).await.headers["content-encoding"], chosen);
    }
}

#[tokio::test]
async fn only_status_all_returns_products() {
    let sim = Simulator::start(small()).unwrap();
    let mut variables = menu_variables(&sim.stores()[0].platform_dispensary_id, 0, 25);
    variables["productsFilter"]["Status"] = Value::Null;
    let answer = graphql(&sim, &Way::Direct, MENU, variables).await.unwrap();
    assert_eq!((answer.products().len(), answer.total()), (0, 0));
}

#[tokio::test]
async fn a_store_is_found_by_slug_cname_and_id_and_a_stranger_is_not() {
    let sim = Simulator::start(small()).unwrap();
    let store = sim.stores().iter().find(|store| store.slug != store.cname).unwrap();
    for name in [&store.slug, &store.cname, &store.platform_dispensary_id] {
        let ids = found(&sim, Operation::ConsumerDispensaries, json!({ "cNameOrID": name })).await;
        assert_eq!(ids, std::slice::from_ref(&store.platform_dispensary_id));
    }
    assert!(found(&sim, Operation::ConsumerDispensaries, json!({ "cNameOrID": "nobody" })).await.is_empty());
}

#[tokio::test]
async fn discovery_by_radius_finds_neighbours_and_decoys() {
    let sim = Simulator::start(Settings { stores: 40, ..small() }).unwrap();
    let around_phoenix = json!({ "nearLat": 33.45, "nearLng": -112.07, "distance": 60 });
    for operation in [Operation::ConsumerDispensaries, Operation::DispensarySearch] {
        let ids = found(&sim, operation, around_phoenix.clone()).await;
        let here = |id: &str| ids.iter().any(|found| found == id);
        assert!(sim.stores().iter().all(|store| here(&store.platform_dispensary_id) == (store.state == "AZ")));
        assert!(sim.decoys().iter().all(|decoy| here(&decoy.platform_dispensary_id)));
    }
    assert!(sim.decoys().iter().any(|decoy| decoy.status == "closed"));
}

#[tokio::test]
async fn a_captured_page_is_a_store_of_its_own() {
    let Some(page) = fixture::fixture("dutchie/filtered_products_page.json") else { return };
    let original: Value = serde_json::from_slice(&std::fs::read(&page).unwrap()).unwrap();
    let sim = Simulator::start(Settings { captured_page: Some(page), ..small() }).unwrap();
    let store = sim.stores().last().unwrap();
    assert!(store.captured && sim.oracle(1).len() == sim.stores().len() - 1);
    for per_page in [25, 100] {
        let answer = menu_page(&sim, &store.platform_dispensary_id, 0, per_page).await;
        let info = &answer.json()["data"]["filteredProducts"]["queryInfo"];
        assert_eq!((info["totalCount"].as_u64(), info["totalPages"].as_u64()), (Some(25), Some(1)));
        assert_eq!(Value::from(answer.products()), original["data"]["filteredProducts"]["products"]);
        assert!(menu_page(&sim, &store.platform_dispensary_id, 1, per_page).await.products().is_empty());
    }
}

#[tokio::test]
async fn a_page_that_is_no_capture_is_refused_by_name() {
    let settings = Settings { captured_page: Some(PathBuf::from("Cargo.toml")), ..small() };
    let error = Simulator::start(settings).err().unwrap();
    assert!(format!("{error:#}").contains("Cargo.toml"));
}

#[tokio::test]
async fn a_client_that_never_shakes_hands_is_hung_up_on() {
    let sim = Simulator::start(Settings { tls: Some(certified().0), client_timeout: BRIEF, ..small() }).unwrap();
    let mut stream = TcpStream::connect(sim.base_url().trim_start_matches("https://")).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 1])).await;
    assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{ended:?}");
}

#[tokio::test]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let sim = Simulator::start(Settings { client_timeout: BRIEF, ..small() }).unwrap();
    let mut stream = TcpStream::connect(sim.base_url().trim_start_matches("http://")).await.unwrap();
    let head = "POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                apollo-require-preflight: true\r\ncontent-length: 10\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    tokio::time::timeout(PATIENCE, stream.read_exact(&mut status)).await.unwrap().unwrap();
    assert_eq!(&status, b"HTTP/1.1 400");
}

#[tokio::test]
async fn https_speaks_http_2_by_alpn() {
    let (server, certificate) = certified();
    let sim = Simulator::start(Settings { tls: Some(server), ..small() }).unwrap();
    let mut sender = http2(&sim, certificate).await.unwrap();
    let mut request = request(&sim);
    request.headers_mut().remove("host");
    let response = sender.send_request(request).await.unwrap();
    assert_eq!((response.status().as_u16(), response.version()), (200, http::Version::HTTP_2));
    assert!(response.into_body().collect().await.unwrap().to_bytes().len() > 1000);
}

#[tokio::test]
async fn an_answer_comes_after_its_latency_and_not_before() {
    const LATENCY: Duration = Duration::from_millis(60);
    const JITTER: Duration = Duration::from_millis(50);
    let sim = Simulator::start(Settings { latency: LATENCY, jitter: JITTER, ..small() }).unwrap();
    let store = &sim.stores()[0].platform_dispensary_id;
    let mut times = Vec::new();
    for _ in 0..12 {
        let started = std::time::Instant::now();
        graphql(&sim, &Way::Direct, Operation::FilteredProducts, menu_variables(store, 0, 25)).await.unwrap();
        times.push(started.elapsed());
    }
    assert!(times.iter().all(|time| *time >= LATENCY - JITTER), "{times:?}");
    assert!(times.iter().any(|time| *time > LATENCY), "{times:?}");
}
