//! Live events, as a page listens to them.

use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

use super::server::{Server, open};
use testkit::{Child, PATIENCE, connect, drover, server_dir, server_options};

const SOON: Duration = Duration::from_secs(60);

struct Listener {
    body: Incoming,
    text: String,
}

#[derive(Debug)]
struct Event {
    id: String,
    topic: String,
    data: Value,
}

impl Listener {
    async fn connect(server: &Server, path: &str, last: Option<&str>) -> Listener {
        Listener::connect_to(server.address, path, last).await
    }

    async fn connect_to(address: SocketAddr, path: &str, last: Option<&str>) -> Listener {
        let mut request = Request::get(path).header("host", address.to_string());
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = open(address, request.body(Full::default()).unwrap()).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
        Listener { body: response.into_body(), text: String::new() }
    }

    /// None at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        tokio::time::timeout(SOON, self.read()).await.expect("an event within the deadline")
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(event) = read(&block) {
                    return Some(event);
                }
                continue;
            }
            let data = self.body.frame().await?.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    async fn until(&mut self, topic: &str) -> Event {
        loop {
            let event = self.next().await.expect("the stream goes on");
            if event.topic == topic {
                return event;
            }
        }
    }
}

/// Begins a run of a new task.
async fn run(server: &Server) {
    let raw = &server.database.raw;
    raw.batch_execute("INSERT INTO worker_tasks (role) VALUES ('analytics_refresh')").await.unwrap();
    raw.batch_execute("SELECT sweep_all()").await.unwrap();
    raw.batch_execute("SELECT FROM claim_task('analytics_refresh', 'worker-1')").await.unwrap();
}

/// None for a comment.
fn read(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
    Some(Event {
        id: field("id:")?.to_owned(),
        topic: field("event:")?.to_owned(),
        data: serde_json::from_str(field("data:")?).unwrap(),
    })
}

#[tokio::test]
async fn what_happens_is_told_to_those_who_listen() {
    let server = Server::start().await;
    let mut all = Listener::connect(&server, "/api/events", None).await;
    let mut runs = Listener::connect(&server, "/api/events?topics=task", None).await;
    run(&server).await;
    let told = all.until("counts").await;
    assert!(told.data["pending"].is_number(), "{told:?}");
    let claimed = runs.next().await.unwrap();
    assert_eq!((claimed.topic.as_str(), &claimed.data["event"]), ("task", &"claimed".into()));
    assert_eq!(claimed.data["worker_id"], "worker-1");
}

#[tokio::test]
async fn a_minute_that_was_written_is_told_to_those_who_draw_charts() {
    let server = Server::start().await;
    let mut charts = Listener::connect(&server, "/api/events?topics=rollups", None).await;
    let raw = &server.database.raw;
    raw.batch_execute("INSERT INTO stats_progress (closed_until) VALUES ('2026-11-22T10:00Z')").await.unwrap();
    let told = charts.until("rollups").await.data;
    assert_eq!(told, json!({"runs_until": "2026-11-22T10:00:00Z", "requests_until": null}));
    let sent = "INSERT INTO fetch_minute VALUES ('2026-11-22T10:05Z', 1, 'menu.test', 7, 'ok', 1, 1, 1, 1)";
    raw.batch_execute(sent).await.unwrap();
    assert_eq!(charts.until("rollups").await.data["requests_until"], "2026-11-22T10:05:00Z");
}

#[tokio::test]
async fn a_store_whose_data_became_faulty_is_an_event() {
    let server = Server::start().await;
    let mut faults = Listener::connect(&server, "/api/events?topics=quality", None).await;
    let halved = "INSERT INTO dispensaries (id, name, slug, platform, last_complete_at) VALUES (1, 'Leaf', 'leaf', 'dutchie', now());
                  INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) VALUES (1, now(), 5)";
    server.database.raw.batch_execute(halved).await.unwrap();
    db::stores::quality::look(&server.database.db.client().await.unwrap()).await.unwrap();
    let counts = faults.until("quality").await.data;
    assert!(counts.as_array().unwrap().contains(&json!({"kind": "halved_menu", "stores": 1})), "{counts}");
}

