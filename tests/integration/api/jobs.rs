//! Media jobs over HTTP and by the view of the older queue.

use http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use testkit::connect;

use super::server::{Answer, Server};

async fn call(server: &Server, method: Method, path: &str, body: Value) -> Answer {
    let request = server.request(method, path).header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

async fn create(server: &Server, account: &str) -> Value {
    let body = json!({"job_type": "scrape_account", "platform": "site", "account": account, "priority": 2});
    server.post("/api/jobs", body).await.expect(201)
}

async fn listed(server: &Server, query: &str) -> Vec<i64> {
    let page = server.get(&format!("/api/jobs{query}")).await.expect(200);
    page["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_i64().unwrap()).collect()
}

#[tokio::test]
async fn a_job_is_a_task_with_the_words_and_numbers_of_jobs() {
    let server = Server::start().await;
    let job = create(&server, "ann").await;
    let path = format!("/api/jobs/{}", job["id"]);
    assert_eq!(
        (&job["status"], &job["priority"], &job["job_type"]),
        (&json!("pending"), &json!(2), &json!("scrape_account"))
    );
    let task = server.get(&format!("/api/tasks/{}", job["id"])).await.expect(200);
    assert_eq!((&task["role"], &task["priority"]), (&json!("scrape_account"), &json!(8)));
    assert_eq!(task["dedup_key"], "scrape_account:site:ann");
    let notice = job["notice"].as_str().unwrap();
    assert!(notice.contains("1 job of site") && notice.contains("media.platforms.site.url"), "{notice}");
    let known = json!({"job_type": "scrape_account", "platform": "instagram", "account": "ann"});
    assert_eq!(server.post("/api/jobs", known).await.expect(201)["notice"], Value::Null);

    let body = json!({"job_type": "scrape_account", "platform": "site", "account": "ann"});
    assert_eq!(server.post("/api/jobs", body).await.problem(409)["task_id"], job["id"]);
    assert_eq!(call(&server, Method::PUT, &path, json!({"priority": 10})).await.expect(200)["priority"], 10);
    let claim =
        "UPDATE worker_tasks SET status = 'claimed', worker_id = 'w', lease_expires_at = now() - interval '1 hour'";
    server.database.raw.batch_execute(claim).await.unwrap();
    assert_eq!(server.get(&path).await.expect(200)["status"], "running", "stale and claimed read as running");
    call(&server, Method::PUT, &path, json!({"priority": 1})).await.problem(409);
    assert_eq!(server.post(&format!("{path}/cancel"), json!({})).await.expect(200)["status"], "cancelled");
    assert_eq!(server.post(&format!("{path}/retry"), json!({})).await.expect(200)["status"], "pending");
    assert_eq!(call(&server, Method::DELETE, &path, Value::Null).await.status, 204);
    server.get(&path).await.problem(404);
}

#[tokio::test]
async fn a_crawl_is_no_job() {
    let server = Server::start().await;
    let task = server.post("/api/tasks", json!({"role": "analytics_refresh"})).await.expect(201);
    let path = format!("/api/jobs/{}", task["id"]);
    server.get(&path).await.problem(404);
    server.post(&format!("{path}/cancel"), json!({})).await.problem(404);
    call(&server, Method::DELETE, &path, Value::Null).await.problem(404);
    assert!(listed(&server, "").await.is_empty());
    assert_eq!(server.post("/api/jobs", json!({"job_type": "payload_fetch"})).await.problem(400)["field"], "job_type");
}

#[tokio::test]
async fn jobs_are_listed_by_filter_and_page() {
    let server = Server::start().await;
    let (ann, bob) =
        (create(&server, "ann").await["id"].as_i64().unwrap(), create(&server, "bob").await["id"].as_i64().unwrap());
    server.post(&format!("/api/jobs/{bob}/cancel"), json!({})).await.expect(200);
    assert_eq!(listed(&server, "").await, [bob, ann]);
    assert_eq!(listed(&server, "?account=ann&platform=site&job_type=scrape_account").await, [ann]);
    assert_eq!(listed(&server, "?status=cancelled").await, [bob]);
    let page = server.get("/api/jobs?limit=1").await.expect(200);
    assert_eq!(listed(&server, &format!("?limit=1&cursor={}", page["next_cursor"].as_str().unwrap())).await, [ann]);
    assert_eq!(listed(&server, "?sort=oldest").await, [ann, bob]);
    let page = server.get("/api/jobs?sort=oldest&limit=1").await.expect(200);
    let next = page["next_cursor"].as_str().unwrap();
    assert_eq!(listed(&server, &format!("?sort=oldest&limit=1&cursor={next}")).await, [bob]);
    let by = format!("UPDATE worker_tasks SET parent_task_id = {ann} WHERE id = {bob}");
    server.database.raw.batch_execute(&by).await.unwrap();
    assert_eq!(listed(&server, &format!("?parent={ann}")).await, [bob]);
    assert_eq!(server.get(&format!("/api/jobs/{bob}")).await.expect(200)["parent_id"], ann);
    for (id, has) in [(ann, true), (bob, false)] {
        assert_eq!(server.get(&format!("/api/jobs/{id}")).await.expect(200)["has_children"], has);
    }
    assert_eq!(server.get("/api/jobs?sort=newer").await.problem(400)["field"], "sort");
    assert_eq!(server.get("/api/jobs?job_type=payload_fetch").await.problem(400)["field"], "job_type");
}

#[tokio::test]
async fn what_runs_and_waits_is_told_with_the_workers_health() {
    let server = Server::start().await;
    let now = async || server.get("/api/scheduler/status").await.expect(200);
    assert_eq!(now().await, json!({"running": [], "pending_counts": [], "worker_healthy": false}));
    let ann = create(&server, "ann").await["id"].clone();
    create(&server, "bob").await;
    server.post("/api/worker-registry/register", json!({"worker_id": "m", "role": "media"})).await.expect(201);
    let run = "UPDATE worker_tasks SET status = 'running', worker_id = 'm', started_at = now() WHERE account = 'ann'";
    server.database.raw.batch_execute(run).await.unwrap();
    let now = now().await;
    assert_eq!((&now["running"][0]["id"], &now["worker_healthy"]), (&ann, &json!(true)));
    assert_eq!(now["pending_counts"], json!([{"count": 1, "platform": "site"}]));
}

#[tokio::test]
async fn the_view_of_the_older_queue_takes_inserts() {
    let server = Server::start().await;
    let insert = "INSERT INTO worker_job_queue (job_type, platform, account, payload) VALUES ('scrape_account', 'site', 'ann', '{}') RETURNING id";
    let id: i64 = server.database.raw.query_one(insert, &[]).await.unwrap().get(0);
    let job = server.get(&format!("/api/jobs/{id}")).await.expect(200);
    assert_eq!((&job["priority"], &job["account"], &job["max_retries"]), (&json!(5), &json!("ann"), &json!(3)));
    for refused in [
        "INSERT INTO worker_job_queue (job_type) VALUES ('payload_fetch')",
        "INSERT INTO worker_job_queue (job_type, priority) VALUES ('youtube_monitor', 11)",
        "INSERT INTO worker_job_queue (job_type, status) VALUES ('youtube_monitor', 'completed')",
        "INSERT INTO worker_job_queue (job_type, platform, account) VALUES ('scrape_account', 'site', 'ann')",
    ] {
        server.database.raw.batch_execute(refused).await.unwrap_err();
    }
    assert_eq!(listed(&server, "").await, [id]);
}

#[tokio::test]
async fn the_view_of_the_older_queue_is_worked_by_the_older_statements() {
    let server = Server::start().await;
    let raw = &server.database.raw;
    let insert = "INSERT INTO worker_job_queue (job_type, platform, account, priority) VALUES ('scrape_account', 'site', 'ann', 2) \
                  RETURNING id, priority, status, max_retries";
    let made = raw.query_one(insert, &[]).await.unwrap();
    assert_eq!(
        (made.get::<_, i32>("priority"), made.get::<_, &str>("status"), made.get::<_, i32>("max_retries")),
        (2, "pending", 3)
    );
    let id: i64 = made.get("id");

    let claim = "UPDATE worker_job_queue SET status = 'running', worker_id = 'old-1', started_at = now() WHERE id = (\
                   SELECT id FROM worker_job_queue WHERE status = 'pending' ORDER BY priority, created_at LIMIT 1 FOR UPDATE SKIP LOCKED) \
                 RETURNING id, status, worker_id";
    let claimed = raw.query_one(claim, &[]).await.unwrap();
    assert_eq!((claimed.get::<_, i64>("id"), claimed.get::<_, &str>("status")), (id, "running"));
    assert!(raw.query_opt(claim, &[]).await.unwrap().is_none(), "once");
    let progress = "UPDATE worker_job_queue SET progress_percent = 40, progress_message = 'page 2' WHERE id = $1";
    assert_eq!(raw.execute(progress, &[&id]).await.unwrap(), 1);
    let fail = "UPDATE worker_job_queue SET status = 'failed', error_message = 'no answer', completed_at = now() WHERE id = $1";
    raw.execute(fail, &[&id]).await.unwrap();
    let job = server.get(&format!("/api/jobs/{id}")).await.expect(200);
    assert_eq!(
        (&job["status"], &job["error_message"], &job["progress_percent"]),
        (&json!("failed"), &json!("no answer"), &json!(40))
    );
    let retry = "UPDATE worker_job_queue SET status = 'pending', priority = 9, retry_count = retry_count + 1 WHERE id = $1 RETURNING priority";
    assert_eq!(raw.query_one(retry, &[&id]).await.unwrap().get::<_, i32>(0), 9);
    let task =
        raw.query_one("SELECT priority, retry_count, worker_id FROM worker_tasks WHERE id = $1", &[&id]).await.unwrap();
    assert_eq!((task.get::<_, i32>(0), task.get::<_, i32>(1), task.get::<_, Option<&str>>(2)), (1, 1, None));
    for refused in ["job_type = 'youtube_monitor'", "priority = 11", "status = 'stale'", "id = 7"] {
        let update = format!("UPDATE worker_job_queue SET {refused} WHERE id = {id}");
        assert!(raw.batch_execute(&update).await.is_err(), "{refused}");
    }
}

#[rstest]
#[case::accounts(
    json!({"job_type": "scrape_account", "platform": "site", "payload": {"username": "ann"}}),
    json!({"job_type": "scrape_account", "platform": "site", "payload": {"username": "bea"}})
)]
#[case::creators(
    json!({"job_type": "paid_content_creator", "payload": {"creator_id": 1}}),
    json!({"job_type": "paid_content_creator", "payload": {"creator_id": 2}})
)]
#[case::searches(
    json!({"job_type": "easynews_monitor", "payload": {"search_queries": ["a"]}}),
    json!({"job_type": "easynews_monitor"})
)]
#[tokio::test]
async fn jobs_that_differ_in_their_arguments_alone_are_two(#[case] one: Value, #[case] other: Value) {
    let server = Server::start().await;
    for body in [&one, &other] {
        server.post("/api/jobs", body.clone()).await.expect(201);
        server.post("/api/jobs", body.clone()).await.problem(409);
    }
}

