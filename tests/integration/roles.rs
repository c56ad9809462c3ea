//! The roles that the database knows, held to the program's table of roles; and which workers claim which.

use std::collections::BTreeSet;

use db::tasks::{ClaimBatch, NewTask};
use domain::role::{Family, Role, RoleSet};
use rstest::rstest;
use strum::VariantArray;

use crate::queue::{Queue, asks, ids};

#[tokio::test]
async fn the_table_allows_exactly_the_programs_roles() {
    let queue = Queue::new().await;
    let check = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'worker_tasks_role_check'";
    let definition: String = queue.database.raw.query_one(check, &[]).await.unwrap().get(0);
    // beside the roles' names, lower case has the column's name and its type
    let words = definition.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    let allowed: BTreeSet<&str> = words.filter(|word| !["", "role", "text"].contains(word)).collect();
    assert_eq!(allowed, Role::VARIANTS.iter().map(|role| role.name()).collect());
}

#[rstest]
#[case::crawl(Family::Crawl, "SELECT crawl_roles()")]
#[case::media(Family::Media, "SELECT media_roles()")]
#[tokio::test]
async fn a_family_has_the_same_roles_in_sql_as_in_the_program(#[case] family: Family, #[case] sql: &str) {
    let queue = Queue::new().await;
    let in_sql: Vec<String> = queue.database.raw.query_one(sql, &[]).await.unwrap().get(0);
    let in_program: BTreeSet<&str> = family.roles().map(Role::name).collect();
    assert_eq!(in_sql.iter().map(String::as_str).collect::<BTreeSet<_>>(), in_program);
    assert_eq!(in_sql.len(), in_program.len(), "a role is named twice");
    for role in in_program {
        let row = queue.database.raw.query_one("SELECT role_family($1)", &[&role]).await.unwrap();
        assert_eq!(row.get::<_, String>(0), family.to_string(), "{role}");
    }
}

#[tokio::test]
async fn the_trigger_the_view_and_the_index_of_jobs_know_every_media_role() {
    let queue = Queue::new().await;
    let definition = async |sql: &str| queue.database.raw.query_one(sql, &[]).await.unwrap().get::<_, String>(0);
    let trigger = definition("SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'notify_end'").await;
    let view = definition("SELECT pg_get_viewdef('worker_job_queue'::regclass)").await;
    let index = include_str!("../../crates/db/src/sql/indexes/worker_tasks_jobs.sql").to_owned();
    for role in Family::Media.roles().map(Role::name) {
        for definition in [&trigger, &view, &index] {
            assert!(definition.contains(role), "{role} is missing in {definition}");
        }
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
