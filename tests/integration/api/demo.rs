//! The API that the demo serves.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use http::{Method, Request};
use http_body_util::Full;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio_postgres::Client;

use super::server::{Answer, send};
use db::{Db, PoolSizes, demo};
use testkit::{Child, PATIENCE, connect, drover, until};

/// Maximum time, enough for two crawls of `continuous` on one busy core. Each waits for tasks that fail on purpose, and for
/// images.
const TWO_CRAWLS: Duration = Duration::from_secs(600);

/// Number of ordinary stores of `continuous`: enough for one that fails in each crawl.
const STORES: &str = "5";

/// Errors of the stores that are in trouble on purpose.
const FAILURES: [&str; 2] = ["no store at", "empty menu"];

async fn get(address: SocketAddr, path: &str) -> Answer {
    let request = Request::builder().method(Method::GET).uri(path).header("host", address.to_string());
    send(address, request.body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn tasks_that_a_request_generates_meanwhile_do_not_end_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command
        .args(["demo", "--stores", "2", "--every", "0", "--dir"])
        .arg(dir.path())
        .env("DROVER__API__LISTEN", "127.0.0.1:0");
    let mut demo = Child::spawn(&mut command).allow_errors(&FAILURES);
    let crawls = || demo.stdout().iter().filter(|line| line.starts_with("Oracle")).count();
    until("a crawl has ended", PATIENCE, async || crawls() > 0).await;

    let request = database_of(dir.path()).await;
    request.execute("SELECT pg_advisory_lock(7343, hashtext('payload_fetch'))", &[]).await.unwrap();
    let refused = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    let refused = async || request.query_one(refused, &[]).await.unwrap().get::<_, i64>(0);
    let before = refused().await;
    until("the demo is refused", PATIENCE, async || refused().await > before + 1).await;
    request.execute("SELECT pg_advisory_unlock_all()", &[]).await.unwrap();

    // open in every crawl, for no worker claims media jobs
    let job = "INSERT INTO worker_job_queue (job_type) VALUES ('youtube_monitor') RETURNING id";
    let job: i64 = request.query_one(job, &[]).await.unwrap().get(0);
    let later = "UPDATE worker_tasks SET created_at = now() + interval '1 hour' WHERE id = $1";
    request.execute(later, &[&job]).await.unwrap();
    let before = crawls();
    until("it crawls again", PATIENCE, async || crawls() > before + 1).await;
    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE).await.code(), Some(130));
}

#[tokio::test]
async fn a_demo_whose_port_is_taken_serves_its_payloads_at_a_free_one_shows_its_next_crawl_and_ends_soon_after_ctrl_c()
{
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let dir = tempfile::tempdir().unwrap();
    let mut command = drover();
    command.args(["demo", "--stores", "2", "--dir"]).arg(dir.path()).env("DROVER__API__LISTEN", &address);
    let mut demo = Child::spawn(&mut command).allow_errors(&FAILURES);
    let said = |text: &str| demo.stdout().iter().any(|line| line.starts_with(text));
    until("a crawl has ended", PATIENCE, async || said("Starting the next crawl in ")).await;
    let api = demo.stdout().into_iter().find(|line| line.starts_with("API")).unwrap();
    assert!(!api.contains(&address), "{api}");
    assert!(demo.stderr().iter().any(|line| line.contains("the demo takes a free port")));
    let address: SocketAddr = api.split("http://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
    let payloads = get(address, "/api/payloads").await.expect(200)["payloads"].clone();
    let data = get(address, &format!("/api/payloads/{}/data?raw=true", payloads[0]["id"])).await;
    assert_eq!(data.status, 200, "{}", data.text());
    let shown = "SELECT string_agg(name, ' ' ORDER BY name) FROM task_schedules WHERE enabled AND next_run_at < now() + interval '20 s'";
    let shown: String = database_of(dir.path()).await.query_one(shown, &[]).await.unwrap().get(0);
    assert_eq!(shown, "analytics_refresh payload_fetch_all");

    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE).await.code(), Some(130));
    assert!(demo.stdout().iter().any(|line| line.starts_with("Stopping: ")));
}

