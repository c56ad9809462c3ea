//! `/api/media/…`: records of each kind, and credentials that never come out.

use foundation::secrets::SecretKeys;
use http::Method;
use serde_json::{Value, json};

use super::harness::KEY;
use crate::api::server::{Answer, Server};

const CANARY: &str = "canary-of-a-secret";

async fn call(server: &Server, method: Method, path: &str, body: Option<Value>) -> Answer {
    let request = server.request(method, path).header("content-type", "application/json");
    server.send(request.body(body.map(|body| body.to_string()).unwrap_or_default().into()).unwrap()).await
}

async fn put(server: &Server, path: &str, body: Value) -> Answer {
    call(server, Method::PUT, path, Some(body)).await
}

fn credential() -> Value {
    json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": CANARY})
}

fn forum(name: &str) -> Value {
    json!({"name": name, "kind": "phpbb", "base_url": "https://forum.example/board"})
}

#[tokio::test]
async fn a_record_is_added_changed_and_removed() {
    let server = Server::with_key(KEY).await;
    let cases: [(&str, Value, Value); 6] = [
        (
            "accounts",
            json!({"platform": "site", "username": "ann"}),
            json!({"url": "https://site.example/ann", "interval_hours": 6.5}),
        ),
        ("channels", json!({"channel_id": "UCabcdefghijklmnopqrstuv"}), json!({"download": true})),
        ("people", json!({"tmdb_id": 42, "name": "Ann"}), json!({"name": "Bea"})),
        ("searches", json!({"query": "linux"}), json!({"extensions": ["iso"], "min_bytes": 5})),
        ("forums", forum("board"), json!({"base_url": "https://other.example", "selectors": {"post": "li.reply"}})),
        ("credentials", credential(), json!({"username": "ann"})),
    ];
    for (kind, draft, change) in cases {
        println!("{kind}");
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
        assert_eq!(call(&server, Method::DELETE, &one, None).await.status.as_u16(), 204);
        server.get(&one).await.problem(404);
        put(&server, &one, change).await.problem(404);
    }
}

#[tokio::test]
async fn a_thread_belongs_to_a_forum_that_stays_as_long() {
    let server = Server::start().await;
    let forum = server.post("/api/media/forums", forum("board")).await.expect(201);
    let draft = json!({"forum_id": forum["id"], "external_id": "21"});
    let thread = server.post("/api/media/threads", draft.clone()).await.expect(201);
    assert_eq!((&thread["enabled"], &thread["download"]), (&json!(true), &json!(false)));
    server.post("/api/media/threads", draft).await.problem(409);
    let (forum, thread) =
        (format!("/api/media/forums/{}", forum["id"]), format!("/api/media/threads/{}", thread["id"]));
    assert_eq!(put(&server, &thread, json!({"download": true})).await.expect(200)["download"], true);
    call(&server, Method::DELETE, &forum, None).await.problem(409);
    for one in [thread, forum] {
        assert_eq!(call(&server, Method::DELETE, &one, None).await.status.as_u16(), 204);
    }
}

#[tokio::test]
async fn a_secret_is_stored_encrypted_and_no_answer_shows_it() {
    let server = Server::with_key(KEY).await;
    let added = server.post("/api/media/credentials", credential()).await.expect(201);
    let one = format!("/api/media/credentials/{}", added["id"]);
    put(&server, &one, json!({"secret": format!("{CANARY} again")})).await.expect(200);
    for path in [one.as_str(), "/api/media/credentials", "/api/audit?limit=50"] {
        let text = server.get(path).await.text();
        assert!(!text.contains(CANARY), "{path}: {text}");
    }
    let rows = server.database.raw.query("SELECT c::text FROM credentials c", &[]).await.unwrap();
    let row: String = rows[0].get(0);
    assert!(row.contains("$drover$1$") && !row.contains(CANARY), "{row}");

    let keys = SecretKeys::parse(KEY, []).unwrap();
    let client = server.database.db.client().await.unwrap();
    let opened = db::access::credentials::open_of_platform(&client, "tmdb", &keys).await.unwrap();
    assert_eq!(opened.secret, format!("{CANARY} again"));
}

