//! Claiming: order, roles, reservations, tokens, and the writes of a claim.

use db::tasks::{ClaimBatch, ClaimToken, NewTask};
use domain::task::role::Role;
use queue::{FollowUp, Outcome};
use serde_json::json;

use super::*;

#[tokio::test]
async fn the_more_urgent_goes_first_then_the_older() {
    let queue = Queue::new().await;
    let by_hand = |priority| NewTask { priority, ..analytics() };
    let made = queue.enqueue(&[by_hand(0), by_hand(20), by_hand(0), by_hand(10)]).await;
    assert_eq!(queue.claim_all().await, [made[1], made[3], made[0], made[2]]);
}

#[tokio::test]
async fn a_follow_up_goes_before_the_rest_of_its_generation() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    let parent = queue.claim_one().await;
    let follow_up = FollowUp { dispensary_id: parent.dispensary_id, ..FollowUp::new(Role::ProductRefresh, json!({})) };
    let done = Outcome::done(json!({})).next(follow_up);
    let tx = queue.database.db.begin().await.unwrap();
    queue::commit(tx, &parent, &done, &json!({}), None).await.unwrap();
    let next = queue.claim(&Role::CRAWL, 3).await;
    assert_eq!(next[0].role, Role::ProductRefresh);
    assert_eq!(ids(&next)[1..], made[1..]);
}

#[tokio::test]
async fn a_batch_takes_as_many_as_asked_for_and_never_one_twice() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&vec![analytics(); 5]).await;
    assert_eq!(ids(&queue.claim(&Role::CRAWL, 3).await), made[..3]);
    assert_eq!(ids(&queue.claim(&Role::CRAWL, 3).await), made[3..]);
    assert!(queue.claim(&Role::CRAWL, 3).await.is_empty());
}

#[tokio::test]
async fn each_name_gets_a_task_of_its_own() {
    let queue = Queue::new().await;
    queue.enqueue(&vec![analytics(); 2]).await;
    let workers = ["one", "two", "three"].map(str::to_owned).to_vec();
    let claimed = queue.settle_and_claim(ClaimBatch { workers, ..asks(0) }).await;
    let names: Vec<&str> = claimed.iter().map(|task| task.lease.worker_id.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

#[tokio::test]
async fn a_worker_takes_only_its_roles_in_one_order() {
    let queue = Queue::new().await;
    let urgent = NewTask { priority: 5, ..fetch(3) };
    let made = queue.enqueue(&[fetch(1), analytics(), refresh(2), urgent]).await;
    assert_eq!(ids(&queue.claim(&[Role::ProductRefresh], 9).await), [made[2]]);
    assert_eq!(ids(&queue.claim(&[Role::AnalyticsRefresh, Role::PayloadFetch], 9).await), [made[3], made[0], made[1]]);
}

#[tokio::test]
async fn a_worker_of_any_role_leaves_a_role_of_a_newer_release_alone() {
    let queue = Queue::new().await;
    let known = queue.add(analytics()).await;
    queue.sql("INSERT INTO task_kinds (name, family, notifies) VALUES ('label_scan', 'crawl', true)").await;
    queue.sql("INSERT INTO worker_tasks (role, priority) VALUES ('label_scan', 50)").await;
    assert_eq!(queue.claim_all().await, [known]);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE role = 'label_scan' AND ready").await, 1);
}

#[tokio::test]
async fn a_store_has_one_active_task() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(7), refresh(7), fetch(8)]).await;
    assert_eq!(queue.claim_all().await, [made[0], made[2]]);
}

#[tokio::test]
async fn an_active_task_without_a_store_blocks_no_store() {
    let queue = Queue::new().await;
    let storeless = queue.add(analytics()).await;
    assert_eq!(queue.claim_all().await, [storeless]);
    let of_a_store = queue.add(fetch(1)).await;
    assert_eq!(queue.claim_all().await, [of_a_store]);
}

#[tokio::test]
async fn an_active_store_blocks_no_task_without_one() {
    let queue = Queue::new().await;
    let of_a_store = queue.add(fetch(1)).await;
    assert_eq!(queue.claim_all().await, [of_a_store]);
    let storeless = queue.enqueue(&vec![analytics(); 2]).await;
    assert_eq!(queue.claim_all().await, storeless);
}

#[tokio::test]
async fn many_tasks_of_a_busy_store_hold_up_no_other() {
    let queue = Queue::new().await;
    let busy = queue.enqueue(&vec![fetch(1); 500]).await;
    assert_eq!(queue.claim_all().await, busy[..1]);
    let behind = queue.add(fetch(2)).await;
    assert_eq!(ids(&queue.claim(&Role::CRAWL, 1).await), [behind]);
}