#[tokio::test]
async fn a_demo_is_as_simulated_after_another_command_made_tasks_in_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let crawl = async || {
        let mut command = drover();
        command.args(["demo", "--once", "--json", "--stores", "2", "--dir"]).arg(dir.path());
        command.env("DROVER__API__LISTEN", "127.0.0.1:0").env("DROVER__PROXIES__BUDGET_BYTES_PER_DAY", "1GiB");
        let ended = command.output().await.unwrap();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap())
    };
    assert_eq!(crawl().await.0, Some(0));
    let said = async |args: &[&str]| {
        let output = drover().args(args).arg("--dir").arg(dir.path()).output().await.unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let listed: Value = serde_json::from_str(&said(&["proxies", "list", "--json"]).await).unwrap();
    assert!(listed["proxies"][0]["budget_left"].is_number(), "the command has the budget of the demo: {listed}");
    let capacity = said(&["capacity"]).await;
    assert!(capacity.contains("the request rate is not limited"), "and its rate: {capacity}");
    for store in ["1", "2"] {
        let mut command = drover();
        let made = command
            .args(["enqueue", "--role", "payload_fetch", "--store", store, "--dir"])
            .arg(dir.path())
            .output()
            .await;
        assert!(made.unwrap().status.success());
    }
    // as workers leave a task whose platform did not answer: the next try is far away
    let spent =
        "UPDATE worker_tasks SET retry_count = 2, scheduled_for = now() + interval '1 hour' WHERE status = 'pending'";
    assert_eq!(database_of(dir.path()).await.execute(spent, &[]).await.unwrap(), 2);
    let (code, summary) = crawl().await;
    assert_eq!(code, Some(0), "{summary}");
}

/// Every summary that the demo has printed, as JSON.
fn summaries(demo: &Child) -> Vec<Value> {
    demo.stdout().iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn continuous(dir: &Path) -> Child {
    let mut command = drover();
    command
        .args(["demo", "--json", "--stores", STORES, "--every", "0", "--latency", "20", "--dir"])
        .arg(dir)
        .env("DROVER__API__LISTEN", "127.0.0.1:0");
    Child::spawn(&mut command).allow_errors(&FAILURES)
}

async fn database_of(dir: &Path) -> Client {
    connect(&url_of(dir).await).await
}

async fn url_of(dir: &Path) -> String {
    let url = drover().args(["db", "url", "--dir"]).arg(dir).output().await.unwrap();
    String::from_utf8(url.stdout).unwrap().trim().to_owned()
}

const OPTIONS_UNLIKE_THEIR_HISTORY: &str = "store_product_variants v
    LEFT JOIN LATERAL (SELECT * FROM store_product_variant_history h
                        WHERE (h.store_product_id, h.option_label, h.nth) = (v.store_product_id, v.option_label, v.nth)
                        ORDER BY h.crawled_at DESC, h.crawl_id DESC LIMIT 1) h ON true
    WHERE (v.price_rec, v.price_med, v.special_price_rec, v.special_price_med, v.quantity, v.is_in_stock)
          IS DISTINCT FROM (h.price_rec, h.price_med, h.special_price_rec, h.special_price_med, h.quantity, h.is_in_stock)";

const PRODUCTS_OUT_OF_BOUNDS: &str = "store_products p
    CROSS JOIN LATERAL (SELECT min(coalesce(s.special_price_rec, s.price_rec)) AS lowest, max(coalesce(s.special_price_rec, s.price_rec)) AS highest
                          FROM store_product_snapshots s WHERE s.store_product_id = p.id) s
    WHERE coalesce(p.special_price_rec, p.price_rec) NOT BETWEEN s.lowest AND s.highest";

/// Snapshots unlike the options at their time: each simulated one, and the last real one.
const SNAPSHOTS_UNLIKE_OPTIONS: &str = "store_product_snapshots s
    CROSS JOIN LATERAL (SELECT min(coalesce(o.special_price_rec, o.price_rec)) AS price, sum(o.quantity) AS quantity
                          FROM (SELECT DISTINCT ON (h.option_label, h.nth) h.* FROM store_product_variant_history h
                                 WHERE h.store_product_id = s.store_product_id AND h.crawled_at <= s.crawled_at
                                 ORDER BY h.option_label, h.nth, h.crawled_at DESC, h.crawl_id DESC) o WHERE NOT o.gone) o
    WHERE (coalesce(s.special_price_rec, s.price_rec), s.quantity) IS DISTINCT FROM (o.price, o.quantity)";

/// One demo for all that a few crawls show: it takes the time of many other tests.
#[tokio::test]
async fn a_continuous_demo_begins_with_a_history_has_faults_and_keeps_only_its_latest_crawls() {
    let dir = tempfile::tempdir().unwrap();
    let mut demo = continuous(dir.path());
    until("a crawl has ended", TWO_CRAWLS, async || !summaries(&demo).is_empty()).await;
    let client = database_of(dir.path()).await;
    let count = async |rows: &str| count(&client, rows).await;
    let moved = "(SELECT store_product_id FROM store_product_snapshots WHERE crawl_id > 0
                   GROUP BY 1 HAVING count(DISTINCT price_rec) > 1) moved";
    // a slow machine deletes the first crawl's snapshots at the end of the second
    until("prices move", TWO_CRAWLS, async || count(moved).await > 0).await;
    until("two crawls have ended", TWO_CRAWLS, async || summaries(&demo).len() >= 2).await;
    summaries(&demo).iter().for_each(assert_faults_are_counted_apart);
    assert_seven_days(&client).await;

    until("three crawls have ended", TWO_CRAWLS, async || summaries(&demo).len() >= 3).await;
    let db = Db::new(&url_of(dir.path()).await, &testkit::database_settings(), PoolSizes { work: 1, api: 1 }).unwrap();
    assert!(demo::limits::apply(&db, Duration::ZERO).await.unwrap() > 0);
    assert_eq!(count(OPTIONS_UNLIKE_THEIR_HISTORY).await, 0, "options whose last row has not their price");
    assert_eq!(count(PRODUCTS_OUT_OF_BOUNDS).await, 0, "products cheaper or dearer than all of their snapshots");
    assert_eq!(count(SNAPSHOTS_UNLIKE_OPTIONS).await, 0, "snapshots with another price or stock than their options");
    assert!(count("store_product_variant_history WHERE crawl_id < -5").await > 0, "options are as old as products");
    let real = count("store_product_snapshots WHERE crawl_id > 0").await;
    let age = "UPDATE store_product_snapshots SET crawled_at = crawled_at - interval '1 hour' WHERE crawl_id > 0";
    client.execute(age, &[]).await.unwrap();
    until("old snapshots are deleted", PATIENCE, async || {
        count("store_product_snapshots WHERE crawl_id > 0 AND crawled_at < now() - interval '30 minutes'").await == 0
    })
    .await;
    assert!(real > 0 && count("store_product_snapshots WHERE crawl_id < 0").await > 0);
    demo.signal(Signal::SIGINT);
    assert_eq!(demo.ended(PATIENCE).await.code(), Some(130));
}

