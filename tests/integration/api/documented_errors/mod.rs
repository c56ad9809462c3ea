//! Every error that an operation describes is provoked here, and is answered as it says: with its status,
//! content type and form. The test fails where the description has an error that nothing provokes, and where
//! one is provoked that it does not have.
//!
//! Most requests are made from the description alone; [`cases`] has the rest. Whether an answer of any other
//! test is described is looked at by `openapi::assert_described`.

mod cases;
mod form;
mod requests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use api::openapi;
use contract::changes::ChangePlace;
use contract::position::Position;
use db::{Db, PoolSizes};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use geo::Geo;
use serde_json::{Value, json};
use settings::Database;

use self::cases::{LOCKED, MISSING, QUERIES, REFUSED, RENAME_TABLES, THINGS, TWICE, WITHOUT_DATABASE};
use self::form::assert_form;
use self::requests::{announced, make_tokens, request_by, secret, send, send_with};
use super::geo::geo_database;
use super::images::webp;
use super::openapi::{ID, IMAGE, Operation, ROLES, operations, resolved};
use super::reads::crawled;
use super::server::{Answer, Server};
use testkit::{ClusterMood, FakeCluster, database, database_settings, free_port};

/// The operation and the status.
type Error = (String, u16);

/// Size that is larger than any body may be.
const TOO_MANY_BYTES: usize = 64 << 20;
/// A body must come within half of it; the other half must suffice to know the caller on a busy machine.
const SHORT: Duration = Duration::from_secs(20);
/// A transaction waits for a lock nine tenths of it; the rest must suffice for its other statements on a busy machine.
const LOCKED_OUT: Duration = Duration::from_secs(8);
/// Operations that ask the database nothing.
const OF_FILES: [&str; 1] = ["GET /img/{path}"];
/// Programs that ask these add parameters of their own.
const OPEN_QUERIES: [&str; 3] = ["/livez", "/readyz", "/metrics"];

#[tokio::test]
async fn every_documented_error_is_provoked_and_every_provoked_one_is_documented() {
    let all = &operations();
    let provoked: [BoxFuture<Vec<Error>>; 12] = [
        heads(all).boxed(),
        bodies(all).boxed(),
        slow_bodies(all).boxed(),
        strangers(all).boxed(),
        too_many_requests(all).boxed(),
        things(all).boxed(),
        locked(all).boxed(),
        damaged_files(all).boxed(),
        images(all).boxed(),
        kubernetes(all).boxed(),
        without_database(all).boxed(),
        with_broken_database(all).boxed(),
    ];
    let provoked: BTreeSet<Error> = join_all(provoked).await.concat().into_iter().collect();
    let errors = all.iter().flat_map(|operation| operation.errors().map(|status| (operation.name(), status)));
    let documented: BTreeSet<Error> = errors.collect();
    let silent: Vec<&Error> = documented.difference(&provoked).collect();
    assert!(silent.is_empty(), "documented, and provoked by nothing: {silent:?}");
    let unknown: Vec<&Error> = provoked.difference(&documented).collect();
    assert!(unknown.is_empty(), "provoked, and not documented: {unknown:?}");
}

/// 400, 403, 414, 431: faults of a request's head.
async fn heads(all: &[Operation]) -> Vec<Error> {
    let server = Server::start().await;
    let mut errors = Vec::new();
    for operation in all {
        let target = operation.target();
        let request = |target: &str| server.request(operation.method.clone(), target);
        let mut cases = vec![
            (400, request(&target).header("host", "localhost")),
            (403, request(&target).header("origin", "https://evil.example")),
            (414, request(&format!("{target}?q={}", "x".repeat(9_000)))),
            (431, request(&target).header("x", "x".repeat(70_000))),
        ];
        if !OPEN_QUERIES.contains(&target.as_str()) {
            cases.push((400, request(&format!("{target}?no_such_parameter=1"))));
        }
        if let Some((begin, _)) = operation.path.split_once('{') {
            let end = operation.path.split_once('}').unwrap().1;
            cases.push((400, request(&format!("{begin}%00{end}"))));
        }
        for (status, request) in cases {
            errors.push(expect(operation, status, &send(&server, operation, request).await));
        }
    }
    errors
}