#[tokio::test]
async fn a_claim_begins_lease_heartbeat_and_attempt() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let claimed = queue.claim_one().await;
    let row = queue.task(id).await;
    assert_eq!((&row["status"], &row["worker_id"], &row["fence"]), (&json!("claimed"), &json!(ME), &json!(1)));
    assert_eq!(claimed.lease.fence, 1);
    assert!(row["claimed_at"].is_string() && row["started_at"].is_null());
    assert_eq!(row["last_heartbeat_at"], row["claimed_at"], "a crash before the first beat must be seen");
    let lease = "SELECT extract(epoch FROM lease_expires_at - claimed_at)::bigint FROM worker_tasks";
    assert_eq!(queue.number(lease).await, LEASE.as_secs() as i64);
    assert_eq!(queue.outcomes(id).await, ["active"]);
}

#[tokio::test]
async fn a_claim_clears_what_an_earlier_run_left() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    queue.sql("UPDATE worker_tasks SET result = '{\"old\": 1}', error_message = 'old'").await;
    queue.claim_one().await;
    let row = queue.task(id).await;
    assert!(row["result"].is_null() && row["error_message"].is_null());
}

#[tokio::test]
async fn a_claim_says_how_long_the_task_was_due() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    queue.sql(&format!("UPDATE worker_tasks SET created_at = now() - interval '90 seconds' WHERE id = {id}")).await;
    let waited = queue.claim_one().await.waited.as_secs();
    assert!((90..100).contains(&waited), "{waited} s");
}

/// Rows that are newer than a statement's snapshot once vanished from a join with the rows that a function
/// had just claimed.
#[tokio::test]
async fn every_claimed_task_is_handed_out() {
    let queue = Queue::new().await;
    queue.enqueue(&vec![analytics(); 50]).await;
    let sql = "SELECT t.id FROM claim_task(NULL, 'me') c JOIN worker_tasks t ON t.id = c.id";
    let mut answered = 0;
    for _ in 0..50 {
        answered += queue.claim(&Role::CRAWL, 1).await.len();
    }
    assert_eq!(answered, 50);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'claimed'").await, 50);
    queue.add(analytics()).await;
    // whatever such a join shows, nothing may be claimed except the tasks that claim_task returns
    let rows = queue.database.raw.query(sql, &[]).await.unwrap();
    assert!(rows.len() <= 1);
    assert_eq!(queue.number("SELECT count(*) FROM claim_task(NULL, 'me')").await, 0);
}

#[tokio::test]
async fn a_claim_is_synced_even_where_the_server_would_not() {
    let queue = Queue::new().await;
    queue.add(analytics()).await;
    queue.sql("SET synchronous_commit = off; BEGIN; SELECT FROM claim_task(NULL, 'me')").await;
    let setting: String = queue.database.raw.query_one("SHOW synchronous_commit", &[]).await.unwrap().get(0);
    queue.sql("COMMIT").await;
    assert_eq!(setting, "on");
}

