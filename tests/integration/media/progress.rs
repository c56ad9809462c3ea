//! A job's progress while it runs: the API and the command line see it move, and it is written at most once a second.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use http::Method;
use http_body_util::Full;
use rstest::rstest;
use serde_json::{Value, json};
use testkit::{PATIENCE, until};

use super::accounts::{has_tool, scrape_of};
use super::harness::{MediaHarness, job};
use crate::api::server::send;
use domain::task::role::Role;

/// Speed so low that the job outlasts two calls of the command line.
const BYTES_PER_SECOND: u64 = 100_000;
/// Each write has a row.
const COUNT_WRITES: &str = "
    CREATE TABLE progress_writes (message text);
    CREATE FUNCTION note_progress() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO progress_writes VALUES (new.progress_message); RETURN new; END $$;
    CREATE TRIGGER note_progress AFTER UPDATE ON worker_tasks FOR EACH ROW
      WHEN (new.progress_message IS DISTINCT FROM old.progress_message AND new.progress_message IS NOT NULL)
      EXECUTE FUNCTION note_progress()";

#[rstest]
#[case::of_a_download(Role::DownloadMedia)]
#[case::of_a_scrape(Role::ScrapeAccount)]
#[tokio::test]
async fn the_progress_of_a_job_is_seen_while_it_runs_and_written_once_a_second(#[case] role: Role) {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.database.raw.batch_execute(COUNT_WRITES).await.unwrap();
    harness.add_account("bob", json!({})).await;
    let files = harness.files_of_account("bob");
    harness.slow_down(&files, BYTES_PER_SECOND);
    let task = match role {
        Role::ScrapeAccount => scrape_of("bob", json!({})),
        _ => job(role, json!({"media_ids": harness.know(&files.iter().collect::<Vec<_>>()).await})),
    };
    let id = harness.enqueue_task(task).await;
    let api = harness.spawn_api().await;
    let address = MediaHarness::address_of(&api).await;
    let worker = harness.spawn_worker();

    let mut seen = BTreeSet::new();
    until("the API has seen it move", PATIENCE, async || {
        seen.extend(progress_of(&job_of(address, id).await));
        seen.len() >= 3
    })
    .await;
    let mut listed = BTreeSet::new();
    until("the command line has seen it move", PATIENCE, async || {
        let shown = harness.drover(1).args(["jobs", "show", &id.to_string(), "--json"]).output().await.unwrap();
        listed.extend(progress_of(&serde_json::from_slice(&shown.stdout).unwrap()));
        listed.len() >= 2
    })
    .await;
    files.iter().for_each(|file| harness.site.remove_faults(&file.path));
    until("the job is completed", PATIENCE, async || harness.open_jobs().await == 0).await;
    drop((worker, api));
    let writes = harness.number("SELECT count(*) FROM progress_writes").await;
    let seconds = "SELECT ceil(extract(epoch FROM completed_at - started_at))::bigint FROM worker_tasks WHERE id = ";
    let seconds = harness.number(&format!("{seconds}{id}")).await;
    assert!(writes >= 3 && writes <= seconds + 1, "{writes} writes in {seconds} s");
}

async fn job_of(address: SocketAddr, id: i64) -> Value {
    let get = http::Request::builder().method(Method::GET).uri(format!("/api/jobs/{id}"));
    send(address, get.header("host", address.to_string()).body(Full::default()).unwrap()).await.expect(200)
}

/// None: it does not run, or has not said anything yet.
fn progress_of(job: &Value) -> Option<String> {
    let is_running = job["status"] == "running";
    job["progress_message"].as_str().filter(|_| is_running).map(str::to_owned)
}
