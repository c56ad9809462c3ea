//! Endpoints, rules and notifications as people see and change them: the API and the command line.

use std::process::Output;

use http::Method;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{HookAnswer, HookScript};
use testkit::drover;

use super::tools::SECRET;
use crate::api::server::{Answer, Server};
use crate::media::harness::{KEY, MediaHarness};

const TARGET: &str = "https://example.org/hooks/drover";

async fn put(server: &Server, path: &str, body: Value) -> Answer {
    let request = server.request(Method::PUT, path).header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

async fn credential(server: &Server, kind: &str, secret: &str) -> Value {
    let draft = json!({"name": format!("{kind}-{}", secret.len()), "platform": "notifications", "kind": kind,
                       "username": (kind == "password").then_some("ann"), "secret": secret});
    server.post("/api/media/credentials", draft).await.expect(201)["id"].clone()
}

async fn webhook(server: &Server) -> Value {
    let id = credential(server, "token", SECRET).await;
    let draft = json!({"name": "jobs", "kind": "webhook", "target": TARGET, "credential_id": id});
    server.post("/api/media/endpoints", draft).await.expect(201)
}

#[tokio::test]
async fn an_endpoint_and_its_rules_are_added_changed_and_removed() {
    let server = Server::with_key(KEY).await;
    let endpoint = webhook(&server).await;
    let one = format!("/api/media/endpoints/{}", endpoint["id"]);
    let draft = json!({"endpoint_id": endpoint["id"], "events": ["job.failed"], "platform": "site"});
    let rule = server.post("/api/media/rules", draft).await.expect(201);
    let path = format!("/api/media/rules/{}", rule["id"]);
    let changed = put(&server, &path, json!({"platform": null, "events": ["job.completed"]})).await.expect(200);
    assert_eq!((&changed["platform"], &changed["events"]), (&Value::Null, &json!(["job.completed"])));

    let changed = put(&server, &one, json!({"enabled": false})).await.expect(200);
    assert_eq!((&changed["enabled"], &changed["target"]), (&json!(false), &json!(TARGET)));
    server.post(&format!("{one}/test"), json!({})).await.problem(409);
    assert_eq!(put(&server, &one, json!({"credential_id": 4711})).await.problem(400)["field"], "credential_id");
    assert_eq!(put(&server, &one, json!({"target": "file:///etc/passwd"})).await.problem(400)["field"], "target");
    let removed = server.send(server.request(Method::DELETE, &one).body(Default::default()).unwrap()).await;
    assert_eq!(removed.status.as_u16(), 204);
    server.get(&path).await.problem(404);
}

#[tokio::test]
async fn a_wrong_field_of_an_endpoint_is_named() {
    let server = Server::with_key(KEY).await;
    let id = credential(&server, "token", SECRET).await;
    let cases: [(Value, &str); 8] = [
        (json!({"kind": "webhook", "target": "file:///etc/passwd"}), "target"),
        (json!({"kind": "webhook", "target": "example.org"}), "target"),
        (json!({"kind": "webhook", "target": "http://127.0.0.1/"}), "target"),
        (json!({"kind": "ntfy", "target": "http://169.254.169.254/latest"}), "target"),
        (json!({"kind": "email", "target": "smtp://localhost/?from=a@b.example&to=c@d.example"}), "target"),
        (json!({"kind": "pager"}), "kind"),
        (json!({"credential_id": null}), "credential_id"),
        (json!({"secret": SECRET}), "secret"),
    ];
    for (fault, field) in cases {
        println!("{fault}");
        let mut draft = json!({"name": "jobs", "kind": "webhook", "target": TARGET, "credential_id": id});
        draft.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        let answer = server.post("/api/media/endpoints", draft).await;
        assert_eq!(answer.problem(400)["field"], field, "{}", answer.text());
    }
}

#[rstest]
#[case::a_weak_secret("webhook", TARGET, "token", "whsec_c2hvcnQ=", "whsec_ and the base64")]
#[case::a_token_for_a_mail_server(
    "email",
    "smtps://mail.example.org/?from=a@b.example&to=c@d.example",
    "token",
    "canary",
    "the kind password"
)]
#[tokio::test]
async fn a_credential_that_does_not_fit_is_refused(
    #[case] kind: &str,
    #[case] target: &str,
    #[case] of_kind: &str,
    #[case] secret: &str,
    #[case] reason: &str,
) {
    let server = Server::with_key(KEY).await;
    let id = credential(&server, of_kind, secret).await;
    let draft = json!({"name": "jobs", "kind": kind, "target": target, "credential_id": id});
    let refused = server.post("/api/media/endpoints", draft).await.problem(400);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains(reason) && !detail.contains(secret), "{refused}");
    assert_eq!(refused["field"], "credential_id");
}

#[tokio::test]
async fn no_secret_of_another_service_is_sent_to_an_endpoint() {
    let server = Server::with_key(KEY).await;
    let draft = json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": "canary"});
    let id = server.post("/api/media/credentials", draft).await.expect(201)["id"].clone();
    let draft = json!({"name": "phone", "kind": "ntfy", "target": "https://ntfy.example/a", "credential_id": id});
    assert_eq!(server.post("/api/media/endpoints", draft).await.problem(400)["field"], "credential_id");
}

