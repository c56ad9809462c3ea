//! `/api/geo`, `drover geo lookup`, the states of imported proxies, and where the requests of consumers come
//! from.

use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use http::Method;
use http_body_util::Full;
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::Server;
use testkit::geo_files::{located, mmdb};
use testkit::{TestDatabase, database, drover, until};

const SOON: Duration = Duration::from_secs(60);

/// A geo database in a directory of its own.
pub fn geo_database() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("geo.mmdb");
    std::fs::write(&path, mmdb(&located())).unwrap();
    (dir, path)
}

async fn run(database: &TestDatabase, geo: &str, args: &[&str]) -> Output {
    drover().env("DATABASE_URL", &database.url).env("DROVER__GEO__DATABASE", geo).args(args).output().await.unwrap()
}

#[tokio::test]
async fn an_operator_asks_where_an_address_is() {
    let (_dir, path) = geo_database();
    let server = Server::with_geo(&path).await;
    let expected = json!({"ip": "198.51.100.7", "country": "US", "country_name": "United States of America",
                          "region": "Arizona", "city": "Phoenix", "timezone": "America/Phoenix"});
    assert_eq!(server.get("/api/geo/198.51.100.7").await.expect(200), expected);
    assert_eq!(server.get("/api/geo/::ffff:203.0.113.9").await.expect(200)["city"], "Berlin");
    let unknown = server.get("/api/geo/10.0.0.1").await.problem(404);
    assert!(unknown["detail"].as_str().unwrap().contains("10.0.0.1"), "{unknown}");
    assert_eq!(server.get("/api/geo/nowhere").await.problem(400)["field"], "ip");
}

#[tokio::test]
async fn without_a_geo_database_it_is_said_that_lookups_are_off() {
    let server = Server::start().await;
    let off = server.get("/api/geo/198.51.100.7").await.problem(503);
    assert_eq!(off["code"], "geo_off");
    assert!(off["detail"].as_str().unwrap().contains("geo.database"), "{off}");
    assert_eq!(server.get("/api/analytics/visitors").await.expect(200)["geo"], false);
}

#[tokio::test]
async fn a_geo_database_that_cannot_be_read_is_no_secret_and_names_no_path() {
    let server = Server::with_geo("/nowhere/geo.mmdb".as_ref()).await;
    let problem = server.get("/api/geo/198.51.100.7").await.problem(503);
    assert_eq!(problem["code"], "geo_off");
    assert!(!problem.to_string().contains("/nowhere"), "{problem}");
}

#[tokio::test]
async fn a_lookup_on_the_command_line_answers_for_people_and_programs() {
    let (_dir, path) = geo_database();
    let (database, geo) = (database().await, path.to_str().unwrap());
    let shown = run(&database, geo, &["geo", "lookup", "198.51.100.7"]).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(
        shown,
        "address   198.51.100.7\ncountry   US United States of America\nregion    Arizona\ncity      Phoenix\ntimezone  America/Phoenix\n"
    );
    let answer = run(&database, geo, &["geo", "lookup", "203.0.113.9", "--json"]).await;
    assert_eq!(serde_json::from_slice::<Value>(&answer.stdout).unwrap()["country"], "DE");
}

#[tokio::test]
async fn a_lookup_on_the_command_line_needs_no_database() {
    let (dir, path) = geo_database();
    let mut command = drover();
    command.args(["geo", "lookup", "198.51.100.7", "--dir"]).arg(dir.path().join("nothing")).env_remove("DATABASE_URL");
    let shown = command.env("DROVER__GEO__DATABASE", &path).output().await.unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("city      Phoenix"), "{shown:?}");
    assert!(shown.status.success(), "{shown:?}");
}

#[rstest]
#[case::off("", "198.51.100.7", 69, "geo.database")]
#[case::no_file("/nowhere/geo.mmdb", "198.51.100.7", 69, "cannot be read")]
#[case::no_address("", "phoenix", 2, "phoenix")]
#[tokio::test]
async fn a_lookup_that_fails_says_why(#[case] geo: &str, #[case] ip: &str, #[case] code: i32, #[case] named: &str) {
    let database = database().await;
    let output = run(&database, geo, &["geo", "lookup", ip]).await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(named), "{stderr}");
}