#[tokio::test]
async fn a_secret_that_was_moved_to_another_row_is_unreadable() {
    let server = Server::with_key(KEY).await;
    server.post("/api/media/credentials", credential()).await.expect(201);
    server.database.raw.batch_execute("UPDATE credentials SET platform = 'easynews'").await.unwrap();
    let keys = SecretKeys::parse(KEY, []).unwrap();
    let client = server.database.db.client().await.unwrap();
    let error = db::access::credentials::open_of_platform(&client, "easynews", &keys).await.unwrap_err().to_string();
    assert!(error.contains("cannot be read") && !error.contains(CANARY), "{error}");
}

#[tokio::test]
async fn without_a_key_no_credential_is_kept() {
    let server = Server::start().await;
    let refused = server.post("/api/media/credentials", credential()).await.problem(409);
    assert!(refused["detail"].as_str().unwrap().contains("DROVER__SECRETS__KEY"), "{refused}");
    assert_eq!(server.get("/api/media/credentials").await.expect(200)["records"], json!([]));
}

#[tokio::test]
async fn a_wrong_field_is_named() {
    let server = Server::with_key(KEY).await;
    let cases: [(&str, Value, &str); 18] = [
        ("accounts", json!({"platform": "site", "username": "../ann"}), "username"),
        ("accounts", json!({"platform": "site", "username": "ann\nbea"}), "username"),
        ("accounts", json!({"platform": "site", "username": "ann", "url": "file:///etc/passwd"}), "url"),
        ("accounts", json!({"platform": "site", "username": "ann", "url": "mastodon:http://127.0.0.1/@ann"}), "url"),
        ("accounts", json!({"platform": "site", "username": "ann", "credential_id": 4711}), "credential_id"),
        ("channels", json!({"channel_id": "../../etc/passwd"}), "channel_id"),
        ("channels", json!({"channel_id": "@someone"}), "channel_id"),
        ("channels", json!({"channel_id": "UCabcdefghijklmnopqrstuv", "etag": "x"}), "etag"),
        ("people", json!({"tmdb_id": 0, "name": "Ann"}), "tmdb_id"),
        ("threads", json!({"forum_id": 4711, "external_id": "1"}), "forum_id"),
        ("threads", json!({"forum_id": 1, "external_id": "../1"}), "external_id"),
        (
            "forums",
            json!({"name": "a", "kind": "phpbb", "base_url": "https://a.example", "selectors": {"post": "div["}}),
            "selectors",
        ),
        ("forums", json!({"name": "a", "kind": "phpbb", "base_url": "file:///etc"}), "base_url"),
        (
            "forums",
            json!({"name": "a", "kind": "phpbb", "base_url": "https://a.example", "credential_id": 4711}),
            "credential_id",
        ),
        ("searches", json!({"query": "a", "extensions": ["../x"]}), "extensions"),
        ("credentials", json!({"name": "a", "platform": "b", "kind": "password", "secret": "s"}), "username"),
        ("credentials", json!({"name": "a", "platform": "b", "kind": "token"}), "secret"),
        ("credentials", json!({"name": "a", "platform": "b", "kind": "token", "secret": [CANARY]}), "secret"),
    ];
    for (kind, draft, field) in cases {
        println!("{draft}");
        let answer = server.post(&format!("/api/media/{kind}"), draft).await;
        assert!(!answer.text().contains(CANARY), "{}", answer.text());
        assert_eq!(answer.problem(400)["field"], field);
    }
}

#[tokio::test]
async fn an_account_has_a_credential_of_its_platform_that_can_log_in() {
    let server = Server::with_key(KEY).await;
    let other = server.post("/api/media/credentials", credential()).await.expect(201);
    let key = json!({"name": "key", "platform": "site", "kind": "api_key", "secret": "s"});
    let key = server.post("/api/media/credentials", key).await.expect(201);
    let own = json!({"name": "own", "platform": "site", "kind": "token", "secret": "s"});
    let own = server.post("/api/media/credentials", own).await.expect(201);
    let account = json!({"platform": "site", "username": "ann", "credential_id": own["id"]});
    let one = format!("/api/media/accounts/{}", server.post("/api/media/accounts", account).await.expect(201)["id"]);
    for wrong in [&other["id"], &key["id"]] {
        let refused = put(&server, &one, json!({"credential_id": wrong})).await.problem(400);
        assert_eq!(refused["field"], "credential_id");
        let draft = json!({"platform": "site", "username": "bea", "credential_id": wrong});
        assert_eq!(server.post("/api/media/accounts", draft).await.problem(400)["field"], "credential_id");
    }
    assert_eq!(server.get(&one).await.expect(200)["credential_id"], own["id"]);
    assert_eq!(put(&server, &one, json!({"credential_id": null})).await.expect(200)["credential_id"], Value::Null);
}