#[tokio::test]
async fn an_account_is_the_same_by_its_own_field_and_by_the_arguments() {
    let server = Server::start().await;
    let job = create(&server, "ann").await;
    let body = json!({"job_type": "scrape_account", "platform": "site", "payload": {"username": "ann"}});
    assert_eq!(server.post("/api/jobs", body).await.problem(409)["task_id"], job["id"]);
}

#[tokio::test]
async fn a_job_whose_key_another_session_holds_is_to_be_sent_again_in_a_moment() {
    let server = Server::start().await;
    let holder = connect(&server.database.url).await;
    let twin = "BEGIN; INSERT INTO worker_job_queue (job_type) VALUES ('youtube_monitor')";
    holder.batch_execute(twin).await.unwrap();
    let answer = server.post("/api/jobs", json!({"job_type": "youtube_monitor"})).await;
    let detail = answer.problem(503)["detail"].to_string();
    assert!(detail.contains("the same rows; try again in a moment"), "{detail}");
    assert_eq!(answer.headers["retry-after"], "1");
    holder.batch_execute("ROLLBACK").await.unwrap();
    server.post("/api/jobs", json!({"job_type": "youtube_monitor"})).await.expect(201);
}

async fn claimed(server: &Server, role: &str) -> Option<i64> {
    let claim = "SELECT id FROM claim_task($1, 'worker-1')";
    server.database.raw.query_opt(claim, &[&role]).await.unwrap().map(|row| row.get(0))
}

