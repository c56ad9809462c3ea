//! Hosts by HTTP and from the command line: their state, and their breakers opened, closed and forgotten by
//! hand.

use std::process::Output;

use domain::host::{HostReport, Permission};
use drover::app::hosts::SharedHosts;
use drover::stealth::{ExchangeResult, HostTable};
use http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use super::server::{Answer, Server};
use testkit::{config, drover};

const HOST: &str = "menu.test";
const PATH: &str = "/api/hosts/menu.test";

async fn asked() -> Server {
    let server = Server::start().await;
    let sql = "INSERT INTO hosts (host, answers, refusals, failures, throttles, rate, configured_rate)
               VALUES ('menu.test', 120, 7, 2, 1, 1.5, 3), ('a.test', 1, 0, 0, 0, 0, 0), ('z.test', 1, 0, 0, 0, 0, 0);
               INSERT INTO robots (authority, host, rules, fetched_at)
               VALUES ('menu.test:8443', 'menu.test', E'User-agent: *\\nDisallow: /api', now());
               INSERT INTO robots_breaches (authority, rule, path) VALUES ('menu.test:8443', 'Disallow: /api', '/api/menu')";
    server.database.raw.batch_execute(sql).await.unwrap();
    server
}

impl Server {
    async fn put_host(&self, path: &str, body: Value) -> Answer {
        let request = self.request(Method::PUT, path).header("content-type", "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    /// A process's view of the host after its next report, in which it saw nothing.
    async fn exchange_host(&self) -> ExchangeResult {
        SharedHosts::new(&self.database.db, config(&[]).politeness, std::time::Duration::from_secs(60))
            .exchange(HOST, HostReport::default())
            .await
            .unwrap()
    }

    async fn permission(&self) -> Permission {
        let seen = self.exchange_host().await;
        seen.state.permission(seen.now)
    }

    async fn audited_hosts(&self) -> Vec<(String, String, Value)> {
        let rows =
            self.database.raw.query("SELECT action, target, detail FROM audit_log ORDER BY id", &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }
}

#[tokio::test]
async fn hosts_are_listed_by_name_page_by_page() {
    let server = asked().await;
    let first = server.get("/api/hosts?limit=2").await.expect(200);
    let names = |page: &Value| {
        let hosts = page["hosts"].as_array().unwrap().iter();
        hosts.map(|host| host["host"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["a.test", "menu.test"]);
    let host = first["hosts"][1].as_object().unwrap();
    for (field, value) in json!({"does": "answers", "breaker": "closed", "answers": 120, "refusals": 7, "failures": 2, "throttles": 1,
                                 "rate": 1.5, "configured_rate": 3.0, "hold_until": null, "hold_status": null, "probe_at": null,
                                 "why": null}).as_object().unwrap()
    {
        assert_eq!(host.get(field), Some(value), "{field}");
    }
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.get(&format!("/api/hosts?limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!((names(&second), &second["next_cursor"]), (vec!["z.test".to_owned()], &Value::Null));
    server.database.raw.batch_execute("UPDATE hosts SET breaker = 'half_open' WHERE host = 'z.test'").await.unwrap();
    assert_eq!(names(&server.get("/api/hosts?on_hold=true").await.expect(200)), ["z.test"]);
    assert_eq!(names(&server.get("/api/hosts?on_hold=false").await.expect(200)), ["a.test", "menu.test"]);
}

#[tokio::test]
async fn all_that_is_known_of_a_host_is_shown_with_its_robots_txt() {
    let server = asked().await;
    let host = server.get("/api/hosts/Menu.TEST").await.expect(200);
    assert_eq!((&host["host"], &host["answers"]), (&json!(HOST), &json!(120)));
    let robots = &host["robots"][0];
    assert_eq!((&robots["authority"], &robots["policy"]), (&json!("menu.test:8443"), &json!("report")));
    assert_eq!(robots["rules"], json!(["Disallow: /api"]));
    assert_eq!(robots["breaches"][0]["path"], "/api/menu");
    assert!(robots["answered"].as_str().unwrap().starts_with("1 rules for us, fetched "), "{robots}");
}

#[tokio::test]
async fn a_breaker_is_opened_and_closed_by_hand_and_every_process_learns_it() {
    let server = asked().await;
    assert_eq!(server.permission().await, Permission::Free);
    let open = json!({"breaker": "open", "why": "their request"});
    let opened = server.put_host(PATH, open.clone()).await.expect(200);
    assert_eq!((&opened["breaker"], &opened["answers"]), (&json!("open"), &json!(120)), "counts stay");
    let does = opened["does"].as_str().unwrap();
    assert!(does.starts_with("is switched off by an operator (their request) since "), "{does}");
    assert!(matches!(server.permission().await, Permission::Refusing(_)));

    let closed = server.put_host("/api/hosts/MENU.test", json!({"breaker": "closed"})).await.expect(200);
    assert_eq!(
        (&closed["breaker"], &closed["does"], &closed["why"]),
        (&json!("closed"), &json!("answers"), &Value::Null)
    );
    assert_eq!(server.permission().await, Permission::Free);
    let update = |detail| ("hosts.update".to_owned(), HOST.to_owned(), detail);
    assert_eq!(server.audited_hosts().await, [update(open), update(json!({"breaker": "closed"}))]);
}

#[tokio::test]
async fn a_breaker_that_is_opened_until_a_time_tries_the_host_then() {
    let server = asked().await;
    // late enough that a busy machine looks at the breaker before
    let sql = "SELECT to_char(clock_timestamp() + interval '3 seconds', 'YYYY-MM-DD\"T\"HH24:MI:SS.MSOF') || ':00'";
    let until: String = server.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    server.put_host(PATH, json!({"breaker": "open", "until": until})).await.expect(200);
    assert!(matches!(server.permission().await, Permission::Refusing(_)));
    testkit::until("a probe is due", testkit::PATIENCE, async || server.permission().await == Permission::ProbeDue)
        .await;
}

#[tokio::test]
async fn what_was_learned_of_a_host_is_forgotten_with_its_robots_txt() {
    let server = asked().await;
    assert_eq!(server.status(&Method::DELETE, PATH, None).await, 204);
    server.get(PATH).await.problem(404);
    let left: i64 = server.database.raw.query_one("SELECT count(*) FROM robots", &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
    assert_eq!(server.audited_hosts().await, [("hosts.delete".to_owned(), HOST.to_owned(), json!({}))]);
    assert_eq!(server.status(&Method::DELETE, PATH, None).await, 404);
}

#[tokio::test]
async fn a_wrong_change_is_refused_by_name_and_changes_nothing() {
    let server = asked().await;
    let cases: [(Value, &str); 11] = [
        (json!({}), "breaker"),
        (json!({"breaker": "half_open"}), "breaker"),
        (json!({"breaker": "open", "untill": "2030-01-01T00:00:00Z"}), "untill"),
        (json!({"breaker": "open", "until": "2020-01-01T00:00:00Z"}), "until"),
        (json!({"breaker": "open", "until": "2190-01-01T00:00:00Z"}), "until"),
        (json!({"breaker": "open", "until": "tomorrow"}), "until"),
        (json!({"breaker": "closed", "until": "2030-01-01T00:00:00Z"}), "until"),
        (json!({"breaker": "closed", "why": "it is well"}), "why"),
        (json!({"breaker": "open", "why": " "}), "why"),
        (json!({"breaker": "open", "why": "a\nb"}), "why"),
        (json!({"breaker": "open", "why": "x".repeat(201)}), "why"),
    ];
    for (body, field) in cases {
        println!("{body}");
        assert_eq!(server.put_host(PATH, body).await.problem(400)["field"], field);
        assert_eq!(server.get(PATH).await.expect(200)["breaker"], "closed");
        assert_eq!(server.audited_hosts().await, []);
    }
}

#[tokio::test]
async fn a_host_that_was_never_asked_is_not_there() {
    let server = asked().await;
    for path in ["/api/hosts/other.test", "/api/hosts/%25", "/api/hosts/menu.test%3A8443"] {
        server.get(path).await.problem(404);
        server.put_host(path, json!({"breaker": "open"})).await.problem(404);
    }
    assert_eq!(server.get("/api/hosts?x=1").await.problem(400)["field"], "x");
    assert_eq!(server.get("/api/hosts?cursor=17").await.problem(400)["field"], "cursor");
}

#[tokio::test]
async fn who_may_only_look_changes_no_host() {
    let server = asked().await;
    let (viewer, operator) = (server.token("viewer").await, server.token("operator").await);
    let open = || Some(json!({"breaker": "open"}));
    server.call(Method::GET, PATH, &viewer, None).await.expect(200);
    server.call(Method::PUT, PATH, &viewer, open()).await.problem(403);
    server.call(Method::DELETE, PATH, &viewer, None).await.problem(403);
    let request = server.request(Method::PUT, PATH).header("authorization", format!("Bearer {operator}"));
    let request = request.header("content-type", "application/json").body(open().unwrap().to_string().into()).unwrap();
    server.send(request).await.expect(200);
}

async fn hosts(server: &Server, is_remote: bool, args: &[&str]) -> Output {
    let mut command = drover();
    match is_remote {
        false => command.env("DATABASE_URL", &server.database.url),
        true => command.args(["--url", &format!("http://{}", server.address)]),
    };
    command.arg("hosts").args(args).output().await.unwrap()
}

#[track_caller]
fn ended(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    format!("{}{stderr}", String::from_utf8_lossy(&output.stdout))
}

#[rstest]
#[case::in_process(false)]
#[case::of_a_server(true)]
#[tokio::test]
async fn an_operator_looks_after_hosts_from_the_command_line(#[case] is_remote: bool) {
    let server = asked().await;
    let run = async |args: &[&str]| hosts(&server, is_remote, args).await;
    let list: Value = serde_json::from_slice(&run(&["list", "--json"]).await.stdout).unwrap();
    assert_eq!(list, server.get("/api/hosts").await.expect(200), "the API's answer");
    let table = ended(&run(&[]).await, 0);
    assert!(table.lines().count() == 4 && table.contains("menu.test") && table.contains("1.5/3.0"), "{table}");

    let opened = ended(&run(&["open", "https://menu.test/graphql", "--why", "their request"]).await, 0);
    assert!(opened.starts_with("menu.test is switched off by an operator (their request) since "), "{opened}");
    let shown = ended(&run(&["show", HOST]).await, 0);
    assert!(
        shown.contains("breaker          open since ") && shown.contains("menu.test:8443/robots.txt (report): 1 rules"),
        "{shown}"
    );
    assert_eq!(ended(&run(&["close", HOST]).await, 0).trim(), "menu.test answers");
    let refused = ended(&run(&["open", HOST, "--until", "2020-01-01"]).await, 2);
    assert!(refused.contains("--until: has passed"), "{refused}");

    assert_eq!(ended(&run(&["reset", HOST]).await, 0).trim(), "menu.test is reset");
    for args in [["show", HOST], ["close", HOST], ["reset", HOST]] {
        assert!(ended(&run(&args).await, 3).contains("menu.test is unknown"), "{args:?}");
    }
}