#[tokio::test]
async fn a_wrong_field_of_a_rule_is_named() {
    let server = Server::with_key(KEY).await;
    let endpoint = webhook(&server).await;
    let cases: [(Value, &str); 3] = [
        (json!({"events": ["job.started"]}), "events"),
        (json!({"events": []}), "events"),
        (json!({"job_type": "payload_fetch"}), "job_type"),
    ];
    for (fault, field) in cases {
        println!("{fault}");
        let mut draft = json!({"endpoint_id": endpoint["id"], "events": ["job.failed"]});
        draft.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        let named = server.post("/api/media/rules", draft).await.problem(400)["field"].clone();
        assert!(named.as_str().unwrap().starts_with(field), "{named}");
    }
}

#[tokio::test]
async fn notifications_are_listed_shown_and_sent_again() {
    let server = Server::with_key(KEY).await;
    let endpoint = webhook(&server).await;
    let sql = "INSERT INTO notifications (endpoint_id, event, subject, body, state, attempts, last_error, ended_at)
               SELECT id, 'job.failed', s.n || ':1', jsonb_build_object('id', s.n), s.state, 10, 'away', now()
                 FROM notification_endpoints, (VALUES (1, 'failed'), (2, 'delivered')) AS s(n, state)";
    server.database.raw.batch_execute(sql).await.unwrap();
    let jobs = async |query: &str| -> Vec<i64> {
        let page = server.get(&format!("/api/notifications{query}")).await.expect(200);
        page["notifications"].as_array().unwrap().iter().map(|one| one["body"]["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(jobs("").await, [2, 1]);
    assert_eq!(jobs("?sort=oldest").await, [1, 2]);
    assert_eq!(jobs("?state=failed").await, [1]);
    assert_eq!(jobs(&format!("?endpoint={}", endpoint["id"])).await, [2, 1]);
    assert_eq!(jobs("?endpoint=4711").await, [] as [i64; 0]);
    let page = server.get("/api/notifications?limit=1").await.expect(200);
    assert_eq!(jobs(&format!("?limit=1&cursor={}", page["next_cursor"].as_str().unwrap())).await, [1]);

    let failed = server.get("/api/notifications?state=failed").await.expect(200)["notifications"][0].clone();
    let path = format!("/api/notifications/{}", failed["id"]);
    let again = server.post(&format!("{path}/resend"), json!({})).await.expect(200);
    assert_eq!(
        (&again["state"], &again["attempts"], &again["last_error"]),
        (&json!("pending"), &json!(0), &Value::Null)
    );
    assert_eq!(server.get(&path).await.expect(200)["id"], failed["id"]);
    let sender = "SELECT count(*) FROM worker_tasks WHERE role = 'notify' AND ready AND dedup_key IS NOT NULL";
    assert_eq!(server.database.raw.query_one(sender, &[]).await.unwrap().get::<_, i64>(0), 1);
    let audit = server.get("/api/audit?limit=1").await.expect(200).to_string();
    assert!(audit.contains("notifications.resend"), "{audit}");
    server.get("/api/notifications/4711").await.problem(404);
}

async fn command(harness: &MediaHarness, args: &[&str]) -> Output {
    let settings = [
        ("DATABASE_URL", harness.database.url.as_str()),
        ("DROVER__SECRETS__KEY", KEY),
        ("DROVER__MEDIA__ALLOW_PRIVATE", "true"),
    ];
    drover().envs(settings).args(args).output().await.unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
async fn a_test_shows_what_the_receiver_answers_and_what_helps() {
    let harness = MediaHarness::start().await;
    let credential = harness.add_token("jobs", SECRET).await;
    let target = harness.site.address("/hooks/jobs");
    let fields = [format!("target={target}"), format!("credential_id={credential}")];
    let add = ["media", "add", "endpoints", "name=jobs", "kind=webhook", &fields[0], &fields[1]];
    let added = command(&harness, &add).await;
    assert!(added.status.success(), "{}", text(&added));

    let _worker = harness.spawn_worker();
    harness.site.script_hook("jobs", HookScript::Once(vec![HookAnswer::Status(404)]));
    let refused = command(&harness, &["notifications", "test", "jobs"]).await;
    assert_eq!(refused.status.code(), Some(1));
    let shown = text(&refused);
    assert!(shown.contains("status 404") && shown.contains("target right?"), "{shown}");

    let works = command(&harness, &["notifications", "test", "jobs", "--json"]).await;
    assert_eq!(works.status.code(), Some(0), "{}", text(&works));
    let notification: Value = serde_json::from_slice(&works.stdout).unwrap();
    assert_eq!((&notification["state"], &notification["last_status"]), (&json!("delivered"), &json!(200)));
    let list = text(&command(&harness, &["notifications", "list", "--state", "failed"]).await);
    assert!(list.contains("404") && !list.contains("whsec_"), "{list}");
    let resent = command(&harness, &["notifications", "resend", "1"]).await;
    assert!(resent.status.success(), "{}", text(&resent));
    let unknown = command(&harness, &["notifications", "test", "nowhere"]).await;
    assert_eq!(unknown.status.code(), Some(2));
}