#[tokio::test]
async fn what_is_done_is_completed_in_the_same_round_trip() {
    let queue = Queue::new().await;
    let first = queue.enqueue(&[fetch(1), fetch(1)]).await;
    let claimed = queue.claim_one().await;
    let done =
        vec![tasks::Completion { lease: claimed.lease, result: json!({"n": 1}), detail: json!({"requests": 2}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(1) }).await.unwrap();
    assert_eq!(answer.settled, first[..1]);
    assert_eq!(ids(&answer.claimed), first[1..], "the freed reservation is there for the same call");
    let row = queue.task(first[0]).await;
    assert_eq!((&row["status"], &row["result"]), (&json!("completed"), &json!({"n": 1})));
    assert_eq!(
        queue.number("SELECT (detail->>'requests')::bigint FROM task_attempts WHERE outcome = 'completed'").await,
        2
    );
}

#[tokio::test]
async fn many_tasks_start_at_once_but_those_that_are_lost_or_locked() {
    let queue = Queue::new().await;
    queue.enqueue(&vec![analytics(); 3]).await;
    let claimed = queue.claim(&Role::CRAWL, 3).await;
    let [held, recovered, locked] = [0, 1, 2].map(|n| claimed[n].lease.clone());
    queue.sql(&format!("BEGIN; SELECT FROM worker_tasks WHERE id = {} FOR UPDATE", locked.id)).await;
    let lost = TaskLease { fence: recovered.fence - 1, ..recovered };
    let started = tasks::start_many(&queue.client().await, &[lost, held, locked]).await.unwrap();
    queue.sql("COMMIT").await;
    assert_eq!(started, [false, true, false]);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE status = 'running'").await, 1);
}

#[tokio::test]
async fn of_two_runs_of_a_task_the_later_one_starts() {
    let queue = Queue::new().await;
    queue.add(analytics()).await;
    let later = queue.claim_one().await.lease;
    let earlier = TaskLease { fence: later.fence - 1, ..later.clone() };
    assert_eq!(tasks::start_many(&queue.client().await, &[earlier, later]).await.unwrap(), [false, true]);
}

#[tokio::test]
async fn a_zero_byte_of_upstream_does_not_keep_a_task_from_completing() {
    let queue = Queue::new().await;
    let id = queue.add(analytics()).await;
    let lease = queue.claim_one().await.lease;
    let done = vec![tasks::Completion { lease, result: json!({"unknown\0key": ["a\0b"]}), detail: json!({}) }];
    let answer = tasks::settle_and_claim(&queue.client().await, &ClaimBatch { done, ..asks(0) }).await.unwrap();
    assert_eq!(answer.settled, [id]);
    assert_eq!(queue.task(id).await["result"], json!({"unknownkey": ["ab"]}));
}

#[tokio::test]
async fn a_claim_of_some_roles_looks_further_when_others_hold_the_best() {
    let queue = Queue::new().await;
    queue.enqueue(&vec![analytics(); 40]).await;
    queue.sql("BEGIN; SELECT id FROM worker_tasks WHERE ready ORDER BY id LIMIT 30 FOR UPDATE").await;
    let roles = [Role::AnalyticsRefresh, Role::StoreDiscovery];
    assert_eq!(queue.claim(&roles, 5).await.len(), 5);
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_asked_for_by_its_token() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), fetch(2), fetch(3)]).await;
    let token = ClaimToken::random();
    queue.settle_and_claim(ClaimBatch { token, ..asks(2) }).await;
    queue.settle_and_claim(asks(1)).await;
    let client = queue.client().await;
    let found = tasks::claimed_with(&client, token).await.unwrap();
    assert_eq!(ids(&found), made[..2]);
    assert!(tasks::claimed_with(&client, ClaimToken::random()).await.unwrap().is_empty());
    queue.settle(&found[0], &tasks::Settlement::released("stopping")).await.unwrap();
    assert_eq!(
        ids(&tasks::claimed_with(&client, token).await.unwrap()),
        made[1..2],
        "what has ended is not taken again"
    );
}

#[tokio::test]
async fn what_a_token_got_is_not_known_while_its_claim_may_still_commit() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let token = ClaimToken::random();
    let tx = queue.database.db.begin().await.unwrap();
    tasks::settle_and_claim(&tx, &ClaimBatch { token, ..asks(1) }).await.unwrap();
    let early = tasks::claimed_with(&queue.client().await, token).await;
    assert!(matches!(early, Err(DbError::Contention(_))), "{early:?}");
    tx.commit().await.unwrap();
    assert_eq!(ids(&tasks::claimed_with(&queue.client().await, token).await.unwrap()), [id]);
}

#[tokio::test]
async fn a_claim_given_back_costs_nothing_and_may_be_claimed_at_once() {
    let queue = Queue::new().await;
    let made = queue.enqueue(&[fetch(1), analytics(), fetch(2)]).await;
    let claimed = queue.claim(&Role::CRAWL, 3).await;
    let begun = claimed.iter().find(|task| task.lease.id == made[2]).unwrap();
    tasks::start(&queue.client().await, &begun.lease).await.unwrap();
    let leases: Vec<_> = claimed.iter().map(|task| task.lease.clone()).collect();
    assert_eq!(tasks::release_unstarted(&queue.client().await, &leases).await.unwrap(), 2);
    let costs = "SELECT sum(retry_count + loss_count + crash_count)::bigint FROM worker_tasks";
    assert_eq!(queue.number(costs).await, 0);
    assert_eq!(queue.task(made[2]).await["status"], json!("running"), "what has begun is not taken away");
    assert_eq!(queue.outcomes(made[0]).await, ["released"]);
    assert_eq!(queue.claim_all().await, made[..2]);
}

#[tokio::test]
async fn a_task_is_never_claimed_before_it_was_created() {
    let queue = Queue::new().await;
    let tx = queue.database.db.begin().await.unwrap();
    // the claiming transaction is older than the task
    tx.query_one("SELECT now()", &[]).await.unwrap();
    queue.add(fetch(1)).await;
    tasks::settle_and_claim(&tx, &asks(1)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks WHERE claimed_at >= created_at").await, 1);
}
