//! Retailers by HTTP and by command: what is sure is joined, the rest is proposed, and what a person decides stays.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::read_commands::{Api, run, text};
use super::server::Server;

/// Two platforms' stores: one shop by its licence, a recreational and a medical menu of one address, two that share a name and a city,
/// and one that is like none.
const STORES: &str = "
    INSERT INTO dispensaries (id, name, platform, platform_dispensary_id, address, city, state, zip, licences, is_recreational, is_medical) VALUES
      (901, 'Copper Fern', 'dutchie', 'a', '12 Example Rd', 'Mesa', 'AZ', '85201', '{00000100ESAA}', true, NULL),
      (902, 'Copper Fern Mesa', 'dutchie_plus', 'b', '700 Other St', 'Mesa', 'AZ', '85201', '{00000100-esaa}', true, NULL),
      (903, 'Tin Lantern (REC)', 'dutchie', 'c', '7 Elm St', 'Tempe', 'AZ', '85281', '{}', true, false),
      (904, 'Tin Lantern (MED)', 'dutchie_plus', 'd', '7 Elm Street', 'Tempe', 'AZ', '85281', '{}', false, true),
      (905, 'Quartz Garden', 'dutchie', 'e', '1 First Ave', 'Yuma', 'AZ', '85364', '{}', true, NULL),
      (906, 'Quartz Garden', 'dutchie_plus', 'f', NULL, 'Yuma', 'AZ', NULL, '{}', true, NULL),
      (907, 'Moss', 'dutchie', 'g', '9 Far Rd', 'Globe', 'AZ', '85501', '{}', true, NULL)";

async fn with_stores() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(STORES).await.unwrap();
    server
}

async fn matched(server: &Server) -> Value {
    server.post("/api/retailers/match", json!({})).await.expect(200)
}

/// The stores of each retailer.
async fn retailers(server: &Server) -> Vec<Vec<i64>> {
    let page = server.get("/api/retailers").await.expect(200);
    page["retailers"].as_array().unwrap().iter().map(stores).collect()
}

/// The pairs that are proposed.
async fn proposals(server: &Server) -> Vec<Vec<i64>> {
    let page = server.get("/api/retailer-proposals").await.expect(200);
    page["proposals"].as_array().unwrap().iter().map(stores).collect()
}

fn stores(of: &Value) -> Vec<i64> {
    let mut ids: Vec<i64> =
        of["stores"].as_array().unwrap().iter().map(|store| store["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

async fn decide(server: &Server, stores: [i64; 2], is_same: bool) -> Value {
    server.post("/api/retailer-decisions", json!({ "stores": stores, "is_same": is_same })).await.expect(200)
}

async fn take_out(server: &Server, store: i64) {
    let request = server.request(Method::DELETE, &format!("/api/stores/{store}/retailer"));
    let answer = server.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(answer.status.as_u16(), 204, "{}", answer.text());
}

#[tokio::test]
async fn sure_stores_are_joined_and_a_name_alone_is_proposed() {
    let server = with_stores().await;
    assert_eq!(matched(&server).await, json!({"retailers": 2, "joined": 4, "proposals": 1}));
    assert_eq!(retailers(&server).await, [[901, 902], [903, 904]]);
    assert_eq!(proposals(&server).await, [[905, 906]]);
    let page = server.get("/api/retailer-proposals").await.expect(200);
    assert_eq!(page["proposals"][0]["evidence"][0], "same name", "{page}");
    assert_eq!(
        matched(&server).await,
        json!({"retailers": 0, "joined": 0, "proposals": 1}),
        "a second match changes nothing"
    );
    let store = server.get("/api/stores/901").await.expect(200);
    assert_eq!((&store["licences"], store["retailer_id"].is_i64()), (&json!(["00000100ESAA"]), true));
}

#[tokio::test]
async fn two_retailers_that_a_person_joins_are_one() {
    let server = with_stores().await;
    matched(&server).await;
    let decided = decide(&server, [904, 901], true).await;
    assert_eq!(stores(&decided["retailer"]), [901, 902, 903, 904]);
    assert_eq!(retailers(&server).await.len(), 1);
    let decided = decide(&server, [905, 906], true).await;
    assert_eq!(decided["retailer"]["name"], "Quartz Garden");
    assert_eq!(proposals(&server).await.len(), 0);
    assert_eq!(matched(&server).await, json!({"retailers": 0, "joined": 0, "proposals": 0}));
}

#[tokio::test]
async fn stores_that_a_person_keeps_apart_stay_so() {
    let server = with_stores().await;
    matched(&server).await;
    assert_eq!(decide(&server, [905, 906], false).await, json!({"retailer": null}));
    take_out(&server, 902).await;
    assert_eq!(retailers(&server).await, [[903, 904]], "a single store is no retailer");
    assert_eq!(matched(&server).await, json!({"retailers": 0, "joined": 0, "proposals": 0}));
    decide(&server, [901, 902], true).await;
    assert_eq!(retailers(&server).await, [[903, 904], [901, 902]]);
}

#[tokio::test]
async fn a_new_store_joins_a_known_retailer_and_a_deleted_one_leaves_it() {
    let server = with_stores().await;
    matched(&server).await;
    let new = "INSERT INTO dispensaries (id, name, platform, platform_dispensary_id, state, licences)
               VALUES (908, 'Fern', 'jane', 'h', 'AZ', '{00000100ESAA}'); DELETE FROM dispensaries WHERE id = 903";
    server.database.raw.batch_execute(new).await.unwrap();
    assert_eq!(matched(&server).await, json!({"retailers": 0, "joined": 1, "proposals": 1}));
    assert_eq!(retailers(&server).await, [[901, 902, 908]], "a single store is no retailer");
}

#[tokio::test]
async fn a_register_joins_stores_whose_licences_it_has() {
    let server = with_stores().await;
    let of_905 = "UPDATE dispensaries SET licences = '{Z-77777}' WHERE id = 906";
    server.database.raw.batch_execute(of_905).await.unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "licence,name,address,city,zip\nZ-77777,Quartz Garden,1 First Ave,Yuma,85364\n").unwrap();
    let path = file.path().to_str().unwrap();
    for (api, said) in [(Api::InProcess, "added: 1, changed: 0, known already: 0"), (Api::OfServer, "known already: 1")]
    {
        let imported = text(&run(&server, api, &["retailers", "licences", path, "--state", "az"]).await);
        assert!(imported.contains(said), "{imported}");
    }
    let said = text(&run(&server, Api::InProcess, &["retailers", "match"]).await);
    assert!(said.contains("new retailers: 3, stores joined: 6, to decide: 0 pairs"), "{said}");
    let listed = text(&run(&server, Api::OfServer, &["retailers", "list", "--search", "quartz"]).await);
    assert!(listed.contains("dutchie 905, dutchie_plus 906"), "{listed}");
}
