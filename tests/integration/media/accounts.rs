//! `scrape_account`: the media of accounts by the real gallery-dl, against the site's oracle.

use std::collections::BTreeMap;
use std::path::Path;

use contract::media::RecordKind;
use contract::media::accounts::{Account, AccountDraft};
use contract::media::credentials::Credential;
use contract::media::items::{ItemFilter, ItemView};
use db::tasks::NewTask;
use domain::media::item::{ItemKind, ItemState};
use domain::task::role::Role;
use domain::vocabulary::Word;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AccountKind, MediaFault, MediaFaultKind, MediaFile, Origin};
use testkit::{PATIENCE, until};

use super::harness::{MediaHarness, job};

const PLATFORM: &str = "mastodon";
const CANARY: &str = "account-token-of-carol";
/// Number of posts in a page of the site.
const PAGE: usize = 20;

pub fn has_tool() -> bool {
    testkit::has_media_tool("gallery-dl")
}

impl MediaHarness {
    /// A row with the address of one of the site's accounts.
    pub async fn add_account(&self, username: &str, fields: Value) -> i64 {
        let url = self.site.account_address(AccountKind::Mastodon, username);
        let mut draft = json!({"platform": PLATFORM, "username": username, "url": url});
        draft.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.add::<Account>(serde_json::from_value::<AccountDraft>(draft).unwrap()).await
    }

    async fn remove_account(&self, id: i64) {
        let tx = self.database.db.begin_api().await.unwrap();
        db::media::records::delete(&tx, RecordKind::Accounts, id).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// The items of an account, as they are listed.
    async fn listed(&self, account: i64) -> Vec<ItemView> {
        let filter = ItemFilter { account_id: Some(account), ..ItemFilter::default() };
        db::media::items::list(&self.database.db.client().await.unwrap(), &filter, 10_000).await.unwrap()
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
    pub async fn assert_like(&self, files: &[MediaFile]) {
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
pub fn scrape_of(username: &str, args: Value) -> NewTask {
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

#[tokio::test]
async fn a_site_whose_posts_have_no_number_is_known_the_second_time() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let url = harness.site.account_address(AccountKind::Moebooru, "x");
    let draft = json!({"platform": "moebooru", "username": "x", "url": url});
    harness.add::<Account>(serde_json::from_value::<AccountDraft>(draft).unwrap()).await;
    let scrape = async |args: Value| {
        let task = NewTask { platform: Some("moebooru".to_owned()), ..scrape_of("x", args) };
        harness.settle_task(task).await.result
    };
    assert_eq!(scrape(json!({})).await, counts(4, 0, 0));
    let files: Vec<MediaFile> = harness.site.account(AccountKind::Moebooru, "x").unwrap().files().cloned().collect();
    let sent = || files.iter().map(|file| harness.site.bytes_sent(&file.path)).sum::<u64>();
    let before = sent();
    assert_eq!(scrape(json!({})).await, counts(0, 4, 0));
    assert_eq!(scrape(json!({"scrape_type": "full"})).await, counts(0, 4, 0));
    assert_eq!(sent(), before, "it is downloaded again");
}

#[tokio::test]
async fn accounts_that_show_the_same_files_know_them_both() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let url = harness.site.account_address(AccountKind::Mastodon, "bob");
    let first = harness.add_account("bob", json!({})).await;
    let second = harness.add_account("his-other-name", json!({"url": url})).await;
    let known = harness.files_of_account("bob").len();
    for name in ["bob", "his-other-name"] {
        assert_eq!(harness.scrape(name).await, counts(known, 0, 0));
    }
    let post = harness.site.publish_post(AccountKind::Mastodon, "bob").unwrap();
    for name in ["his-other-name", "bob"] {
        assert_eq!(
            harness.scrape(name).await,
            counts(post.files.len(), 20, 0),
            "a recent scrape of {name} stays recent"
        );
    }
    let (files, sent) = (harness.files_of_account("bob"), harness.sent("bob"));
    for name in ["bob", "his-other-name"] {
        assert_eq!(harness.scrape(name).await, counts(0, 20, 0));
        assert_eq!(harness.scrape_fully(name).await, counts(0, files.len(), 0));
    }
    assert_eq!(harness.sent("bob"), sent);
    harness.assert_like(&files).await;
    assert_eq!(harness.listed(first).await.len(), files.len() - post.files.len());

    harness.remove_account(first).await;
    let left = harness.listed(second).await;
    assert!(left.len() == files.len() && left.iter().all(|item| item.account_id == Some(second)));
    assert_eq!(harness.scrape("his-other-name").await, counts(0, 20, 0));
    assert_eq!(harness.sent("bob"), sent);
}

#[tokio::test]
async fn a_recent_scrape_is_not_ended_by_files_of_an_account_that_was_removed() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let url = harness.site.account_address(AccountKind::Mastodon, "bob");
    harness.add_account("bob", json!({})).await;
    harness.scrape("bob").await;
    let behind = harness.site.publish_post(AccountKind::Mastodon, "bob").unwrap();
    let other = harness.add_account("his-other-name", json!({"url": url})).await;
    let newer: Vec<_> = (0..20).map(|_| harness.site.publish_post(AccountKind::Mastodon, "bob").unwrap()).collect();
    harness.scrape("his-other-name").await;
    harness.remove_account(other).await;
    // as if only bob had shown the post behind them
    let names: Vec<String> = (0..=4).map(|number| format!("{}_{number}", behind.id)).collect();
    harness.database.raw.execute("DELETE FROM media_items WHERE source_id = ANY ($1)", &[&names]).await.unwrap();

    harness.scrape("bob").await;
    let brought = newer.iter().chain([&behind]).flat_map(|post| &post.files);
    let items = harness.items().await;
    for file in brought {
        assert!(items.iter().any(|item| item.url.ends_with(&file.path)), "{} is missing", file.path);
    }
}

#[tokio::test]
async fn an_account_that_is_removed_and_added_again_has_its_files() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let removed = harness.add_account("alice", json!({})).await;
    harness.scrape("alice").await;
    let (files, sent) = (harness.files_of_account("alice"), harness.sent("alice"));
    harness.remove_account(removed).await;

    let added = harness.add_account("alice", json!({})).await;
    assert_eq!(harness.scrape("alice").await, counts(0, files.len(), 0));
    assert_eq!(harness.sent("alice"), sent);
    assert!(harness.items().await.iter().all(|item| item.account_id == Some(added)));
    assert_eq!(harness.scrape("alice").await, counts(0, files.len(), 0));
    harness.assert_like(&files).await;
}

#[tokio::test]
async fn a_recent_scrape_stops_at_what_is_known_and_a_full_one_goes_on() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add_account("bob", json!({})).await;
    let before = harness.files_of_account("bob").len();
    assert_eq!(harness.scrape("bob").await, counts(before, 0, 0), "a first one is whole");
    let post = harness.site.publish_post(AccountKind::Mastodon, "bob").unwrap();
    assert_eq!(harness.scrape("bob").await, counts(post.files.len(), 20, 0));
    let all = harness.files_of_account("bob");
    harness.assert_like(&all).await;
    assert_eq!(harness.scrape_fully("bob").await, counts(0, all.len(), 0));
}