fn assert_faults_are_counted_apart(summary: &Value) {
    let status = |place: usize| summary["faults"]["stores"][place]["crawl_status"].clone();
    assert_eq!(summary["oracle"]["equal"], true, "{summary}");
    let stores: i64 = STORES.parse().unwrap();
    assert_eq!((&summary["stores"], &summary["stores_crawled"]), (&json!(stores), &json!(stores)), "{summary}");
    assert_eq!((&summary["tasks"]["failed"], &summary["tasks"]["cancelled"]), (&json!(0), &json!(0)), "{summary}");
    assert!(summary["faults"]["survived"].as_i64().unwrap() > 0, "{summary}");
    assert_eq!((status(0), status(1)), (json!("needs_menu_id"), json!("empty_menu")), "{summary}");
}

async fn assert_seven_days(client: &Client) {
    for (what, rows) in [
        ("runs", "(SELECT FROM stats_minute GROUP BY minute::date HAVING sum(tasks) > 0) d"),
        ("requests", "(SELECT FROM fetch_minute WHERE process = 0 GROUP BY minute::date) d"),
        ("prices by day", "(SELECT FROM price_days GROUP BY day) d"),
        ("snapshots", "(SELECT FROM store_product_snapshots WHERE crawl_id < 0 GROUP BY crawled_at::date) d"),
    ] {
        assert!(count(client, rows).await >= 7, "{what}");
    }
    assert_eq!(count(client, "installation WHERE simulated_until < now()").await, 1, "pages can say what is simulated");
    let without = format!(
        "store_products p WHERE dispensary_id <= {STORES} AND NOT EXISTS
                   (SELECT FROM store_product_snapshots s WHERE s.store_product_id = p.id AND s.crawl_id < 0)
                   AND first_seen_at < now() - interval '6 days'"
    );
    assert_eq!(count(client, &without).await, 0, "products that claim to be old and have no history");
    assert!(count(client, "worker_tasks WHERE worker_id = 'simulated' AND status = 'failed'").await > 10);
}

async fn count(client: &Client, rows: &str) -> i64 {
    client.query_one(&format!("SELECT count(*) FROM {rows}"), &[]).await.unwrap().get(0)
}
