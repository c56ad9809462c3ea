//! `drover enqueue`, `tasks`, `workers`, `schedules`, `jobs`, `audit`, `completions` and `man`, as people run
//! them.

use std::process::Output;
use std::time::Duration;

use rstest::rstest;
use serde_json::Value;

use super::server::Server;
use testkit::{Child, SlowLink, TestDatabase, drover};

const SOON: Duration = Duration::from_secs(60);

async fn run(database: &TestDatabase, args: &[&str]) -> Output {
    drover().env("DATABASE_URL", &database.url).args(args).output().await.unwrap()
}

#[track_caller]
fn ended(output: &Output, code: i32) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

#[track_caller]
fn json(output: &Output) -> Value {
    ended(output, 0);
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn with_store() -> TestDatabase {
    let database = testkit::database().await;
    let sql = "INSERT INTO dispensaries (id, name, platform_dispensary_id) VALUES (7, 'A Shop', 'x')";
    database.raw.batch_execute(sql).await.unwrap();
    database
}

#[tokio::test]
async fn a_task_is_queued_once_and_the_open_twin_is_named() {
    let database = with_store().await;
    let enqueue = ["enqueue", "--role", "product_resync", "--store", "7", "--priority", "-5", "--json"];
    let task = json(&run(&database, &enqueue).await);
    assert_eq!(
        (&task["role"], &task["priority"], &task["platform"]),
        (&"payload_fetch".into(), &(-5).into(), &"dutchie".into())
    );
    assert_eq!(task["dedup_key"], "payload_fetch:7");
    let stderr = ended(&run(&database, &enqueue).await, 4);
    assert!(stderr.contains(&format!("task {}", task["id"])), "{stderr}");
}

#[rstest]
#[case::a_task_of_a_store(&["enqueue", "--role", "payload_fetch", "--dispensary", "7"])]
#[case::a_task_after_another(&["enqueue", "--role", "analytics_refresh", "--after", "1"])]
#[case::the_list(&["tasks", "list"])]
#[tokio::test]
async fn a_command_waits_for_a_distant_server_four_times_at_most(#[case] args: &[&str]) {
    // longer than the command takes from one statement to the next that does not wait for its answer
    const ROUND_TRIP: Duration = Duration::from_secs(1);
    let database = with_store().await;
    database.raw.batch_execute("INSERT INTO worker_tasks (id, role) VALUES (1, 'store_discovery')").await.unwrap();
    let link = SlowLink::start(&database.url, ROUND_TRIP / 2).await;
    ended(&drover().env("DATABASE_URL", link.url()).args(args).output().await.unwrap(), 0);
    let waits = link.round_trips();
    assert!((2..=4).contains(&waits), "it waited {waits} times: at the connection's start, and for three statements");
}

#[tokio::test]
async fn a_task_that_cannot_be_is_refused_with_its_own_exit_code() {
    let database = with_store().await;
    let stderr = ended(&run(&database, &["enqueue", "--role", "payload_fetch", "--store", "8"]).await, 3);
    assert!(stderr.contains("store 8"), "{stderr}");
    let stderr = ended(&run(&database, &["enqueue", "--role", "payload_fetsch"]).await, 2);
    assert!(stderr.contains("payload_fetsch"), "{stderr}");
    ended(&run(&database, &["enqueue", "--role", "analytics_refresh", "--payload", "{"]).await, 2);
    ended(&run(&database, &["enqueue", "--role", "analytics_refresh", "--at", "soon"]).await, 2);
    ended(&run(&database, &["tasks", "show", "4711"]).await, 3);
    ended(&run(&database, &["schedules", "trigger", "nothing"]).await, 3);
    ended(&run(&database, &["tasks", "list", "--limit", "501"]).await, 2);
}

#[tokio::test]
async fn tasks_are_listed_below_the_summary_of_the_queue() {
    let database = with_store().await;
    let sql = "INSERT INTO worker_tasks (role, status) SELECT 'payload_fetch', 'completed' FROM generate_series(1, 1234);
               INSERT INTO worker_tasks (role, dispensary_id, status) VALUES ('payload_fetch', 7, 'failed'), ('product_refresh', 7, 'pending')";
    database.raw.batch_execute(sql).await.unwrap();
    let list = run(&database, &["tasks", "list", "--store", "7"]).await;
    ended(&list, 0);
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Pending: 1 Running: 0 Completed: 1,234 Failed: 1 (of the whole queue)");
    assert!(lines.len() == 4 && lines[2].contains("product_refresh") && lines[3].contains("A Shop"), "{text}");

    let all = run(&database, &["tasks", "list"]).await;
    assert!(all.stdout.starts_with(b"Pending: 1 Running: 0 Completed: 1,234 Failed: 1\n"), "the line of scripts");

    let failed =
        json(&run(&database, &["tasks", "list", "--status", "failed", "--role", "product_resync", "--json"]).await);
    assert_eq!(failed["tasks"].as_array().unwrap().len(), 1);
}

#[rstest]
#[case::a_listed_task_ended_after_it(
    "INSERT INTO worker_tasks (role, status, completed_at) VALUES ('payload_fetch', 'completed', now() + interval '1 minute')"
)]
#[case::an_hour_ago(
    "INSERT INTO task_totals (role, status, tasks, as_of) VALUES ('payload_fetch', 'completed', 7, now() - interval '1 hour')"
)]
#[tokio::test]
async fn totals_that_may_have_grown_say_until_when_they_are_counted(#[case] sql: &str) {
    let database = with_store().await;
    database.raw.batch_execute(sql).await.unwrap();
    let list = run(&database, &["tasks", "list"]).await;
    ended(&list, 0);
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(text.lines().nth(1).unwrap().starts_with("Completed and failed tasks are counted up to 2"), "{text}");
}