/// 400, 413, 415: bodies that are not a request, too large, or of another type.
async fn bodies(all: &[Operation]) -> Vec<Error> {
    let server = Server::start().await;
    let mut errors = Vec::new();
    for operation in all.iter().filter(|operation| operation.takes_body()) {
        let request = || server.request(operation.method.clone(), &operation.target());
        let unknown = send_with(&server, request(), r#"{"no_such_field": 1}"#).await;
        errors.push(expect(operation, 400, &unknown));
        let text = send(&server, operation, request().header("content-type", "text/plain")).await;
        errors.push(expect(operation, 415, &text));
        errors.push(expect(operation, 413, &announced(&server, operation, TOO_MANY_BYTES).await));
    }
    errors
}

/// 408: bodies that are announced and do not come.
async fn slow_bodies(all: &[Operation]) -> Vec<Error> {
    let server = &Server::with_timeout(SHORT).await;
    let slow = all.iter().filter(|operation| operation.takes_body());
    join_all(slow.map(async |operation| expect(operation, 408, &announced(server, operation, 10).await))).await
}

/// 401 and 403: callers that are unknown, or whose access role may do less.
async fn strangers(all: &[Operation]) -> Vec<Error> {
    let server = Server::start().await;
    make_tokens(&server).await;
    let mut errors = Vec::new();
    for operation in all {
        let needed = |role: &&str| operation.description["x-access-role"] == **role;
        let Some(rank) = ROLES.iter().position(needed) else { continue };
        let target = operation.target();
        let unknown = server.request(operation.method.clone(), &target).header("authorization", "Bearer x");
        errors.push(expect(operation, 401, &send(&server, operation, unknown).await));
        if let Some(lower) = rank.checked_sub(1) {
            let lower = request_by(ROLES[lower], &server, operation, &target);
            errors.push(expect(operation, 403, &send(&server, operation, lower).await));
        }
    }
    let log_in = named(all, "POST /api/session");
    let unknown = server.request(log_in.method.clone(), &log_in.path);
    errors.push(expect(log_in, 401, &send(&server, log_in, unknown).await));
    let changes = server.database.raw.query_one("SELECT count(*) FROM audit_log", &[]).await.unwrap();
    assert_eq!(changes.get::<_, i64>(0), 0, "none of them has changed anything");
    errors
}

/// 429: a token that has used up its requests.
async fn too_many_requests(all: &[Operation]) -> Vec<Error> {
    let server = Server::with(|config| config.requests_per_minute = 1).await;
    make_tokens(&server).await;
    let who = named(all, "GET /api/session");
    let first = send(&server, who, request_by("admin", &server, who, &who.path)).await;
    assert_eq!(first.status, 200);
    let mut errors = Vec::new();
    for operation in all.iter().filter(|operation| operation.description["x-access-role"] != "none") {
        let request = request_by("admin", &server, operation, &operation.target());
        errors.push(expect(operation, 429, &send(&server, operation, request).await));
    }
    let log_in = named(all, "POST /api/session");
    let request = server.request(log_in.method.clone(), &log_in.path);
    let token = json!({ "token": secret("admin") }).to_string();
    errors.push(expect(log_in, 429, &send_with(&server, request, &token).await));
    errors
}

/// 404, 409, 412, 422: things that are not there, are there already, or do not allow the change; and a key of
/// another request.
async fn things(all: &[Operation]) -> Vec<Error> {
    let (_dir, geo) = geo_database();
    let server = &Server::start_with(|config| config.requests_per_minute = 0, Geo::new(Some(&geo))).await;
    make_tokens(server).await;
    [missing(all, server).await, refused(all, server).await, twice(all, server).await, used_keys(all, server).await]
        .concat()
}

async fn missing(all: &[Operation], server: &Server) -> Vec<Error> {
    let mut errors = Vec::new();
    for operation in all.iter().filter(|operation| operation.path.contains('{') || operation.has_error(404)) {
        let query = MISSING.iter().find(|(name, _)| *name == operation.name()).map_or("", |(_, query)| query);
        let request = request_by("admin", server, operation, &format!("{}{query}", operation.target()));
        errors.extend(error(operation, &send(server, operation, request).await));
    }
    errors
}

async fn refused(all: &[Operation], server: &Server) -> Vec<Error> {
    server.database.raw.batch_execute(THINGS).await.unwrap();
    let mut errors = Vec::new();
    for (name, status, id, body) in REFUSED {
        let operation = named(all, name);
        let mut request = request_by("admin", server, operation, &operation.target_of(id));
        if status == 412 {
            request = request.header("if-match", "\"1000\"");
        }
        errors.push(expect(operation, status, &send_with(server, request, body).await));
    }
    errors
}

async fn twice(all: &[Operation], server: &Server) -> Vec<Error> {
    let mut errors = Vec::new();
    for (name, body) in TWICE {
        let operation = named(all, name);
        let request = || request_by("admin", server, operation, &operation.path);
        send_with(server, request(), body).await;
        errors.push(expect(operation, 409, &send_with(server, request(), body).await));
    }
    errors
}

async fn used_keys(all: &[Operation], server: &Server) -> Vec<Error> {
    // a proxy is tried before the key is looked at
    let closed = free_port();
    let used = format!(
        "INSERT INTO proxies (id, host, port) OVERRIDING SYSTEM VALUE VALUES ({ID}, '127.0.0.1', {closed});
         INSERT INTO idempotency_keys (who, key, request, status, body) VALUES ('admin', 'used', 'another', 200, '{{}}')"
    );
    server.database.raw.batch_execute(&used).await.unwrap();
    let mut errors = Vec::new();
    for operation in all.iter().filter(|operation| operation.description["x-audited"] == true) {
        let request = request_by("admin", server, operation, &operation.target()).header("idempotency-key", "used");
        errors.push(expect(operation, 422, &send(server, operation, request).await));
    }
    errors
}

/// 409: the row is locked by another transaction.
async fn locked(all: &[Operation]) -> Vec<Error> {
    let mut database = database().await;
    let settings = Database { statement_timeout: LOCKED_OUT, transaction_timeout: LOCKED_OUT, ..database_settings() };
    database.db = Db::new(&database.url, &settings, PoolSizes { work: 1, api: 2 }).unwrap();
    let server = Server::on(database, |_| (), Geo::default()).await;
    make_tokens(&server).await;
    server.database.raw.batch_execute(THINGS).await.unwrap();
    let mut errors = Vec::new();
    for (name, id, lock) in LOCKED {
        let operation = named(all, name);
        server.database.raw.batch_execute(&format!("BEGIN; {lock}")).await.unwrap();
        let request = request_by("admin", &server, operation, &operation.target_of(id));
        errors.push(expect(operation, 409, &send(&server, operation, request).await));
        server.database.raw.batch_execute("ROLLBACK").await.unwrap();
    }
    errors
}

/// 410 and 422: payload files that differ from the written ones, or have gone.
async fn damaged_files(all: &[Operation]) -> Vec<Error> {
    let server = Server::start().await;
    make_tokens(&server).await;
    let (store, ids) = crawled(&server, &[&["a"], &["b"]]).await;
    let files = server.database.raw.query("SELECT storage_path FROM raw_crawl_payloads", &[]).await.unwrap();
    let files: Vec<PathBuf> = files.iter().map(|row| server.storage.path().join(row.get::<_, String>(0))).collect();
    let reads = [
        ("GET /api/payloads/{id}/data", "", ids[1]),
        ("GET /api/payloads/{id}/data", "?raw=1", ids[1]),
        ("GET /api/payloads/store/{id}/diff", "", store),
        ("GET /api/payloads/store/{id}/latest", "", store),
    ];
    let read = async |status: u16, reason: &str| {
        let mut errors = Vec::new();
        for (name, query, id) in reads {
            let operation = named(all, name);
            let target = format!("{}{query}", operation.target_of(id));
            let answer = send(&server, operation, request_by("admin", &server, operation, &target)).await;
            errors.push(expect(operation, status, &answer));
            let (detail, root) = (answer.text(), server.storage.path().to_str().unwrap());
            assert!(detail.contains(reason) && !detail.contains(root), "{target}: {detail}");
        }
        errors
    };
    files.iter().for_each(|file| std::fs::write(file, b"rubbish").unwrap());
    let damaged = read(422, "is damaged").await;
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    [damaged, read(410, "does not exist").await, vec![expired_cursor(all, &server).await]].concat()
}

/// 410: a place in the feed whose changes retention removed.
async fn expired_cursor(all: &[Operation], server: &Server) -> Error {
    server.database.raw.batch_execute("UPDATE change_feed SET newest = 9, removed = 5").await.unwrap();
    let newest = db::changes::feed::newest(&server.database.db.client().await.unwrap()).await.unwrap();
    let cursor = Position(ChangePlace { seq: 4, ..newest }).text();
    let operation = named(all, "GET /api/changes");
    let target = format!("{}?since={cursor}", operation.path);
    let answer = send(server, operation, request_by("admin", server, operation, &target)).await;
    assert_eq!(answer.problem(410)["code"], "cursor_expired");
    expect(operation, 410, &answer)
}

/// 415, 416, 422 and 503: stored images that are not images, that are damaged, that have no such part, or
/// that too many ask for.
async fn images(all: &[Operation]) -> Vec<Error> {
    let (server, busy) = (Server::start().await, Server::with_images(|images| images.render_queue = 0).await);
    for server in [&server, &busy] {
        let stored = format!(
            "INSERT INTO brands (name, slug, local_image_path) VALUES ('Bud Bros', 'bud-bros', 'images/{IMAGE}');
             INSERT INTO dispensaries (id, name) OVERRIDING SYSTEM VALUE VALUES ({ID}, 'a');
             INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored,
                                         is_in_stock, stock_status, first_seen_at, last_seen_at, local_image_path)
             OVERRIDING SYSTEM VALUE VALUES ({ID}, {ID}, 'dutchie', 'a', 'a', false, false, true, 'in_stock', now(), now(), 'images/{IMAGE}')"
        );
        server.database.raw.batch_execute(&stored).await.unwrap();
    }
    let mut errors = Vec::new();
    for (status, server, content, query) in [
        (415, &server, b"no image".to_vec(), "?w=10"),
        (422, &server, webp()[..60].to_vec(), "?w=11"),
        (416, &server, webp(), "?w=12"),
        (503, &busy, webp(), "?w=13"),
    ] {
        let file = server.storage.path().join("images").join(IMAGE);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
        for name in ["GET /img/{path}", "GET /img/product/{id}", "GET /img/brand/{brand}"] {
            let operation = named(all, name);
            let request = server.request(operation.method.clone(), &format!("{}{query}", operation.target()));
            let request = request.header("range", "bytes=1000000-");
            errors.push(expect(operation, status, &send(server, operation, request).await));
        }
    }
    errors
}