#[tokio::test]
async fn a_listener_that_comes_back_gets_what_it_missed() {
    let server = Server::start().await;
    let mut before = Listener::connect(&server, "/api/events?topics=task", None).await;
    run(&server).await;
    let first = before.next().await.unwrap();
    let mut beside = Listener::connect(&server, "/api/events?topics=task", None).await;
    drop(before);
    run(&server).await;
    let missed = beside.next().await.unwrap();
    let mut after = Listener::connect(&server, "/api/events?topics=task", Some(&first.id)).await;
    assert_eq!(after.next().await.unwrap().id, missed.id);
}

#[tokio::test]
async fn an_id_that_is_foreign_or_too_old_is_answered_with_reset() {
    let server = Server::start().await;
    for id in ["ffffffff-1", "nonsense", "", "1"] {
        let mut listener = Listener::connect(&server, "/api/events", Some(id)).await;
        assert_eq!(listener.next().await.unwrap().topic, "reset", "{id}");
    }
}

#[tokio::test]
async fn after_a_time_without_the_database_all_who_listen_are_told_to_read_anew() {
    let dir = server_dir();
    let start = async || private_server::start_with(dir.path(), server_options(Duration::ZERO)).await.unwrap();
    let database = start().await;
    let command = |args: &[&str]| {
        let mut command = drover();
        command.args(args).env("DATABASE_URL", database.url()).env("DROVER__STORAGE__ROOT", dir.path());
        command
    };
    assert!(command(&["migrate", "up"]).status().await.unwrap().success());
    let api = Child::spawn(command(&["api"]).env("DROVER__API__LISTEN", "127.0.0.1:0"));
    let address = listening(&api).await;
    let mut before = Listener::connect_to(address, "/api/events", None).await;
    // the schedules may have made their tasks before anybody listened
    let raw = connect(database.url()).await;
    raw.batch_execute("INSERT INTO worker_tasks (role) VALUES ('analytics_refresh')").await.unwrap();
    let last = before.until("counts").await;

    private_server::stop(dir.path()).await.unwrap();
    api.logged("could not be read for live events", PATIENCE).await;
    let mut meanwhile = Listener::connect_to(address, "/api/events?topics=task", None).await;
    let _database = start().await;
    before.until("reset").await;
    meanwhile.until("reset").await;
    let mut after = Listener::connect_to(address, "/api/events", Some(&last.id)).await;
    assert_eq!(after.next().await.unwrap().topic, "reset");
    drop(api);
    private_server::stop(dir.path()).await.unwrap();
}

/// Address at which a child answers the API.
async fn listening(api: &Child) -> SocketAddr {
    let line: Value = serde_json::from_str(&api.logged("Listening on http", PATIENCE).await).unwrap();
    line["address"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_stream_ends_with_the_server_and_with_its_token() {
    let server = Server::start().await;
    let mut listener = Listener::connect(&server, "/api/events", None).await;
    server.token("viewer").await;
    server.database.raw.batch_execute("INSERT INTO worker_tasks (role) VALUES ('analytics_refresh')").await.unwrap();
    while listener.next().await.is_some() {}
    let other = Server::start().await;
    let mut listener = Listener::connect(&other, "/api/events", None).await;
    other.stop.cancel();
    while listener.next().await.is_some() {}
}

#[tokio::test]
async fn listeners_leave_the_connections_of_others_alone() {
    let server = Server::with(|config| config.connections_per_address = 64).await;
    let mut listeners = Vec::new();
    for _ in 0..600 {
        listeners.push(Listener::connect(&server, "/api/events?topics=schedule", None).await);
    }
    server.get("/api/tasks").await.expect(200);
}
