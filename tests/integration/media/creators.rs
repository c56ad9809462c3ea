//! `paid_content_sync` and `paid_content_creator`: one job a creator, by the real gallery-dl.
//!
//! Twelve creators in the ordinary run; `DROVER_CREATORS=500` is the long one.

use std::time::Duration;

use domain::task::role::Role;
use queue::{Outcome, TaskError};
use serde_json::{Value, json};
use sim::media::{AccountPlan, MediaFile, MediaPlan};
use testkit::until;

use super::accounts::has_tool;
use super::harness::MediaHarness;

/// One creator of this number is one that the site does not know, and at least two are.
const ONE_FAILS_OF: usize = 50;
const SLOTS: usize = 3;
const PER_CREATOR: Duration = Duration::from_secs(20);

fn name(number: usize) -> String {
    format!("creator-{number}")
}

/// A site that has this number of creators.
fn plan(creators: usize) -> MediaPlan {
    let accounts = (0..creators).map(|number| AccountPlan::new(&name(number), 1));
    MediaPlan { accounts: accounts.collect(), ..MediaPlan::default() }
}

impl MediaHarness {
    async fn add_creators(&self, creators: usize) -> Vec<i64> {
        let mut ids = Vec::new();
        for number in 0..creators {
            ids.push(self.add_account(&name(number), json!({"kind": "creator"})).await);
        }
        ids
    }

    async fn row(&self, role: Role) -> Value {
        let sql = "SELECT to_jsonb(t) FROM worker_tasks t WHERE role = $1 ORDER BY id LIMIT 1";
        self.database.raw.query_one(sql, &[&role.name()]).await.unwrap().get(0)
    }
}

#[tokio::test]
async fn creators_are_synced_by_jobs_of_their_own_and_summed_up_once() {
    if !has_tool() {
        return;
    }
    let creators: usize = std::env::var("DROVER_CREATORS").map_or(12, |text| text.parse().unwrap());
    let failing = creators.div_ceil(ONE_FAILS_OF).max(2);
    let harness = MediaHarness::facing(plan(creators - failing)).await;
    let ids = harness.add_creators(creators).await;
    // as a person queues it
    let by_hand = format!(
        "INSERT INTO worker_job_queue (job_type, platform, account, payload, priority)
         VALUES ('paid_content_creator', 'mastodon', 'creator-1', '{{\"creator_id\": {}}}', 10)",
        ids[1]
    );
    harness.database.raw.batch_execute(&by_hand).await.unwrap();
    harness.enqueue(Role::PaidContentSync, json!({})).await;

    let worker = harness.spawn_worker_of(SLOTS).allow_errors(&["NotFoundError"]);
    let is_over = async || harness.row(Role::PaidContentSync).await["completed_at"].is_string();
    until("the sync is over", PER_CREATOR * creators as u32, is_over).await;
    drop(worker);
    let sync = harness.row(Role::PaidContentSync).await;
    let accounts = harness.site.accounts();
    let creators_there = accounts.iter().filter(|account| account.name.starts_with("creator-"));
    let files: Vec<MediaFile> = creators_there.flat_map(|account| account.files().cloned()).collect();
    let expected = json!({
        "creators": creators, "completed": creators - failing, "failed": failing, "left": 0, "disabled": 0, "unknown": 0, "files": files.len(),
    });
    assert_eq!((&sync["status"], &sync["result"]), (&json!("completed"), &expected));
    harness.assert_like(&files).await;
    let jobs = harness.number("SELECT count(*) FROM worker_tasks WHERE role = 'paid_content_creator'").await;
    assert_eq!(jobs, creators as i64, "the job that a person queued is adopted");
    let runs = format!("SELECT count(*) FROM task_attempts WHERE task_id = {}", sync["id"]);
    assert_eq!(harness.number(&runs).await, 2, "one makes the jobs, one sums up");
    let marked = "SELECT count(*) FROM media_accounts WHERE last_error IS NOT NULL AND last_scraped_at IS NULL";
    assert_eq!(harness.number(marked).await, failing as i64);
}

#[tokio::test]
async fn only_creators_that_exist_and_are_enabled_get_a_job() {
    let harness = MediaHarness::facing(plan(3)).await;
    let nothing = harness.settle(Role::PaidContentSync, json!({})).await;
    assert_eq!(nothing.result["creators"], 0, "nothing to do completes");
    let ids = harness.add_creators(3).await;
    let public = harness.add_account("someone", json!({})).await;
    harness.database.raw.execute("UPDATE media_accounts SET enabled = false WHERE id = $1", &[&ids[2]]).await.unwrap();

    let asked = async |args: Value| match harness.run(Role::PaidContentSync, args).await {
        Ok(Outcome::Await(awaits)) => {
            let args = awaits.children.iter().map(|child| child.args["creator_id"].as_i64().unwrap());
            let mut ids: Vec<i64> = args.collect();
            ids.sort_unstable();
            ids
        }
        other => panic!("it does not wait: {}", other.is_ok()),
    };
    assert_eq!(asked(json!({})).await, ids[..2]);
    assert_eq!(asked(json!({"creator_ids": [ids[1], ids[1], 4711, public]})).await, ids[1..2]);
    let disabled = harness.settle(Role::PaidContentSync, json!({"creator_ids": [ids[2], 4711]})).await.result;
    assert_eq!((&disabled["disabled"], &disabled["unknown"]), (&json!(1), &json!(1)));
    let unknown = harness.run(Role::PaidContentSync, json!({"creator_ids": [4711, public]})).await;
    assert!(matches!(unknown, Err(TaskError::Permanent { .. })));
}

#[tokio::test]
async fn a_job_of_one_creator_is_for_an_enabled_creator() {
    let harness = MediaHarness::facing(plan(1)).await;
    let public = harness.add_account("someone", json!({})).await;
    let disabled = harness.add_account("off", json!({"kind": "creator", "enabled": false})).await;
    for id in [public, 4711] {
        let failed = harness.run(Role::PaidContentCreator, json!({"creator_id": id})).await;
        assert!(matches!(failed, Err(TaskError::Permanent { reason }) if reason.contains(&id.to_string())));
    }
    let skipped = harness.settle(Role::PaidContentCreator, json!({"creator_id": disabled})).await;
    assert_eq!(skipped.result, json!({"skipped": "the creator is disabled"}));
    assert!(harness.site.requests().is_empty());
}