/// 404, 409 and 504: the StatefulSet is not there, is changed by others, or Kubernetes says nothing.
async fn kubernetes(all: &[Operation]) -> Vec<Error> {
    let cluster = FakeCluster::start().await;
    let patient = Server::with_cluster(cluster.settings()).await;
    let hasty = Server::with_cluster(cluster.hasty_settings()).await;
    let mut errors = Vec::new();
    for (status, mood, server) in [
        (404, ClusterMood::Refuses(404), &patient),
        (409, ClusterMood::Refuses(409), &patient),
        (504, ClusterMood::Silent, &hasty),
    ] {
        cluster.set_mood(mood);
        for name in ["GET /api/workers/k8s/replicas", "POST /api/workers/k8s/scale"] {
            let operation = named(all, name);
            if operation.has_error(status) {
                let request = server.request(operation.method.clone(), &operation.target());
                errors.push(expect(operation, status, &send(server, operation, request).await));
            }
        }
    }
    errors
}

/// 503: the database cannot be reached.
async fn without_database(all: &[Operation]) -> Vec<Error> {
    let (known, unknown) = (Server::start().await, Server::start().await);
    known.get("/api/tasks").await.expect(200);
    known.database.shut().await;
    unknown.database.shut().await;
    failures(all, 503, &known, &unknown).await
}