#[tokio::test]
async fn items_are_listed_by_source_and_state() {
    let server = Server::start().await;
    let sql = "INSERT INTO media_items (source, source_id, kind, url, state)
               VALUES ('youtube', 'a', 'page', 'https://a.example/1', 'known'), ('easynews', 'b', 'file', 'https://a.example/2', 'gone')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let ids = async |query: &str| -> Vec<String> {
        let page = server.get(&format!("/api/media/items{query}")).await.expect(200);
        page["items"].as_array().unwrap().iter().map(|item| item["source_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("").await, ["b", "a"]);
    assert_eq!(ids("?sort=oldest").await, ["a", "b"]);
    assert_eq!(ids("?source=youtube").await, ["a"]);
    assert_eq!(ids("?state=gone").await, ["b"]);
    let page = server.get("/api/media/items?limit=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(ids(&format!("?limit=1&cursor={cursor}")).await, ["a"]);
    let id = page["items"][0]["id"].as_i64().unwrap();
    assert_eq!(server.get(&format!("/api/media/items/{id}")).await.expect(200), page["items"][0]);
    server.get("/api/media/items/4711").await.problem(404);
}

const OTHER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[tokio::test]
async fn a_credential_is_read_with_the_next_key_after_a_rekeying() {
    let server = Server::with_key(KEY).await;
    server.post("/api/media/credentials", credential()).await.expect(201);
    let client = server.database.db.client().await.unwrap();
    let both = SecretKeys::parse(OTHER_KEY, [KEY]).unwrap();
    for (is_dry, counts) in [(true, (1, 0)), (false, (1, 0)), (false, (0, 1))] {
        let rekeyed = db::access::credentials::rekey(&client, &both, is_dry).await.unwrap();
        assert_eq!((rekeyed.reencrypted, rekeyed.current), counts);
        assert!(rekeyed.unreadable.is_empty());
    }
    let next = SecretKeys::parse(OTHER_KEY, []).unwrap();
    assert_eq!(db::access::credentials::open_of_platform(&client, "tmdb", &next).await.unwrap().secret, CANARY);
    let lost = db::access::credentials::rekey(&client, &SecretKeys::parse(KEY, []).unwrap(), false).await.unwrap();
    assert_eq!(lost.unreadable.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["films"]);
}

#[tokio::test]
async fn a_secret_that_was_written_by_hand_is_not_taken() {
    let server = Server::with_key(KEY).await;
    server.post("/api/media/credentials", credential()).await.expect(201);
    server.database.raw.execute("UPDATE credentials SET secret = $1", &[&CANARY]).await.unwrap();
    let client = server.database.db.client().await.unwrap();
    let keys = SecretKeys::parse(KEY, []).unwrap();
    let error = db::access::credentials::open_of_platform(&client, "tmdb", &keys).await.unwrap_err().to_string();
    assert!(error.contains("drover media set credentials") && !error.contains(CANARY), "{error}");
}

#[tokio::test]
async fn a_credential_that_an_account_has_stays() {
    let server = Server::with_key(KEY).await;
    let added = server.post("/api/media/credentials", credential()).await.expect(201);
    let account = "INSERT INTO media_accounts (platform, username, kind, credential_id)
                   SELECT 'site', 'ann', 'public', id FROM credentials";
    server.database.raw.batch_execute(account).await.unwrap();
    let refused = call(&server, Method::DELETE, &format!("/api/media/credentials/{}", added["id"]), None).await;
    assert!(refused.problem(409)["detail"].as_str().unwrap().contains("the accounts that name it"));
}
