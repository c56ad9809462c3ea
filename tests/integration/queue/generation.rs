//! Many tasks by request: a day's crawls, a state's stores, a discovery, and recovery by request.

use chrono::{Days, Utc};
use contract::generation::{DiscoveryRequest, Resync, ResyncRequest, StateRequest, StateTasks};
use contract::tasks::RecoveryCounts;
use db::tasks;
use db::tasks::generation::GenerationError;
use foundation::clock::Clock;
use serde_json::json;

use super::*;

impl Queue {
    async fn resync(&self, request: ResyncRequest) -> Resync {
        tasks::generation::resync(&self.client().await, &request).await.unwrap()
    }

    async fn of_state(&self, state: &str) -> StateTasks {
        let request = StateRequest { state_code: state.parse().unwrap(), role: None, priority: Some(20) };
        tasks::generation::of_state(&self.client().await, &request).await.unwrap()
    }

    /// Half of the stores are in Arizona, by turns.
    async fn stores_of_two_states(&self, count: i32) -> Vec<StoreId> {
        let stores = self.stores(count).await;
        self.sql("UPDATE dispensaries SET state = CASE WHEN id % 2 = 0 THEN 'AZ' ELSE 'CA' END").await;
        stores
    }
}

#[tokio::test]
async fn a_resync_spreads_the_stores_over_the_day_and_says_how_many_it_made() {
    let queue = Queue::new().await;
    let stores = queue.stores(12).await;
    let day = Clock::system().utc().date_naive() + Days::new(2);
    queue.sql(&format!("INSERT INTO worker_tasks (role, dispensary_id, scheduled_for) VALUES ('payload_fetch', {}, '{day} 23:00Z')", stores[3])).await;
    let made = queue.resync(ResyncRequest { date: Some(day), ..ResyncRequest::default() }).await;
    let slot = |hour| day.and_hms_opt(hour, 0, 0).map(|time| time.and_local_timezone(Utc).unwrap());
    assert_eq!(made, Resync { count: 11, first_slot: slot(0), last_slot: slot(20), skipped: 1 });
    let again = queue.resync(ResyncRequest { date: Some(day), ..ResyncRequest::default() }).await;
    assert_eq!(again, Resync { count: 0, first_slot: None, last_slot: None, skipped: 12 });
}

#[tokio::test]
async fn a_resync_of_a_state_leaves_the_others_out() {
    let queue = Queue::new().await;
    queue.stores_of_two_states(10).await;
    let request = ResyncRequest { state_code: "AZ".parse().ok(), batches_per_day: Some(1), ..ResyncRequest::default() };
    let made = queue.resync(request).await;
    assert_eq!((made.count, made.first_slot), (5, made.last_slot));
    let elsewhere =
        "SELECT count(*) FROM worker_tasks t JOIN dispensaries d ON d.id = t.dispensary_id WHERE d.state <> 'AZ'";
    assert_eq!(queue.number(elsewhere).await, 0);
    queue.sweep_all().await;
    assert_eq!(queue.claim_all().await.len(), 5, "the slot of today has passed");
}

#[tokio::test]
async fn a_resync_does_not_wait_for_a_person_who_generates() {
    let queue = Queue::new().await;
    queue.stores(2).await;
    queue.sql("BEGIN; SELECT generate_resync_tasks(6, '2025-01-10')").await;
    let refused = tasks::generation::resync(&queue.client().await, &ResyncRequest::default()).await.unwrap_err();
    assert!(matches!(refused, GenerationError::Db(DbError::Contention(_))), "{refused}");
    queue.sql("COMMIT").await;
}

#[tokio::test]
async fn every_crawlable_store_of_a_state_gets_a_task_that_has_none_yet() {
    let queue = Queue::new().await;
    let stores = queue.stores_of_two_states(10).await;
    let in_arizona: Vec<StoreId> = stores.into_iter().filter(|id| id % 2 == 0).collect();
    queue.add(fetch(in_arizona[0])).await;
    queue.sql(&format!("UPDATE dispensaries SET crawl_enabled = false WHERE id = {}", in_arizona[1])).await;
    assert_eq!(queue.of_state("AZ").await, StateTasks { count: 3, skipped: 0, raised: 1 });
    assert_eq!(queue.of_state("AZ").await, StateTasks { count: 0, skipped: 4, raised: 0 });
    assert_eq!(queue.of_state("NV").await, StateTasks::default());
    assert_eq!(queue.claim_all().await.len(), 4, "they are ready at once");
}

#[tokio::test]
async fn a_discovery_is_asked_for_once() {
    let queue = Queue::new().await;
    let request = DiscoveryRequest { platform: "dutchie".to_owned(), state_code: "AZ".parse().ok() };
    let id = queue.request(request.clone().into()).await.unwrap().id;
    let row = queue.task(id).await;
    assert_eq!((&row["role"], &row["priority"]), (&json!("store_discovery"), &json!(10)));
    assert_eq!(row["payload"], json!({"state_code": "AZ"}));
    let refused = queue.request(request.into()).await.unwrap_err();
    assert!(matches!(refused, RequestError::Duplicate { existing, .. } if existing == id), "{refused}");
}

#[tokio::test]
async fn whoever_gave_no_sign_for_so_long_is_recovered_however_many_they_are() {
    let queue = Queue::new().await;
    queue
        .sql(
            "SET xmlbinary = hex; INSERT INTO worker_tasks (role, status, fence, worker_id, claimed_at, last_heartbeat_at, lease_expires_at) \
             SELECT 'analytics_refresh', 'running', 1, 'w', now(), now() - interval '20 minutes', now() + interval '1 hour' \
             FROM generate_series(1, 1200); RESET xmlbinary",
        )
        .await;
    let client = queue.client().await;
    let recover = async |minutes: u64| tasks::recover_silent(&client, Duration::from_secs(60 * minutes)).await.unwrap();
    assert_eq!(recover(30).await, RecoveryCounts::default());
    assert_eq!(recover(10).await, RecoveryCounts { requeued: 1200, failed: 0 });
}
