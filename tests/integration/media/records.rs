//! `/api/media/…`: records of each kind, and credentials that never come out.

use http::{Method, StatusCode};
use rstest::rstest;
use serde_json::{Value, json};

use super::harness::KEY;
use crate::api::server::{Answer, Server};

const CANARY: &str = "canary-of-a-secret";

async fn put(server: &Server, path: &str, body: Value) -> Answer {
    let request = server.request(Method::PUT, path).header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

fn credential() -> Value {
    json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": CANARY})
}

#[rstest]
#[case::a_channel("channels", json!({"channel_id": "UCabcdefghijklmnopqrstuv"}), json!({"download": true}))]
#[case::a_person("people", json!({"tmdb_id": 42, "name": "Ann"}), json!({"name": "Bea"}))]
#[case::a_search("searches", json!({"query": "linux"}), json!({"extensions": ["iso"], "min_bytes": 5}))]
#[case::a_credential("credentials", credential(), json!({"username": "ann"}))]
#[tokio::test]
async fn a_record_is_added_changed_and_removed(#[case] kind: &str, #[case] draft: Value, #[case] change: Value) {
    let server = Server::configured(&[("secrets.key", KEY)]).await;
    let all = format!("/api/media/{kind}");
    let added = server.post(&all, draft.clone()).await.expect(201);
    let one = format!("{all}/{}", added["id"]);
    assert_eq!(server.get(&one).await.expect(200), added);
    assert_eq!(server.get(&all).await.expect(200)["records"], json!([added]));
    server.post(&all, draft).await.problem(409);

    let changed = put(&server, &one, change.clone()).await.expect(200);
    for (field, value) in change.as_object().unwrap() {
        assert_eq!(&changed[field], value);
    }
    put(&server, &one, json!({})).await.problem(400);
    assert_eq!(server.send_empty(Method::DELETE, &one).await.status, StatusCode::NO_CONTENT);
    server.get(&one).await.problem(404);
    put(&server, &one, change).await.problem(404);
}