#[tokio::test]
async fn a_scrape_that_was_cut_off_leaves_no_gap_behind_what_is_known() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add_account("bob", json!({})).await;
    let files = harness.files_of_account("bob");
    harness.site.add_fault(&files[30].path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
    let asked = until("a file stalls", PATIENCE, async || harness.site.bytes_sent(&files[30].path) > 0);
    let stopped = harness.run_task_until(scrape_of("bob", json!({})), asked).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    let known = harness.items().await.len();
    assert!(known > 20, "{known}");
    let sent = harness.sent("bob");
    assert_eq!(harness.scrape("bob").await, counts(files.len() - known, known, 0));
    harness.assert_like(&files).await;
    let again = harness.sent("bob");
    assert!(files[..30].iter().all(|file| sent[&file.path] == again[&file.path]), "a file was sent again");
}

#[tokio::test]
async fn the_result_counts_the_files_of_all_runs_of_the_task() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add_account("alice", json!({})).await;
    let files = harness.files_of_account("alice");
    let last = files.last().unwrap();
    harness.site.add_fault(&last.path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
    let asked = until("the last file stalls", PATIENCE, async || harness.site.bytes_sent(&last.path) > 0);
    let result = harness.settle_in_two_runs(scrape_of("alice", json!({})), asked).await.result;
    assert_eq!(result, counts(files.len(), 0, 0));
}

#[tokio::test]
async fn a_file_that_fails_fails_no_other_and_comes_later() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let id = harness.add_account("alice", json!({})).await;
    let mut files = harness.files_of_account("alice");
    let missing = files.remove(1);
    harness.site.add_fault(&missing.path, MediaFault::new(MediaFaultKind::Status(404)));
    assert_eq!(harness.scrape("alice").await, counts(files.len(), 0, 1));
    harness.assert_like(&files).await;
    let failed = harness.items().await.into_iter().find(|item| item.sha256.is_none()).unwrap();
    assert_eq!((failed.state, failed.attempts), (Word::Known(ItemState::Failed), 1));
    assert!(failed.last_error.is_some() && failed.url.ends_with(&missing.path));
    assert_eq!(harness.scrape("alice").await, counts(0, files.len(), 1), "what is known is not nothing");
    assert!(harness.get::<Account>(id).await.last_scraped_at.is_some());

    harness.site.remove_faults(&missing.path);
    assert_eq!(harness.scrape_fully("alice").await, counts(1, files.len(), 0));
    harness.assert_like(&harness.files_of_account("alice")).await;
}