#[tokio::test]
async fn a_job_waits_for_jobs_and_crawls_and_is_cancelled_when_one_of_them_fails() {
    let server = Server::start().await;
    let crawl = server.post("/api/tasks", json!({"role": "analytics_refresh"})).await.expect(201)["id"].clone();
    let scrape = create(&server, "ann").await["id"].clone();
    let body =
        json!({"job_type": "download_media", "payload": {"media_ids": [1]}, "depends_on": [scrape, crawl, scrape]});
    let download = server.post("/api/jobs", body).await.expect(201);
    assert_eq!(download["depends_on"], json!([crawl, scrape]));
    let later = json!({"role": "store_discovery", "platform": "dutchie", "depends_on": [download["id"]]});
    let later = server.post("/api/tasks", later).await.expect(201)["id"].clone();

    assert_eq!(claimed(&server, "download_media").await, None);
    let end = "UPDATE worker_tasks SET status = $1 WHERE id = $2";
    for (status, id) in [("completed", &crawl), ("completed", &scrape)] {
        assert_eq!(claimed(&server, "download_media").await, None);
        server.database.raw.execute(end, &[&status, &id.as_i64()]).await.unwrap();
    }
    assert_eq!(claimed(&server, "download_media").await, download["id"].as_i64());
    server.database.raw.execute(end, &[&"failed", &download["id"].as_i64()]).await.unwrap();
    assert_eq!(claimed(&server, "store_discovery").await, None);
    let waiting = server.get(&format!("/api/tasks/{later}")).await.expect(200);
    assert_eq!(waiting["status"], "cancelled", "{waiting}");
}

