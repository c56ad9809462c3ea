//! Rows that were written by hand and name the credential of another service: it is sent to none.

use db::tasks::NewTask;
use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;

use super::accounts::scrape_of;
use super::harness::{MediaHarness, job};
use super::secret_jobs::cookie_file;

const CANARY: &str = "canary-of-another-service";

enum Row {
    Thread,
    /// A file of a forum.
    File,
    Account,
    /// A page of an account.
    Page,
}

impl MediaHarness {
    async fn foreign_credential(&self) -> i64 {
        let secret = cookie_file("xf_user", CANARY);
        self.add_credential(json!({"name": "other", "platform": "other", "kind": "cookies", "secret": secret})).await
    }

    /// Gives the credential to all rows, as a person with psql does.
    async fn give_to_all(&self, table: &str, credential: i64) {
        let sql = format!("UPDATE {table} SET credential_id = $1");
        self.database.raw.execute(&sql, &[&credential]).await.unwrap();
    }

    /// A job for a row whose credential is of another service.
    async fn job_of(&self, row: Row) -> NewTask {
        let credential = self.foreign_credential().await;
        let (task, table) = match row {
            Row::Thread => {
                let forum = self.forum("xenforo", None).await;
                self.thread(forum, 21, false).await;
                (job(Role::ForumScrape, json!({})), "forums")
            }
            Row::File => {
                self.forum("xenforo", None).await;
                let ids = self.know(&[&self.files_of_account("alice")[0]]).await;
                self.database.raw.batch_execute("UPDATE media_items SET source = 'xenforo'").await.unwrap();
                (job(Role::DownloadMedia, json!({"media_ids": ids})), "forums")
            }
            Row::Account => {
                self.add_account("alice", json!({})).await;
                (scrape_of("alice", json!({})), "media_accounts")
            }
            Row::Page => {
                let account = self.add_account("alice", json!({})).await;
                let page = self.know_page().await;
                let sql = "UPDATE media_items SET account_id = $1";
                self.database.raw.execute(sql, &[&account]).await.unwrap();
                (job(Role::DownloadMedia, json!({"media_ids": [page]})), "media_accounts")
            }
        };
        self.give_to_all(table, credential).await;
        task
    }
}

#[rstest]
#[case::of_a_forum(Row::Thread, "xenforo")]
#[case::of_a_forum_for_a_file(Row::File, "xenforo")]
#[case::of_an_account(Row::Account, "mastodon")]
#[case::of_an_account_for_a_page(Row::Page, "mastodon")]
#[tokio::test]
async fn a_credential_of_another_service_ends_the_job_for_good_and_goes_nowhere(
    #[case] row: Row,
    #[case] platform: &str,
) {
    let harness = MediaHarness::start().await;
    let task = harness.job_of(row).await;
    let Err(TaskError::Permanent { reason }) = harness.run_task(task).await else { panic!("it does not end for good") };
    assert!(reason.contains(&format!("credential other is for other, not for {platform}")), "{reason}");
    assert!(!reason.contains(CANARY), "{reason}");
    assert_eq!(harness.requests_sent(), 0);
    let left = harness.left();
    assert!(left.iter().all(|path| path.extension().is_some_and(|of| of == "lock")), "{left:?}");
}