#[tokio::test]
async fn a_task_is_shown_with_the_timeline_of_its_runs() {
    let database = with_store().await;
    let sql = "INSERT INTO worker_tasks (id, role) VALUES (1, 'analytics_refresh');
               INSERT INTO task_attempts (task_id, fence, worker_id, outcome, error, claimed_at, finished_at) VALUES
               (1, 1, 'worker-a', 'failed', 'no answer', '2025-01-10T08:00:00Z', '2025-01-10T08:00:01.5Z'),
               (1, 2, 'worker-b', NULL, NULL, '2025-01-10T08:01:00Z', NULL)";
    database.raw.batch_execute(sql).await.unwrap();
    let shown = run(&database, &["tasks", "show", "1"]).await;
    ended(&shown, 0);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("run 1     2025-01-10 08:00:00 UTC  failed after 1.5s  worker-a  no answer"), "{text}");
    assert!(text.contains("run 2     2025-01-10 08:01:00 UTC  running  worker-b"), "{text}");
    assert_eq!(json(&run(&database, &["tasks", "show", "1", "--json"]).await)["attempts"][0]["fence"], 1);
}

#[tokio::test]
async fn runs_are_printed_as_they_begin_and_end_each_once() {
    let database = with_store().await;
    let begin = "INSERT INTO worker_tasks (id, role) VALUES (1, 'analytics_refresh'), (2, 'analytics_refresh');
                 SELECT sweep_all(); SELECT claim_task('analytics_refresh', 'w')";
    database.raw.batch_execute(begin).await.unwrap();
    let mut tail = Child::spawn(drover().env("DATABASE_URL", &database.url).args(["tasks", "tail", "--json"]));
    let events = async |count: usize| {
        testkit::until("the tail has printed it", SOON, async || tail.stdout().len() >= count).await;
        let lines = tail.stdout();
        let read = |line: &String| serde_json::from_str::<Value>(line).unwrap();
        lines.iter().map(read).map(|e| (e["event"].clone(), e["task_id"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(events(1).await, [("claimed".into(), 1.into())]);
    let go_on = "UPDATE worker_tasks SET status = 'failed' WHERE id = 1; SELECT claim_task('analytics_refresh', 'w')";
    database.raw.batch_execute(go_on).await.unwrap();
    let mut seen = events(3).await;
    seen.sort_by_key(|(event, _)| event.to_string());
    assert_eq!(seen[1..], [("claimed".into(), 2.into()), ("failed".into(), 1.into())]);
    tail.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(tail.ended(SOON).await.code(), Some(130));
}

#[tokio::test]
async fn a_tail_outlives_the_database_and_prints_what_it_missed() {
    let database = with_store().await;
    let begin = "INSERT INTO worker_tasks (id, role) VALUES (1, 'analytics_refresh'); SELECT sweep_all(); SELECT claim_task('analytics_refresh', 'w')";
    database.raw.batch_execute(begin).await.unwrap();
    let mut tail = Child::spawn(drover().env("DATABASE_URL", &database.url).args(["tasks", "tail", "--json"]));
    let printed = async |count: usize| {
        testkit::until("the tail has printed it", SOON, async || tail.stdout().len() == count).await;
    };
    printed(1).await;
    database.shut().await;
    tail.logged("waiting for it", SOON).await;
    database.reopen().await;
    let end = "UPDATE worker_tasks SET status = 'failed' WHERE id = 1";
    testkit::connect(&database.url).await.batch_execute(end).await.unwrap();
    printed(2).await;
    tail.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(tail.ended(SOON).await.code(), Some(130));
}

#[tokio::test]
async fn workers_are_listed_with_what_they_hold_and_why_they_wait() {
    let database = testkit::database().await;
    let sql = r#"INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, current_task_ids, active_task_count, max_concurrent_tasks, resources)
                 VALUES ('w', 'Xylos-1', 'Xylos', 'any', '{}', 'backing_off', '{4,5}', 2, 3, '{"memory_percent": 87.3, "backoff_reason": "Memory at 87.3% (threshold: 85%)"}')"#;
    database.raw.batch_execute(sql).await.unwrap();
    let list = run(&database, &["workers", "list"]).await;
    ended(&list, 0);
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(
        text.contains("Xylos-1") && text.contains("2/3") && text.contains("4,5") && text.contains("Memory at 87.3%"),
        "{text}"
    );
    assert_eq!(json(&run(&database, &["workers", "list", "--json"]).await)["workers"][0]["friendly_name"], "Xylos-1");
}

#[tokio::test]
async fn a_schedule_that_is_triggered_twice_runs_once() {
    let database = with_store().await;
    let sql = "INSERT INTO task_schedules (name, role, interval_hours) VALUES ('fetch', 'payload_fetch', 4)";
    database.raw.batch_execute(sql).await.unwrap();
    let trigger = ["schedules", "trigger", "fetch", "--json"];
    let first = json(&run(&database, &trigger).await);
    assert_eq!((&first["tasks"], &first["already_made"]), (&1.into(), &false.into()));
    let again = json(&run(&database, &trigger).await);
    assert_eq!((&again["tasks"], &again["already_made"]), (&1.into(), &true.into()));
    let listed = json(&run(&database, &["schedules", "list", "--json"]).await);
    let fetch = &listed["schedules"][0];
    assert_eq!((&fetch["name"], &fetch["last_task_count"]), (&"fetch".into(), &1.into()));
    let switch = async |word: &str| json(&run(&database, &["schedules", word, "fetch", "--json"]).await);
    assert_eq!(switch("disable").await["enabled"], false);
    assert_eq!(switch("enable").await["enabled"], true);
    let set = ["schedules", "set", "fetch", "--state", "az", "--priority", "-5", "--rename", "arizona", "--json"];
    let set = json(&run(&database, &set).await);
    assert_eq!((&set["name"], &set["state_code"], &set["priority"]), (&"arizona".into(), &"AZ".into(), &(-5).into()));
    let stderr = ended(&run(&database, &["schedules", "set", "arizona", "--cron", "0 0 0 31 2 *"]).await, 2);
    assert!(stderr.contains("--cron: "), "{stderr}");
}

#[tokio::test]
async fn a_command_uses_the_server_that_url_names_with_the_token_of_its_variable() {
    let server = Server::start().await;
    let url = format!("http://{}", server.address);
    let token = server.token("operator").await;
    let run = async |token: &str, args: &[&str]| {
        let mut command = drover();
        command.env("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none").env("DROVER_TOKEN", token);
        command.args(args).args(["--url", &url]).output().await.unwrap()
    };
    let made = json(&run(&token, &["enqueue", "--role", "analytics_refresh", "--json"]).await);
    let listed = json(&run(&token, &["tasks", "list", "--json"]).await);
    assert_eq!(listed["tasks"][0]["id"], made["id"]);
    ended(&run(&token, &["enqueue", "--role", "analytics_refresh"]).await, 4);
    let stderr = ended(&run(&token, &["enqueue", "--role", "analytics_refresh", "--priority", "2000"]).await, 2);
    assert!(stderr.contains("--priority: "), "{stderr}");
    ended(&run(&token, &["tasks", "show", "4711"]).await, 3);
    let id = made["id"].to_string();
    assert_eq!(json(&run(&token, &["tasks", "cancel", &id, "--json"]).await)["status"], "cancelled");
    json(&run(&token, &["schedules", "add", "rivals", "--every", "1h", "--json"]).await);
    assert_eq!(json(&run(&token, &["schedules", "disable", "rivals", "--json"]).await)["enabled"], false);
    ended(&run(&token, &["schedules", "remove", "rivals"]).await, 0);
    assert_eq!(json(&run(&token, &["capacity", "--json"]).await)["capacity"][0]["role"], "analytics_refresh");
    let stderr = ended(&run("", &["tasks", "list"]).await, 1);
    assert!(stderr.contains("DROVER_TOKEN"), "{stderr}");
    ended(&run(&token, &["token", "list"]).await, 1);
    let nowhere = drover().args(["tasks", "list", "--url", "http://127.0.0.1:1"]).output().await.unwrap();
    ended(&nowhere, 69);
}

#[tokio::test]
async fn tasks_are_changed_by_their_ids_and_each_says_what_became_of_it() {
    let database = with_store().await;
    let task = |args: &'static [&'static str]| run_tasks(&database, args);
    database
        .raw
        .batch_execute("INSERT INTO worker_tasks (id, role) VALUES (1, 'payload_fetch'), (2, 'analytics_refresh')")
        .await
        .unwrap();
    let day = (foundation::clock::Clock::system().utc() + chrono::TimeDelta::days(300)).format("%Y-%m-%d").to_string();
    let at = format!("{day}T08:00:00Z");
    let set = run_tasks(&database, &["set", "1", "--priority", "-7", "--at", &at]).await;
    ended(&set, 0);
    let text = String::from_utf8_lossy(&set.stdout).into_owned();
    assert_eq!(text, format!("task 1 payload_fetch: pending, priority -7, not before {day} 08:00:00 UTC\n"));
    assert_eq!(json(&task(&["set", "1", "--now", "--json"]).await)["scheduled_for"], Value::Null);
    let stderr = ended(&task(&["set", "1", "--priority", "5000"]).await, 2);
    assert!(stderr.contains("--priority: 5000 is out of range"), "{stderr}");
    ended(&task(&["set", "1"]).await, 2);

    assert_eq!(json(&task(&["cancel", "1", "--json"]).await)["status"], "cancelled");
    let both = task(&["retry", "1", "2"]).await;
    let stderr = ended(&both, 5);
    assert!(
        stderr.contains(
            "task 2 is pending; only a failed or cancelled task can be retried, and a pending one runs sooner"
        ),
        "{stderr}"
    );
    assert!(String::from_utf8_lossy(&both.stdout).starts_with("task 1 payload_fetch: pending"));
    ended(&task(&["retry", "2"]).await, 4);
    ended(&task(&["cancel", "4711"]).await, 3);
    ended(&task(&["delete", "1", "2"]).await, 0);
    ended(&task(&["show", "1"]).await, 3);
}

async fn run_tasks(database: &TestDatabase, args: &[&str]) -> Output {
    run(database, &[&["tasks"], args].concat()).await
}

#[tokio::test]
async fn all_tasks_that_match_are_changed_after_a_look_and_a_yes() {
    let database = with_store().await;
    let failed = "INSERT INTO worker_tasks (role, status, error_message) SELECT 'payload_fetch', 'failed', 'HTTP 503' FROM generate_series(1, 1001);
                  INSERT INTO worker_tasks (role, status) VALUES ('payload_fetch', 'failed')";
    database.raw.batch_execute(failed).await.unwrap();
    let bulk = |args: &'static [&'static str]| run_tasks(&database, args);
    let count = json(&bulk(&["bulk", "delete", "--status", "failed", "--dry-run", "--json"]).await);
    assert_eq!((&count["matched"], &count["eligible"]), (&1002.into(), &1002.into()));
    let stderr = ended(&bulk(&["bulk", "delete", "--status", "failed"]).await, 2);
    assert!(stderr.contains("1,002 tasks") && stderr.contains("--yes"), "{stderr}");
    ended(&bulk(&["bulk", "delete", "--yes"]).await, 2);
    ended(&bulk(&["bulk", "restart", "--status", "failed"]).await, 2);
    ended(&bulk(&["bulk", "reprioritize", "--status", "pending"]).await, 2);

    let deleted = bulk(&["bulk", "delete", "--error", "http 503", "--yes"]).await;
    ended(&deleted, 0);
    let text = String::from_utf8_lossy(&deleted.stdout).into_owned();
    assert_eq!(text, "delete: 1,001 tasks changed, 0 unchanged\n", "it was worked off here, without a server");
    let retried = json(&bulk(&["bulk", "retry", "--status", "failed", "--json"]).await);
    assert_eq!(retried, serde_json::json!({"done": 1, "failed": []}));
    let one = bulk(&["bulk", "cancel", "--status", "pending", "--dry-run"]).await;
    assert_eq!(String::from_utf8_lossy(&one.stdout), "1 task matches; can be changed by cancel: 1\n");
    let left = json(&bulk(&["list", "--role", "payload_fetch", "--json"]).await);
    assert_eq!(left["tasks"].as_array().unwrap().len(), 1);
}

/// Its hundred batches last twenty seconds, so that a command is stopped between the first and the last.
const SLOW_BATCHES: &str = "
    CREATE FUNCTION slow_batch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END $$;
    CREATE TRIGGER slow_batch AFTER UPDATE ON operations FOR EACH STATEMENT EXECUTE FUNCTION slow_batch()";

#[tokio::test]
async fn a_large_change_that_is_stopped_goes_on_elsewhere() {
    let database = with_store().await;
    let failed =
        "INSERT INTO worker_tasks (role, status) SELECT 'payload_fetch', 'failed' FROM generate_series(1, 20000)";
    database.raw.batch_execute(failed).await.unwrap();
    database.raw.batch_execute(SLOW_BATCHES).await.unwrap();
    let args = ["tasks", "bulk", "delete", "--status", "failed", "--yes"];
    let mut child = Child::spawn(drover().env("DATABASE_URL", &database.url).args(args));
    let done = async |least: i64| {
        let sql = "SELECT count(*) FROM operations WHERE done >= $1";
        database.raw.query_one(sql, &[&least]).await.unwrap().get::<_, i64>(0) > 0
    };
    testkit::until("the first tasks are deleted", SOON, async || done(1).await).await;
    child.signal(nix::sys::signal::Signal::SIGINT);
    assert_eq!(child.ended(SOON).await.code(), Some(130));
    assert!(!done(20_000).await, "it was stopped before its end");
    database.raw.batch_execute("DROP TRIGGER slow_batch ON operations").await.unwrap();
    while db::tasks::operations::run_batch(&database.db).await.unwrap().is_some() {}
    assert!(done(20_000).await);
}

#[tokio::test]
async fn tasks_of_many_stores_are_made_and_recovered_and_counted() {
    let database = with_store().await;
    database.raw.batch_execute("UPDATE dispensaries SET state = 'AZ', crawl_enabled = true").await.unwrap();
    let text = async |args: &[&str]| {
        let output = run(&database, args).await;
        ended(&output, 0);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(text(&["tasks", "generate", "state", "AZ"]).await, "1 task created\n");
    assert_eq!(
        text(&["tasks", "generate", "state", "AZ"]).await,
        "0 tasks created; 1 store skipped because of an open task\n"
    );
    assert!(
        text(&["tasks", "generate", "resync", "--batches", "1"])
            .await
            .ends_with("1 store skipped because of an open task\n")
    );
    assert!(text(&["tasks", "generate", "discovery", "--platform", "dutchie"]).await.contains("store_discovery"));
    let stderr = ended(&run(&database, &["tasks", "generate", "resync", "--batches", "25"]).await, 2);
    assert!(stderr.contains("--batches: 25 is out of range (1 to 24)"), "{stderr}");
    assert_eq!(text(&["tasks", "recover"]).await, "0 tasks put back into the queue, 0 failed permanently\n");
    let stderr = ended(&run(&database, &["tasks", "recover", "--minutes", "0"]).await, 2);
    assert!(stderr.contains("--minutes: 0 is out of range"), "{stderr}");

    assert!(text(&["capacity", "payload_fetch"]).await.contains("no estimate"));
    assert_eq!(text(&["capacity", "analytics_refresh"]).await, "analytics_refresh: no task waits\n");
    let done = "INSERT INTO worker_tasks (role, status, started_at, completed_at)
                VALUES ('payload_fetch', 'completed', now() - interval '72 seconds', now())";
    database.raw.batch_execute(done).await.unwrap();
    let expected = "payload_fetch: 1 pending task of 72.0 s each (mean of 1 run within the last day); clearing them in 1 hour takes 1 busy slot, in 4 hours 1, in 8 hours 1\n";
    assert_eq!(text(&["capacity", "payload_fetch"]).await, expected);
    let backlog = text(&["capacity"]).await;
    assert!(
        backlog.contains("72.0     1 run ")
            && backlog.starts_with("No enabled schedule crawls a store; you have 0 slots")
            && backlog.contains("store_discovery"),
        "{backlog}"
    );
    let ahead = text(&["capacity", "--stores", "2000", "--every", "4h", "--slots", "75"]).await;
    let unknown = "The need of 2,000 stores every 4 h is not known, because within the last 24 h no run of payload_fetch or product_refresh was measured";
    assert!(ahead.starts_with(unknown) && ahead.contains("\npayload_fetch    500.0"), "{ahead}");
    let ahead = json(&run(&database, &["capacity", "--stores", "2000", "--every", "4h", "--json"]).await);
    assert_eq!((&ahead["stores"], &ahead["every_hours"]), (&2000.into(), &4.0.into()));
    let stderr = ended(&run(&database, &["capacity", "--every", "1s"]).await, 2);
    assert!(stderr.contains("--every: expected a duration from 4s to 366d"), "{stderr}");
    let stderr = ended(&run(&database, &["capacity", "payload fetch"]).await, 2);
    assert!(stderr.contains("ROLE: unknown role 'payload fetch'"), "{stderr}");
}

#[tokio::test]
async fn a_recovery_says_how_many_tasks_of_dead_workers_wait_for_their_leases_and_until_when() {
    let database = testkit::database().await;
    let tasks = "SET xmlbinary = hex;
        INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, started_at, last_heartbeat_at, heartbeat_seconds) VALUES
          ('off', 'A', 'P', 'any', roles_of('{crawl,service}'), 'offline', 4, now(), now(), 10), ('killed', 'B', 'P', 'any', roles_of('{crawl,service}'), 'active', 4, now(), now() - interval '1 minute', 10),
          ('lives', 'C', 'P', 'any', roles_of('{crawl,service}'), 'active', 4, now(), now(), 10);
        INSERT INTO worker_tasks (role, status, fence, worker_id, claimed_at, last_heartbeat_at, lease_expires_at) VALUES
          ('analytics_refresh', 'running', 1, 'off', now(), now(), '2100-01-01 14:02:11Z'), ('analytics_refresh', 'claimed', 1, 'killed', now(), now(), '2100-01-01 14:00:00Z'),
          ('analytics_refresh', 'running', 1, 'lives', now(), now(), '2100-01-02Z')";
    database.raw.batch_execute(tasks).await.unwrap();
    let output = run(&database, &["tasks", "recover"]).await;
    ended(&output, 0);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let waiting =
        "2 tasks of workers that are gone wait until their leases end, the last one at 2100-01-01 14:02:11 UTC\n";
    assert!(text.ends_with(waiting), "{text}");
    let answer = json(&run(&database, &["tasks", "recover", "--json"]).await);
    assert_eq!((&answer["waiting"], &answer["requeued"]), (&2.into(), &0.into()), "{answer}");
}

#[tokio::test]
async fn media_jobs_are_added_listed_and_changed_in_their_own_words() {
    let database = testkit::database().await;
    let add = ["jobs", "add", "scrape_account", "--platform", "here", "--account", "someone", "--json"];
    let job = json(&run(&database, &add).await);
    assert_eq!((&job["status"], &job["priority"], &job["account"]), (&"pending".into(), &2.into(), &"someone".into()));
    let id = job["id"].to_string();
    let tomorrow = "SELECT to_char(now() AT TIME ZONE 'UTC' + interval '1 day', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";
    let tomorrow: String = database.raw.query_one(tomorrow, &[]).await.unwrap().get(0);
    let later = ["jobs", "run", "youtube_monitor", "--at", &tomorrow, "--json"];
    assert_eq!(json(&run(&database, &later).await)["priority"], 5, "a person does not wait for it");
    let progress =
        format!("UPDATE worker_tasks SET progress_percent = 40, progress_message = 'item 2 of 5' WHERE id = {id}");
    database.raw.batch_execute(&progress).await.unwrap();
    for shown in [vec!["jobs", "show", &id], vec!["jobs", "list"]] {
        let text = String::from_utf8(run(&database, &shown).await.stdout).unwrap();
        assert!(text.contains("40 %") && text.contains("item 2 of 5"), "{text}");
    }

    let listed = json(&run(&database, &["jobs", "list", "--account", "someone", "--json"]).await);
    assert_eq!(listed["jobs"][0]["id"], job["id"]);
    let table = run(&database, &["jobs", "list", "--type", "youtube_monitor"]).await;
    assert!(!String::from_utf8_lossy(&table.stdout).contains("someone"));
    let changed = json(&run(&database, &["jobs", "set", &id, "--priority", "1", "--json"]).await);
    assert_eq!(changed["priority"], 1);
    let cancelled = run(&database, &["jobs", "cancel", &id]).await;
    ended(&cancelled, 0);
    assert_eq!(String::from_utf8_lossy(&cancelled.stdout), format!("job {id} scrape_account: cancelled, priority 1\n"));
    ended(&run(&database, &["jobs", "delete", &id]).await, 0);
    ended(&run(&database, &["jobs", "show", &id]).await, 3);

    let stderr = ended(&run(&database, &["jobs", "add", "payload_fetch"]).await, 2);
    assert!(stderr.contains("TYPE: unknown job type 'payload_fetch'"), "{stderr}");
    ended(&run(&database, &["jobs", "set", &id]).await, 2);
}

#[tokio::test]
async fn a_completed_job_is_listed_with_the_counts_of_its_result() {
    let database = testkit::database().await;
    let row = "INSERT INTO worker_tasks (role, status, completed_at, progress_message, result)
               VALUES ('scrape_account', 'completed', now(), '1 files', $1)";
    for (result, listed) in [
        (serde_json::json!({"files": 9, "known": 0, "failed": 1}), "failed 1, files 9"),
        (serde_json::json!({"files": 0}), "nothing new"),
    ] {
        database.raw.execute(row, &[&result]).await.unwrap();
        let table = run(&database, &["jobs", "list", "--limit", "1"]).await;
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        assert!(table.trim_end().ends_with(listed), "{table}");
    }
}

#[tokio::test]
async fn the_audit_says_who_did_what() {
    let database = testkit::database().await;
    ended(&run(&database, &["jobs", "add", "youtube_monitor"]).await, 0);
    ended(&run(&database, &["token", "create", "--role", "viewer", "--name", "grafana"]).await, 0);
    let audit = json(&run(&database, &["audit", "--json"]).await)["audit"].clone();
    assert_eq!((&audit[0]["action"], &audit[1]["action"]), (&"tokens.create".into(), &"jobs.create".into()));
    let jobs = json(&run(&database, &["audit", "--action", "jobs.create", "--who", "command line", "--json"]).await);
    assert_eq!(jobs["audit"].as_array().unwrap().len(), 1);
    let table = run(&database, &["audit", "--since", "2020-01-01", "--limit", "1"]).await;
    assert!(String::from_utf8_lossy(&table.stderr).contains("only the first 1 are shown"));
}

#[tokio::test]
async fn completions_and_manual_pages_are_printed_for_every_command() {
    let database = testkit::database().await;
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&database, &["completions", shell]).await;
        ended(&script, 0);
        assert!(String::from_utf8_lossy(&script.stdout).contains("decommission"), "{shell}");
    }
    let pages = tempfile::tempdir().unwrap();
    ended(&run(&database, &["man", "--into", pages.path().to_str().unwrap()]).await, 0);
    let page = std::fs::read_to_string(pages.path().join("drover-tasks-bulk.1")).unwrap();
    assert!(page.contains("dry\\-run"), "{page}");
    let own = run(&database, &["man"]).await;
    ended(&own, 0);
    assert!(String::from_utf8_lossy(&own.stdout).starts_with(".ie"));
}