#[tokio::test]
async fn a_page_of_posts_that_fails_is_asked_again_by_the_next_scrape() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let id = harness.add_account("bob", json!({})).await;
    let last_of_first = harness.site.account(AccountKind::Mastodon, "bob").unwrap().posts[PAGE - 1].id;
    let second = &format!("/api/v1/accounts/bob/statuses?limit={PAGE}&max_id={last_of_first}");
    harness.site.add_fault(second, MediaFault::new(MediaFaultKind::Status(404)));
    let first = harness.scrape("bob").await;
    let account: Account = harness.get(id).await;
    assert!(account.last_scraped_at.is_none() && account.last_error.is_some(), "{account:?}");
    harness.site.remove_faults(second);
    let files = harness.files_of_account("bob");
    let known = first["files"].as_u64().unwrap() as usize;
    assert_eq!(harness.scrape("bob").await, counts(files.len() - known, known, 0));
    harness.assert_like(&files).await;
    assert_eq!(harness.get::<Account>(id).await.last_error, None);
}

#[tokio::test]
async fn an_account_without_a_row_has_the_address_of_its_platform_and_gets_a_row() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    let by_name = NewTask { account: None, ..scrape_of("", json!({"username": "alice"})) };
    assert_eq!(harness.settle_task(by_name).await.result, counts(files.len(), 0, 0));
    harness.assert_like(&files).await;
    assert_eq!(harness.scrape("alice").await, counts(0, files.len(), 0));
    let rows =
        harness.database.raw.query("SELECT username, kind, last_scraped_at FROM media_accounts", &[]).await.unwrap();
    assert_eq!((rows.len(), rows[0].get::<_, &str>(0), rows[0].get::<_, &str>(1)), (1, "alice", "public"));

    let unknown = reason(harness.run_task(scrape_of("nobody", json!({}))).await);
    assert!(unknown.contains("could not be found"), "{unknown}");
    let rows = harness.database.raw.query("SELECT FROM media_accounts", &[]).await.unwrap();
    assert_eq!(rows.len(), 1, "a name that the site does not know leaves no row");
}

#[tokio::test]
async fn a_token_goes_to_its_site_alone_and_into_no_row_and_no_command_line() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let credential = json!({"name": "carol", "platform": PLATFORM, "kind": "token", "secret": CANARY});
    let credential = harness.add_credential(credential).await;
    harness.add_account("carol", json!({"credential_id": credential})).await;
    let files = harness.files_of_account("carol");
    harness.site.add_fault(&files[0].path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
    let looked = async {
        until("a file stalls", PATIENCE, async || harness.site.bytes_sent(&files[0].path) > 0).await;
        let tools = processes_in(&harness.services.media.work_dir);
        assert!(!tools.is_empty(), "the tool runs");
        for process in tools {
            for file in ["cmdline", "environ"] {
                let shown = std::fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
                assert!(!String::from_utf8_lossy(&shown).contains(CANARY), "{file}");
            }
        }
    };
    let stopped = harness.run_task_until(scrape_of("carol", json!({})), looked).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    assert_eq!(processes_in(&harness.services.media.work_dir), Vec::<u32>::new(), "a cancel ends the tool");

    assert_eq!(harness.scrape("carol").await, counts(files.len(), 0, 0));
    harness.assert_like(&files).await;
    assert_eq!(harness.get::<Credential>(credential).await.last_result.as_deref(), Some("works"));
    let seen = harness.site.occurrences(CANARY);
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.origin == Origin::Site));
    for table in ["media_items", "media_accounts", "worker_tasks", "task_attempts", "credentials"] {
        let sql = format!("SELECT count(*) FROM {table} t WHERE t::text LIKE '%{CANARY}%'");
        assert_eq!(harness.database.raw.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
    }
}

#[tokio::test]
async fn cookies_go_to_their_host_alone_and_their_file_with_the_scrape() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let secret = format!("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{CANARY}\n");
    let credential = json!({"name": "cookies", "platform": PLATFORM, "kind": "cookies", "secret": secret});
    let credential = harness.add_credential(credential).await;
    harness.add_account("alice", json!({"credential_id": credential})).await;
    let files = harness.files_of_account("alice");
    for file in &files {
        harness.site.add_fault(&file.path, MediaFault::new(MediaFaultKind::RedirectElsewhere));
    }
    assert_eq!(harness.scrape("alice").await, counts(files.len(), 0, 0));
    harness.assert_like(&files).await;
    let seen = harness.site.occurrences(CANARY);
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.origin == Origin::Site), "{seen:?}");
    assert!(harness.site.requests().iter().any(|request| request.origin == Origin::Elsewhere));
    assert_eq!(harness.left(), Vec::<std::path::PathBuf>::new());
}