/// 500: the database does not hold what it should.
async fn with_broken_database(all: &[Operation]) -> Vec<Error> {
    let (known, unknown) = (Server::start().await, Server::start().await);
    // a view that was never filled is not read
    db::analytics::refresh::refresh(&known.database.db).await.unwrap();
    known.get("/api/tasks").await.expect(200);
    for server in [&known, &unknown] {
        server.database.raw.batch_execute(RENAME_TABLES).await.unwrap();
    }
    failures(all, 500, &known, &unknown).await
}

/// Asks two servers: `known` still knows its callers, so that the operation itself fails. `unknown` does not: for operations
/// that ask no more of the database than who the caller is.
async fn failures(all: &[Operation], status: u16, known: &Server, unknown: &Server) -> Vec<Error> {
    let mut errors = Vec::new();
    for operation in all.iter().filter(|operation| !OF_FILES.contains(&operation.name().as_str())) {
        let needs_database = !WITHOUT_DATABASE.contains(&operation.name().as_str());
        let server = if needs_database { known } else { unknown };
        let query = QUERIES.iter().find(|(name, _)| *name == operation.name()).map_or("", |(_, query)| query);
        let mut request = server.request(operation.method.clone(), &format!("{}{query}", operation.target()));
        if !needs_database {
            request = request.header("cookie", "drover_login=x");
        }
        let answer = send(server, operation, request).await;
        match operation.has_error(status) {
            true => errors.push(expect(operation, status, &answer)),
            false => errors.extend(error(operation, &answer)),
        }
    }
    errors
}

fn named<'a>(all: &'a [Operation], name: &str) -> &'a Operation {
    all.iter().find(|operation| operation.name() == name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[track_caller]
fn expect(operation: &Operation, status: u16, answer: &Answer) -> Error {
    assert_eq!(answer.status.as_u16(), status, "{}: {}", operation.name(), answer.text());
    error(operation, answer).unwrap()
}

/// The error that an operation answered, if it is one. Where it is described, it is as described.
#[track_caller]
fn error(operation: &Operation, answer: &Answer) -> Option<Error> {
    let (name, status) = (operation.name(), answer.status.as_u16());
    if status < 400 {
        return None;
    }
    assert!(!answer.text().contains("Key ("), "{name} answers in the database's words: {}", answer.text());
    static DOCUMENT: LazyLock<Value> = LazyLock::new(openapi::document);
    let described = resolved(&DOCUMENT, &operation.description["responses"][status.to_string()]);
    if !described.is_null() {
        let kind = answer.headers["content-type"].to_str().unwrap();
        let schema = &described["content"][kind]["schema"];
        assert!(schema.is_object(), "{name}: {status} is {kind}, and not as described");
        assert_form(&format!("{name}: {status}"), &DOCUMENT, schema, &answer.json());
    }
    Some((name, status))
}