#[tokio::test]
async fn the_doctor_says_whether_places_are_known() {
    let (_dir, path) = geo_database();
    let database = database().await;
    let found = async |geo: &str| {
        let findings = run(&database, geo, &["doctor", "--json"]).await;
        let findings: Value = serde_json::from_slice(&findings.stdout).unwrap();
        let findings = findings["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["check"] == "geo database").unwrap().clone()
    };
    let off = found("").await;
    assert!(off["ok"] == true && off["detail"].as_str().unwrap().starts_with("off"), "{off}");
    assert_eq!(found(path.to_str().unwrap()).await["ok"], true);
    let gone = found("/nowhere/geo.mmdb").await;
    assert!(gone["ok"] == false && gone["remedy"].as_str().unwrap().contains("geo.database"), "{gone}");
}

#[tokio::test]
async fn a_proxy_without_a_state_gets_that_of_its_address_at_import() {
    let (dir, path) = geo_database();
    let (database, list) = (database().await, dir.path().join("proxies.csv"));
    let text = "host,port,state_code\n198.51.100.7,1,\n198.51.100.8,1,CA\n203.0.113.9,1,\nproxy.example,1,\n";
    std::fs::write(&list, text).unwrap();
    let imported =
        run(&database, path.to_str().unwrap(), &["proxies", "import", list.to_str().unwrap(), "--json"]).await;
    let imported: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!((&imported["created"], &imported["located"]), (&json!(4), &json!(1)));
    let places = "SELECT concat_ws(' ', state_code, timezone) FROM proxies ORDER BY host";
    let places: Vec<String> = database.raw.query(places, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(places, ["AZ America/Phoenix", "CA", "", ""]);
}

#[tokio::test]
async fn requests_of_consumers_are_counted_by_country_and_region() {
    let (_dir, path) = geo_database();
    let server = Server::with_geo(&path).await;
    let (consumer, viewer) = (server.token("consumer").await, server.token("viewer").await);
    until("the server has read its geo database", SOON, async || {
        let answer = server.call(Method::GET, "/api/analytics/visitors", &viewer, None).await.expect(200);
        answer["geo"] == true && server.state.geo.look_up([198, 51, 100, 7].into()).is_ok()
    })
    .await;
    for visitor in ["198.51.100.7", "198.51.100.8, 10.0.0.1", "203.0.113.9", "nobody"] {
        let request = server.request(Method::GET, "/api/stores").header("x-forwarded-for", visitor);
        let request = request.header("authorization", format!("Bearer {consumer}"));
        server.send(request.body(Full::default()).unwrap()).await.expect(200);
    }
    // a viewer does not count as a visitor
    server.call(Method::GET, "/api/stores", &viewer, None).await.expect(200);
    server.state.visitors.flush(&server.state.db).await.unwrap();

    let visitors = async |query: &str| {
        let path = format!("/api/analytics/visitors{query}");
        server.call(Method::GET, &path, &viewer, None).await.expect(200)
    };
    let all = visitors("").await;
    let mut counted: Vec<String> = all["visitors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hour| {
            assert!(hour["hour"].as_str().unwrap().ends_with(":00:00Z"), "{hour}");
            format!("{} {} {}", hour["country"], hour["region"], hour["requests"])
        })
        .collect();
    counted.sort();
    assert_eq!(counted, ["\"DE\" \"Land Berlin\" 1", "\"US\" \"Arizona\" 2", "null null 1"]);
    assert_eq!(visitors("?country=us").await["visitors"].as_array().unwrap().len(), 1);
    assert_eq!(visitors("?to=2025-01-01T00:00:00Z").await["visitors"], json!([]));

    let first = visitors("?limit=2").await;
    let rest = visitors(&format!("?limit=2&cursor={}", first["next_cursor"].as_str().unwrap())).await;
    assert_eq!((rest["visitors"].as_array().unwrap().len(), &rest["next_cursor"]), (1, &Value::Null));
    assert!(!first["visitors"].as_array().unwrap().contains(&rest["visitors"][0]));
    let kept =
        server.database.raw.query_one("SELECT string_agg(v::text, ' ') FROM visitor_hours v", &[]).await.unwrap();
    assert!(!kept.get::<_, String>(0).contains("198.51"), "no address is kept");
}

#[tokio::test]
async fn what_was_counted_is_written_when_the_server_ends_and_kept_while_it_cannot_be() {
    let server = Server::start().await;
    let consumer = server.token("consumer").await;
    server.call(Method::GET, "/api/stores", &consumer, None).await.expect(200);
    server.database.raw.batch_execute("ALTER TABLE visitor_hours RENAME TO elsewhere").await.unwrap();
    server.state.visitors.flush(&server.state.db).await.unwrap_err();
    server.database.raw.batch_execute("ALTER TABLE elsewhere RENAME TO visitor_hours").await.unwrap();
    let Server { stop, serving, database, .. } = server;
    stop.cancel();
    serving.await.unwrap();
    let row = database.raw.query_one("SELECT sum(requests)::bigint FROM visitor_hours", &[]).await.unwrap();
    assert_eq!(row.get::<_, Option<i64>>(0), Some(1));
}
