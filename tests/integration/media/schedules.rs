//! Schedules of media jobs: they come with the first row that they are for.

use contract::media::people::{Person, PersonDraft};
use db::tasks::NewTask;
use domain::task::role::Role;
use rstest::rstest;
use serde_json::json;
use testkit::TestDatabase;

use super::harness::{MediaHarness, job};
use crate::api::server::Server;

/// Name, role, platform, account, hours and whether it is enabled, of each schedule with this beginning of a name.
async fn schedules(
    database: &TestDatabase,
    begin: &str,
) -> Vec<(String, String, Option<String>, Option<String>, f64, bool)> {
    let sql = "SELECT name, role, platform, account, interval_hours::float8, enabled FROM task_schedules
                WHERE starts_with(name, $1) ORDER BY name";
    let rows = database.raw.query(sql, &[&begin]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3), row.get(4), row.get(5))).collect()
}

#[rstest]
#[case::channels(
    Role::YoutubeMonitor,
    1.0,
    "INSERT INTO watched_channels (channel_id) VALUES ('UCabcdefghijklmnopqrstuv')"
)]
#[case::searches(Role::EasynewsMonitor, 6.0, "INSERT INTO saved_searches (query) VALUES ('a')")]
#[case::people(Role::AppearancesSync, 24.0, "INSERT INTO people (tmdb_id, name) VALUES (1, 'a')")]
#[case::creators(
    Role::PaidContentSync,
    6.0,
    "INSERT INTO media_accounts (platform, username, kind) VALUES ('p', 'a', 'creator')"
)]
#[case::threads(
    Role::ForumScrape,
    6.0,
    "WITH f AS (INSERT INTO forums (name, kind, base_url) VALUES ('f', 'phpbb', 'https://a.example') RETURNING id)
     INSERT INTO watched_threads (forum_id, external_id) SELECT id, '1' FROM f"
)]
#[tokio::test]
async fn the_first_row_brings_the_schedule_of_its_job(#[case] role: Role, #[case] hours: f64, #[case] insert: &str) {
    let database = testkit::database().await;
    assert!(schedules(&database, role.name()).await.is_empty());
    database.raw.batch_execute(insert).await.unwrap();
    let name = role.name().to_owned();
    assert_eq!(schedules(&database, role.name()).await, [(name.clone(), name, None, None, hours, true)]);
}

#[tokio::test]
async fn a_later_row_leaves_the_schedule_as_an_operator_wants_it() {
    let database = testkit::database().await;
    let add = async |tmdb_id| {
        let tx = database.db.begin_api().await.unwrap();
        let draft = PersonDraft { tmdb_id, name: "Ann".to_owned(), enabled: true };
        db::media::records::insert::<Person>(&tx, &draft).await.unwrap();
        tx.commit().await.unwrap();
    };
    add(1).await;
    database.raw.execute("UPDATE task_schedules SET enabled = false, interval_hours = 3", &[]).await.unwrap();
    add(2).await;
    let [(.., hours, enabled)] = schedules(&database, "appearances_sync").await.try_into().unwrap();
    assert_eq!((hours, enabled), (3.0, false));
}

#[tokio::test]
async fn an_account_with_an_interval_has_a_schedule_as_long() {
    let database = testkit::database().await;
    let account = "INSERT INTO media_accounts (id, platform, username, kind, interval_hours) VALUES (7, 'site', 'ann', 'public', 12)";
    database.raw.batch_execute(account).await.unwrap();
    let expected = |hours, enabled| {
        let (name, role) = ("scrape_account 7".to_owned(), "scrape_account".to_owned());
        [(name, role, Some("site".to_owned()), Some("ann".to_owned()), hours, enabled)]
    };
    assert_eq!(schedules(&database, "scrape_account").await, expected(12.0, true));

    database.raw.batch_execute("UPDATE media_accounts SET interval_hours = 6, enabled = false").await.unwrap();
    assert_eq!(schedules(&database, "scrape_account").await, expected(6.0, false));

    let seen = "UPDATE task_schedules SET interval_hours = 2; UPDATE media_accounts SET enabled = false, last_scraped_at = now()";
    database.raw.batch_execute(seen).await.unwrap();
    assert_eq!(schedules(&database, "scrape_account").await, expected(2.0, false), "an operator changed it");

    database.raw.batch_execute("UPDATE media_accounts SET interval_hours = NULL").await.unwrap();
    assert!(schedules(&database, "scrape_account").await.is_empty());
    database
        .raw
        .batch_execute("UPDATE media_accounts SET interval_hours = 1; DELETE FROM media_accounts")
        .await
        .unwrap();
    assert!(schedules(&database, "scrape_account").await.is_empty());
}

#[tokio::test]
async fn a_job_of_a_schedule_comes_after_those_of_people_unless_a_person_runs_it_now() {
    let server = Server::start().await;
    let draft = json!({"name": "films", "role": "appearances_sync", "interval_hours": 24});
    let added = server.post("/api/schedules", draft).await.expect(201);
    db::schedules::run_for(&server.database.db, "films", "2026-11-07T09:30:00Z".parse().unwrap()).await.unwrap();
    let job = async || server.get("/api/jobs?job_type=appearances_sync").await.expect(200)["jobs"][0].clone();
    let made = job().await;
    assert_eq!((&made["status"], &made["priority"]), (&json!("pending"), &json!(7)));
    server
        .database
        .raw
        .batch_execute("UPDATE schedule_runs SET created_at = now() - interval '1 minute'")
        .await
        .unwrap();
    server.post(&format!("/api/schedules/{}/trigger", added["id"]), json!({})).await.expect(200);
    assert_eq!((&job().await["id"], &job().await["priority"]), (&made["id"], &json!(2)));
}

#[tokio::test]
async fn a_job_of_a_person_starts_before_a_thousand_of_schedules() {
    let harness = MediaHarness::start().await;
    let of_a_schedule = |n: i64| NewTask {
        priority: Role::DownloadMedia.schedule_priority(),
        ..job(Role::DownloadMedia, json!({"media_ids": [n]}))
    };
    let client = harness.database.db.client().await.unwrap();
    db::tasks::enqueue(&client, &(1..=1_000).map(of_a_schedule).collect::<Vec<_>>()).await.unwrap();
    let insert = "INSERT INTO worker_job_queue (job_type, payload) VALUES ('download_media', '{\"media_ids\": [7]}') RETURNING id";
    let made: i64 = harness.database.raw.query_one(insert, &[]).await.unwrap().get(0);
    assert_eq!(harness.claim(Role::DownloadMedia).await.lease.id, made);
}
