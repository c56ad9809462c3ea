//! Recognisable secrets: a crawl with errors is run with them, everything is asked, and they are only where
//! they were put.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use api::openapi;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use db::tasks::{self, NewTask};
use domain::store::Platform;
use domain::task::role::Role;
use http::Method;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use sim::{Fault, FaultKind, ProxyFault};
use tokio::process::Command;

use super::server::{Answer, open, send};
use testkit::{Child, Farm, PATIENCE, connect, until};

const DATABASE_PASSWORD: &str = "canary-of-the-database";
const PROXY_USER: &str = "bird";
const PROXY_PASSWORD: &str = "canary-of-a-proxy";
/// Password of the simulated proxies: `user-0` has it with a 0 at its end.
const SIMULATED_PASSWORD: &str = "p@ss:w%rd/";
const SECRETS_KEY: &str = "ca9a21ca9a21ca9a21ca9a21ca9a21ca9a21ca9a21ca9a21ca9a21ca9a21ca9a";

/// Each secret in every form in which it could slip out.
pub struct Canaries(pub Vec<String>);

impl Canaries {
    fn new(token: &str) -> Canaries {
        let mut all =
            [DATABASE_PASSWORD, PROXY_PASSWORD, SIMULATED_PASSWORD, SECRETS_KEY, token].map(str::to_owned).to_vec();
        all.push("p%40ss%3Aw%25rd".to_owned());
        all.extend((0..3).map(|n| STANDARD.encode(format!("user-{n}:{SIMULATED_PASSWORD}{n}"))));
        all.push(STANDARD.encode(format!("{PROXY_USER}:{PROXY_PASSWORD}")));
        Canaries(all)
    }

    #[track_caller]
    pub fn assert_absent(&self, place: &str, text: &str) {
        for canary in &self.0 {
            assert!(!text.contains(canary), "{canary} stands in {place}: {text}");
        }
    }
}

/// A process that crawls and serves the API, with secrets in its environment.
struct Service {
    farm: Farm,
    child: Child,
    address: SocketAddr,
    token: String,
}

fn with_secrets<'a>(farm: &Farm, command: &'a mut Command) -> &'a mut Command {
    let url = format!("{}&password={DATABASE_PASSWORD}", farm.url());
    command.env("DATABASE_URL", url).env("DROVER__SECRETS__KEY", SECRETS_KEY)
}

impl Service {
    async fn start(farm: Farm) -> Service {
        let run = async |args: &[&str]| {
            let output = with_secrets(&farm, &mut farm.drover(args)).output().await.unwrap();
            assert!(output.status.success(), "{output:?}");
            output
        };
        run(&["proxies", "rekey"]).await;
        let made = run(&["token", "create", "--role", "admin", "--name", "canary", "--json"]).await;
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        let token = made["token"].as_str().unwrap().to_owned();
        let mut command = farm.drover(&["up"]);
        with_secrets(&farm, &mut command).env("DROVER_TOKEN", &token).env("DROVER__LOG__LEVEL", "debug");
        let child = Child::spawn(command.env("DROVER__API__REQUESTS_PER_MINUTE", "0"))
            .allow_errors(&["failed for good", "No proxy is usable"]);
        let line = child.logged("Listening on http", PATIENCE).await;
        let line: Value = serde_json::from_str(&line).unwrap();
        let address = line["address"].as_str().unwrap().parse().unwrap();
        Service { farm, child, address, token }
    }