#[tokio::test]
async fn a_job_that_waits_for_what_is_not_there_or_for_itself_is_refused() {
    let server = Server::start().await;
    let dangling = json!({"job_type": "youtube_monitor", "depends_on": [4711]});
    assert_eq!(server.post("/api/jobs", dangling).await.problem(404)["field"], "depends_on");
    let many: Vec<i64> = (1..=101).collect();
    let refused =
        server.post("/api/jobs", json!({"job_type": "youtube_monitor", "depends_on": many})).await.problem(400);
    assert_eq!(refused["field"], "depends_on");

    let raw = &server.database.raw;
    let insert =
        "INSERT INTO worker_job_queue (job_type, account, depends_on) VALUES ('scrape_account', $1, $2) RETURNING id";
    let first: i64 = raw.query_one(insert, &[&"ann", &Vec::<i64>::new()]).await.unwrap().get(0);
    let second: i64 = raw.query_one(insert, &[&"ben", &vec![first]]).await.unwrap().get(0);
    for circle in [vec![second], vec![first]] {
        let update = "UPDATE worker_job_queue SET depends_on = $1 WHERE id = $2";
        let refused = raw.execute(update, &[&circle, &first]).await.unwrap_err();
        let message = refused.as_db_error().unwrap().message().to_owned();
        assert!(message.contains("would wait for itself"), "{message}");
    }
    let job = server.get(&format!("/api/jobs/{second}")).await.expect(200);
    assert_eq!(job["depends_on"], json!([first]));
}
