//! The access role of a public price site's server: its permitted reads, their rate, and the data that it
//! never sees.

use api::openapi;
use http::Method;

use super::reads::selling;
use super::server::Server;

/// Operations that consumers may ask for.
fn open_to_consumers() -> Vec<String> {
    let document = openapi::document();
    let mut open = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["x-access-role"] == "consumer" {
                open.push(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    open
}

#[test]
fn a_consumer_reads_stores_products_and_histories_and_nothing_else() {
    let expected = [
        "GET /api/products/search",
        "GET /api/products/{id}",
        "GET /api/products/{id}/history",
        // who it is
        "GET /api/session",
        "GET /api/stores",
        "GET /api/stores/{id}",
        "GET /api/stores/{id}/products",
    ];
    let mut open = open_to_consumers();
    open.sort();
    assert_eq!(open, expected);
}

#[tokio::test]
async fn nothing_that_a_consumer_reads_tells_how_it_came_about() {
    let server = Server::start().await;
    let (store, ids) = selling(&server).await;
    let marked = format!(
        "UPDATE dispensaries SET disabled_reason = 'internal-reason', platform_dispensary_id = 'internal-id', api_host = 'internal-host',
                                 api_path = '/internal-path' WHERE id = {store};
         INSERT INTO raw_crawl_payloads (id, dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
         OVERRIDING SYSTEM VALUE VALUES (1, {store}, 'dutchie', 'payloads/internal', repeat('0', 64), 1, 1, 1, 1, now());
         INSERT INTO worker_tasks (role, dispensary_id, status, worker_id, error_message, completed_at)
         VALUES ('payload_fetch', {store}, 'failed', 'worker-internal', 'internal error', now())"
    );
    server.database.raw.batch_execute(&marked).await.unwrap();
    let token = server.token("consumer").await;
    let mut asked = 0;
    for operation in open_to_consumers() {
        let path = operation.trim_start_matches("GET ").replace("/stores/{id}", &format!("/stores/{store}"));
        let path = path.replace("{id}", &ids[0].to_string()).replace("/search", "/search?q=blue");
        let answer = server.call(Method::GET, &path, &token, None).await;
        answer.expect(200);
        for internal in ["internal", "rivals", "worker", "error"] {
            assert!(!answer.text().contains(internal), "{path}: {internal} in {}", answer.text());
        }
        asked += 1;
    }
    assert_eq!(asked, 7);
    let refused = server.call(Method::GET, "/api/tasks", &token, None).await.problem(403);
    assert!(!refused.to_string().contains("internal"));
}

#[tokio::test]
async fn consumers_have_a_limit_of_their_own() {
    let server = Server::with(|config| {
        config.requests_per_minute = 1;
        config.consumer_requests_per_minute = 3;
    })
    .await;
    let (consumer, viewer) = (server.token("consumer").await, server.token("viewer").await);
    for (token, allowed) in [(&viewer, 1), (&consumer, 3)] {
        for _ in 0..allowed {
            server.call(Method::GET, "/api/stores", token, None).await.expect(200);
        }
        let refused = server.call(Method::GET, "/api/stores", token, None).await;
        assert!(refused.headers.contains_key("retry-after"));
        refused.problem(429);
    }
}