/// Processes whose home is below this directory.
pub fn processes_in(work: &Path) -> Vec<u32> {
    let home = format!("HOME={}", work.canonicalize().unwrap().display());
    let numbers =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_there = |process: &u32| {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(home.as_bytes()))
    };
    numbers.filter(is_there).collect()
}

#[rstest]
#[case::unauthorized(401)]
#[case::forbidden(403)]
#[tokio::test]
async fn a_credential_that_the_site_refuses_is_marked(#[case] status: u16) {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let login = json!({"name": "board", "platform": "moebooru", "kind": "password", "username": "u", "secret": CANARY});
    let credential = harness.add_credential(login).await;
    let url = harness.site.account_address(AccountKind::Moebooru, "x");
    let draft = json!({"platform": "moebooru", "username": "x", "url": url, "credential_id": credential});
    let id = harness.add::<Account>(serde_json::from_value::<AccountDraft>(draft).unwrap()).await;
    harness.site.add_fault("/post.json", MediaFault::new(MediaFaultKind::Status(status)));
    let task = NewTask { platform: Some("moebooru".to_owned()), ..scrape_of("x", json!({})) };
    let refused = reason(harness.run_task(task.clone()).await);
    assert!(refused.contains(&status.to_string()) && !refused.contains(CANARY), "{refused}");
    let result = harness.get::<Credential>(credential).await.last_result;
    assert_eq!(result.as_deref(), Some("the service refuses it"));
    assert_eq!(harness.get::<Account>(id).await.last_error, Some(refused));

    harness.site.remove_faults("/post.json");
    assert_eq!(harness.settle_task(task).await.result, counts(4, 0, 0));
    assert_eq!(harness.get::<Credential>(credential).await.last_result.as_deref(), Some("works"));
    assert_eq!(harness.get::<Account>(id).await.last_error, None);
}

#[tokio::test]
async fn a_job_that_names_no_account_ends_for_good() {
    let harness = MediaHarness::start().await;
    let cases: [(NewTask, &str); 7] = [
        (scrape_of("ann", json!({"username": "bea"})), "ann"),
        (NewTask { account: None, ..scrape_of("", json!({})) }, "name of an account"),
        (scrape_of("../../etc", json!({})), "name must"),
        (scrape_of("a/../../b", json!({})), "name must"),
        (NewTask { platform: Some("--exec".to_owned()), ..scrape_of("ann", json!({})) }, "media.platforms.--exec.url"),
        (NewTask { platform: Some("other".to_owned()), ..scrape_of("ann", json!({})) }, "media.platforms.other.url"),
        (NewTask { platform: None, ..scrape_of("ann", json!({})) }, "needs a platform"),
    ];
    for (task, expected) in cases {
        println!("{expected}");
        let reason = reason(harness.run_task(task).await);
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(harness.left(), Vec::<std::path::PathBuf>::new());
    }
}

#[tokio::test]
async fn an_address_that_was_written_by_hand_is_checked_again() {
    let harness = MediaHarness::start().await;
    harness.add_account("alice", json!({})).await;
    for address in ["file:///etc/passwd", "r:file:///etc/passwd", "https://a.example/\nfile:///etc/passwd"] {
        harness.database.raw.execute("UPDATE media_accounts SET url = $1", &[&address]).await.unwrap();
        let reason = reason(harness.run_task(scrape_of("alice", json!({}))).await);
        assert!(reason.contains("the account's address must"), "{reason}");
    }
}

#[tokio::test]
async fn a_private_address_is_refused_unless_it_is_permitted() {
    let harness = MediaHarness::with(Default::default(), &[("media.allow_private", "false")]).await;
    let reason = reason(harness.run_task(scrape_of("alice", json!({}))).await);
    assert!(reason.contains("media.allow_private"), "{reason}");
}

#[tokio::test]
async fn a_missing_tool_is_named_with_its_remedy() {
    let harness = MediaHarness::with(Default::default(), &[("media.gallery_dl", "/nowhere/gallery-dl")]).await;
    let reason = reason(harness.run_task(scrape_of("alice", json!({}))).await);
    assert!(reason.contains("pip install gallery-dl"), "{reason}");
}

#[tokio::test]
async fn an_account_that_another_run_scrapes_is_waited_for() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    harness.site.add_fault(&files[0].path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
    let other = async {
        until("the first run is in a file", PATIENCE, async || harness.site.bytes_sent(&files[0].path) > 0).await;
        let second = harness.run_task(scrape_of("alice", json!({}))).await;
        assert!(matches!(second, Err(TaskError::Snooze { .. })));
    };
    harness.run_task_until(scrape_of("alice", json!({})), other).await.err().unwrap();
}
