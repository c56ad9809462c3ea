//! `scrape_account`: the media of accounts by the real gallery-dl, against the site's oracle.

use std::collections::BTreeMap;

use contract::media::accounts::{Account, AccountDraft};
use contract::media::credentials::Credential;
use domain::media_item::{ItemKind, ItemState};
use domain::role::Role;
use domain::vocabulary::Word;
use db::tasks::NewTask;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AccountKind, AccountPlan, MediaFault, MediaFaultKind, MediaFile, MediaPlan};
use testkit::{PATIENCE, until};

use super::harness::{MediaHarness, job, tool_path};

const PLATFORM: &str = "mastodon";
const CANARY: &str = "account-token-of-carol";

/// Without the tool a test says that it is skipped; where CI runs, it fails.
pub fn has_tool() -> bool {
    let is_there = tool_path("gallery-dl").is_file();
    assert!(is_there || std::env::var_os("CI").is_none(), "gallery-dl is missing: ./dev media-tools installs it");
    if !is_there {
        eprintln!("skipped: no gallery-dl; ./dev media-tools installs it");
    }
    is_there
}

impl MediaHarness {
    /// A row with the address of one of the site's accounts.
    pub async fn add_account(&self, username: &str, fields: Value) -> i64 {
        let url = self.site.account_address(AccountKind::Mastodon, username);
        let mut draft = json!({"platform": PLATFORM, "username": username, "url": url});
        draft.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.add::<Account>(serde_json::from_value::<AccountDraft>(draft).unwrap()).await
    }

    async fn scrape(&self, username: &str) -> Value {
        self.settle_task(scrape_of(username, json!({}))).await.result
    }

    async fn scrape_fully(&self, username: &str) -> Value {
        self.settle_task(scrape_of(username, json!({"scrape_type": "full"}))).await.result
    }

    pub fn files_of_account(&self, username: &str) -> Vec<MediaFile> {
        self.site.account(AccountKind::Mastodon, username).unwrap().files().cloned().collect()
    }

    fn sent(&self, username: &str) -> BTreeMap<String, u64> {
        let files = self.files_of_account(username).into_iter();
        files.map(|file| (file.path.clone(), self.site.bytes_sent(&file.path))).collect()
    }

    /// The items, by the paths of their addresses, have the digests of the oracle, and so do the stored files.
    async fn assert_like(&self, files: &[MediaFile]) {
        let items = self.items().await.into_iter();
        let downloaded = items.filter(|item| item.state == Word::Known(ItemState::Downloaded));
        let path = |url: &str| url.strip_prefix(self.site.url()).unwrap().to_owned();
        let found: BTreeMap<String, String> = downloaded.map(|item| (path(&item.url), item.sha256.unwrap())).collect();
        let oracle: BTreeMap<String, String> =
            files.iter().map(|file| (file.path.clone(), file.sha256.clone())).collect();
        assert_eq!(found, oracle);
        let mut digests: Vec<String> = oracle.into_values().collect();
        digests.sort();
        digests.dedup();
        let mut stored: Vec<String> = self.stored().into_iter().map(|(_, digest)| digest).collect();
        stored.sort();
        assert_eq!(stored, digests);
        assert!(self.stored().iter().all(|(path, digest)| path.contains(digest)));
    }
}

/// A job for an account of the site.
fn scrape_of(username: &str, args: Value) -> NewTask {
    let (platform, account) = (Some(PLATFORM.to_owned()), Some(username.to_owned()));
    NewTask { platform, account, ..job(Role::ScrapeAccount, args) }
}

fn counts(files: usize, known: usize, failed: usize) -> Value {
    json!({"files": files, "known": known, "failed": failed, "pages": 0})
}

fn reason(outcome: Result<Outcome, TaskError>) -> String {
    match outcome {
        Err(TaskError::Permanent { reason }) => reason,
        Err(other) => panic!("it does not end for good: {other}"),
        Ok(_) => panic!("it ends well"),
    }
}

#[tokio::test]
async fn an_account_is_scraped_hash_for_hash_and_a_second_time_nothing_is_sent() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let id = harness.add_account("alice", json!({"interval_hours": 6})).await;
    let files = harness.files_of_account("alice");
    assert_eq!(harness.scrape("alice").await, counts(files.len(), 0, 0));
    harness.assert_like(&files).await;
    let items = harness.items().await;
    assert!(items.iter().all(|item| item.account_id == Some(id) && item.kind == Word::Known(ItemKind::File)));
    let post = harness.site.account(AccountKind::Mastodon, "alice").unwrap().posts.remove(0);
    let newest = items.iter().find(|item| item.source_id == format!("{}_1", post.id)).unwrap();
    assert_eq!((newest.posted_at, &newest.metadata["visibility"]), (Some(post.posted_at), &Value::Null));
    let account: Account = harness.get(id).await;
    assert!(account.last_scraped_at.is_some() && account.last_error.is_none());
    assert_eq!(harness.left(), Vec::<std::path::PathBuf>::new());

    let sent = harness.sent("alice");
    assert_eq!(harness.scrape("alice").await, counts(0, files.len(), 0));
    assert_eq!(harness.scrape_fully("alice").await, counts(0, files.len(), 0));
    assert_eq!(harness.sent("alice"), sent);
}