    fn request(&self, method: &Method, path: &str, body: String) -> http::Request<Full<bytes::Bytes>> {
        let request = http::Request::builder().method(method).uri(path).header("host", self.address.to_string());
        request.header("authorization", format!("Bearer {}", self.token)).body(Full::from(body)).unwrap()
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Answer {
        send(self.address, self.request(&method, path, body.to_string())).await
    }

    /// Text of the stream of events up to now.
    async fn listen(&self) -> Arc<Mutex<String>> {
        let mut body = open(self.address, self.request(&Method::GET, "/api/events", String::new())).await.into_body();
        let heard = Arc::<Mutex<String>>::default();
        let kept = heard.clone();
        tokio::spawn(async move {
            while let Some(Ok(frame)) = body.frame().await {
                let data = frame.into_data().unwrap_or_default();
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&data));
            }
        });
        heard
    }

    /// One menu fails, one proxy refuses its credentials, another is not there.
    async fn crawl_with_errors(&self) {
        let store = &self.farm.sim.stores()[0];
        self.farm.sim.add_fault(Fault::new(FaultKind::ServerError(500)).at_store(&store.platform_dispensary_id));
        self.farm.sim.set_proxy_fault(1, ProxyFault::AuthRequired);
        let proxy = json!({"host": "127.0.0.1", "port": 1, "username": PROXY_USER, "password": PROXY_PASSWORD});
        self.call(Method::POST, "/api/proxies", proxy).await.expect(201);
        // without retries, which would only take time
        let fetch = |store: &i64| NewTask {
            dispensary_id: Some(*store),
            platform: Some(Platform::Dutchie.name().to_owned()),
            max_retries: Some(0),
            ..NewTask::new(Role::PayloadFetch)
        };
        let fetches: Vec<NewTask> = self.farm.stores.iter().map(fetch).collect();
        tasks::enqueue(&self.farm.db.client().await.unwrap(), &fetches).await.unwrap();
        let failed = "SELECT count(*) FROM worker_tasks WHERE status = 'failed'";
        until("a menu has failed for good", PATIENCE, async || self.farm.count(failed).await > 0).await;
    }

    /// Sends each proxy a request, with its password.
    async fn test_proxies(&self) -> Vec<(String, Answer)> {
        let listed = self.call(Method::GET, "/api/proxies", Value::Null).await.expect(200);
        let mut answers = Vec::new();
        for proxy in listed["proxies"].as_array().unwrap() {
            let path = format!("/api/proxies/{}/test", proxy["id"]);
            answers.push((path.clone(), self.call(Method::POST, &path, Value::Null).await));
        }
        let refused: u64 = self.farm.sim.counts().proxies.iter().map(|proxy| proxy.refused).sum();
        assert!(refused > 0, "no proxy has seen a password that it refused: {answers:?}", answers = texts(&answers));
        answers
    }

    async fn ask_everything(&self) -> Vec<(String, Answer)> {
        let mut answers = Vec::new();
        for path in reads() {
            answers.push((path.clone(), self.call(Method::GET, &path, Value::Null).await));
        }
        answers
    }

    /// Requests that hold a secret and are refused.
    async fn blunder(&self) -> Vec<(String, Answer)> {
        let mut answers = Vec::new();
        for (method, path, body) in [
            (Method::POST, "/api/proxies", json!({"host": "no host", "port": 1, "password": PROXY_PASSWORD})),
            (Method::POST, "/api/proxies", json!({"host": "a.example", "port": 99_999, "password": PROXY_PASSWORD})),
            (Method::POST, "/api/proxies", json!({"host": "a.example", "port": 1, "password": [PROXY_PASSWORD]})),
            (Method::POST, "/api/proxies/import", json!({"proxies": [format!("http://canary:{PROXY_PASSWORD}@:0")]})),
            (Method::PUT, "/api/proxies/1", json!({"password": PROXY_PASSWORD, "timezone": "nowhere"})),
            (Method::POST, "/api/session", json!({"token": [self.token]})),
            (Method::POST, "/api/session", json!({"token": format!("{}x", self.token)})),
        ] {
            answers.push((path.to_owned(), self.call(method, path, body).await));
        }
        answers
    }
}

fn texts(answers: &[(String, Answer)]) -> Vec<String> {
    answers.iter().map(|(_, answer)| answer.text()).collect()
}

/// The target of every read of the description, about things that are there.
pub fn reads() -> Vec<String> {
    let document = openapi::document();
    let paths = document["paths"].as_object().unwrap().iter();
    let paths = paths.filter(|(path, item)| item.get("get").is_some() && *path != "/api/events");
    let of_things = |path: &String| {
        ["1", "2", "3", "4711"].map(|id| {
            let path = path.replace("{role}", "payload_fetch").replace("{ip}", "192.0.2.1").replace("{id}", id);
            if path == "/api/products/search" { format!("{path}?q=a") } else { path }
        })
    };
    paths.flat_map(|(path, _)| of_things(path)).collect()
}

/// The text of each table's rows, with the table's name.
pub async fn rows(url: &str) -> Vec<(String, String)> {
    let client = connect(url).await;
    let tables = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'";
    let mut rows = Vec::new();
    for table in client.query(tables, &[]).await.unwrap() {
        let table: String = table.get(0);
        let text = format!("SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM {table} t");
        rows.push((table, client.query_one(&text, &[]).await.unwrap().get(0)));
    }
    rows
}

/// Command lines of every process of this machine that can be read.
pub fn command_lines() -> Vec<(String, String)> {
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read(path.join("cmdline")).ok()?;
        Some((path.display().to_string(), String::from_utf8_lossy(&text).into_owned()))
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| read(entry.unwrap().path())).collect()
}

#[tokio::test]
async fn secrets_stand_in_no_log_row_metric_answer_or_command_line() {
    let farm = Farm::with_stores(3).await;
    farm.leaves_open_tasks("what follows a fetch may go on");
    let service = Service::start(farm).await;
    let canaries = Canaries::new(&service.token);
    let heard = service.listen().await;
    service.crawl_with_errors().await;
    let tested = service.test_proxies().await;
    let answers = [tested, service.ask_everything().await, service.blunder().await].concat();
    let good = answers.iter().filter(|(_, answer)| answer.status == 200).count();
    assert!(good >= 40, "only {good} answers");
    for (path, answer) in &answers {
        canaries.assert_absent(path, &format!("{:?} {}", answer.headers, answer.text()));
    }
    for (table, rows) in rows(service.farm.url()).await {
        canaries.assert_absent(&table, &rows);
    }
    for (process, line) in command_lines() {
        canaries.assert_absent(&process, &line);
    }
    until("an event is heard", PATIENCE, async || heard.lock().unwrap().contains("event:")).await;
    canaries.assert_absent("events", &heard.lock().unwrap());
    let log = [service.child.stderr(), service.child.stdout()].concat().join("\n");
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is read at its fullest");
    canaries.assert_absent("the log", &log);
}
