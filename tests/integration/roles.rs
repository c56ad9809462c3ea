//! The roles that the database knows, held to the program's table of roles; and which workers claim which.

use db::tasks::{ClaimBatch, NewTask};
use domain::task::role::{Family, Role, RoleSet};
use rstest::rstest;
use strum::VariantArray;

use crate::queue::{Queue, asks, ids};

#[tokio::test]
async fn a_task_inserted_by_hand_is_what_its_kind_says() {
    let queue = Queue::new().await;
    for role in Role::VARIANTS.iter().copied() {
        let insert = "INSERT INTO worker_tasks (role) VALUES ($1) RETURNING family, notifies, id";
        let row = queue.database.raw.query_one(insert, &[&role.name()]).await.unwrap();
        let kind = role.kind();
        assert_eq!((row.get(0), row.get(1)), (kind.family.name(), kind.notifies), "{role}");
        let is_job = format!("SELECT count(*) FROM worker_job_queue WHERE id = {}", row.get::<_, i64>(2));
        assert_eq!(queue.number(&is_job).await, i64::from(kind.family == Family::Media), "{role}");
    }
}

#[tokio::test]
async fn a_task_whose_role_is_changed_by_hand_changes_its_family() {
    let queue = Queue::new().await;
    let id = queue.add(NewTask::new(Role::AnalyticsRefresh)).await;
    let change = "UPDATE worker_tasks SET role = 'download_media' WHERE id = $1 RETURNING family";
    assert_eq!(queue.database.raw.query_one(change, &[&id]).await.unwrap().get::<_, &str>(0), "media");
}

#[tokio::test]
async fn an_unknown_role_is_refused_with_those_that_are_known() {
    let queue = Queue::new().await;
    let insert = "INSERT INTO worker_tasks (role) VALUES ('fishing')";
    let error = queue.database.raw.execute(insert, &[]).await.unwrap_err();
    let message = error.as_db_error().unwrap().message().to_owned();
    assert!(message.starts_with("unknown role fishing: the roles are analytics_refresh, "), "{message}");
}

#[tokio::test]
async fn a_ready_service_takes_its_place_by_priority_among_all_crawls() {
    let queue = Queue::new().await;
    let urgent = queue.add(NewTask { priority: 20, ..NewTask::new(Role::AnalyticsRefresh) }).await;
    let routine =
        queue.add(NewTask { platform: Some("dutchie".to_owned()), ..NewTask::new(Role::StoreDiscovery) }).await;
    let sender = queue.add(NewTask::new(Role::Notify)).await;
    let any = RoleSet::any().roles().to_vec();
    for expected in [urgent, sender, routine] {
        let batch = ClaimBatch { roles: any.clone(), ..asks(1) };
        assert_eq!(ids(&queue.settle_and_claim(batch).await), [expected]);
    }
}

#[tokio::test]
async fn a_media_task_is_claimed_by_media_workers_only() {
    let queue = Queue::new().await;
    let media = queue.add(NewTask::new(Role::DownloadMedia)).await;
    let crawl = queue.add(NewTask::new(Role::AnalyticsRefresh)).await;
    let claim = async |roles: &str| {
        let roles = roles.parse::<RoleSet>().unwrap().roles().to_vec();
        ids(&queue.settle_and_claim(ClaimBatch { roles, ..asks(10) }).await)
    };
    assert_eq!(claim("any").await, [crawl]);
    assert_eq!(claim("media").await, [media]);
}

#[rstest]
#[case::any("any")]
#[case::media("media")]
#[tokio::test]
async fn a_sender_of_notifications_is_claimed_by_workers_of_either_family(#[case] roles: &str) {
    let queue = Queue::new().await;
    let sender = queue.add(NewTask::new(Role::Notify)).await;
    let roles = roles.parse::<RoleSet>().unwrap().roles().to_vec();
    assert_eq!(ids(&queue.settle_and_claim(ClaimBatch { roles, ..asks(10) }).await), [sender]);
}

#[tokio::test]
async fn a_worker_of_both_families_claims_from_both() {
    let queue = Queue::new().await;
    let media = queue.add(NewTask::new(Role::DownloadMedia)).await;
    let crawl = queue.add(NewTask::new(Role::AnalyticsRefresh)).await;
    let roles = "any,media".parse::<RoleSet>().unwrap().roles().to_vec();
    let mut claimed = ids(&queue.settle_and_claim(ClaimBatch { roles, ..asks(10) }).await);
    claimed.sort_unstable();
    assert_eq!(claimed, [media, crawl]);
}
