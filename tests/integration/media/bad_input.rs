//! Bad input, over HTTP and in rows that were written by hand: it is refused with its field, or ends its job, and becomes
//! neither a path nor a process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::task::role::Role;
use http::Method;
use queue::TaskError;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AccountKind, AccountPlan, MediaPlan};

use super::accounts::{has_tool, processes_in, scrape_of};
use super::harness::{KEY, MediaHarness};
use crate::api::server::Server;

const NOTHING: Vec<PathBuf> = Vec::new();
/// One more than a job may have.
const TOO_MANY: usize = 1_001;

fn large_name() -> String {
    "a".repeat(4 << 10)
}

impl MediaHarness {
    /// No request, no file, no process.
    fn assert_untouched(&self) {
        assert_eq!(self.requests_sent(), 0);
        assert_eq!(self.left(), NOTHING);
        std::fs::create_dir_all(&self.services.media.work_dir).unwrap();
        assert_eq!(processes_in(&self.services.media.work_dir), Vec::<u32>::new());
    }
}

#[tokio::test]
async fn a_download_of_too_many_items_is_refused_over_http() {
    let server = Server::start().await;
    let body = json!({"job_type": "download_media", "payload": {"media_ids": vec![1; TOO_MANY]}});
    let problem = server.post("/api/jobs", body).await.problem(400);
    assert_eq!(problem["field"], "payload");
    assert!(problem["detail"].as_str().unwrap().contains("media_ids: 1001 ids"), "{problem}");
}

#[tokio::test]
async fn a_download_of_too_many_items_that_was_written_by_hand_ends_for_good() {
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    harness.know(&[&files[0]]).await;
    let sql = "INSERT INTO worker_job_queue (job_type, payload) VALUES ('download_media', $1)";
    harness.database.raw.execute(sql, &[&json!({"media_ids": vec![1; TOO_MANY]})]).await.unwrap();
    let task = harness.claim(Role::DownloadMedia).await;
    let ended = harness.run_claimed(&task).await;
    let Err(TaskError::Permanent { reason }) = ended else { panic!("it does not end for good") };
    assert!(reason.contains("media_ids: 1001 ids"), "{reason}");
    harness.assert_untouched();
}

#[tokio::test]
async fn a_name_that_no_account_has_is_refused_over_http() {
    let server = Server::with(|config| config.max_body_bytes = 64 << 10).await;
    let cases: [(&str, String); 3] =
        [("two lines", "ann\nbea".to_owned()), ("a path", "../ann".to_owned()), ("four kilobytes", large_name())];
    for (case, name) in cases {
        println!("{case}");
        let account = json!({"platform": "mastodon", "username": name});
        assert_eq!(server.post("/api/media/accounts", account).await.problem(400)["field"], "username");
        let job = json!({"job_type": "scrape_account", "platform": "mastodon", "account": name});
        assert_eq!(server.post("/api/jobs", job).await.problem(400)["field"], "account");
        let job = json!({"job_type": "scrape_account", "platform": "mastodon", "payload": {"username": name}});
        assert_eq!(server.post("/api/jobs", job).await.problem(400)["field"], "payload");
    }
}

#[tokio::test]
async fn a_name_that_no_account_has_becomes_no_path_and_no_process() {
    let harness = MediaHarness::start().await;
    let cases: [(&str, String); 3] =
        [("two lines", "ann\nbea".to_owned()), ("a path", "../ann".to_owned()), ("four kilobytes", large_name())];
    for (case, name) in cases {
        println!("{case}");
        let ended = harness.run_task(scrape_of(&name, json!({}))).await;
        let Err(TaskError::Permanent { reason }) = ended else { panic!("it does not end for good") };
        assert!(reason.contains("name must be 1 to 200 characters"), "{reason}");
        harness.assert_untouched();
    }
}

#[tokio::test]
async fn a_forum_on_a_private_network_is_refused() {
    let server = Server::start().await;
    for address in ["http://127.0.0.1/board", "http://10.0.0.7", "http://[::1]:8080", "http://localhost/board"] {
        let forum = json!({"name": "board", "kind": "phpbb", "base_url": address});
        assert_eq!(server.post("/api/media/forums", forum).await.problem(400)["field"], "base_url", "{address}");
    }
}

#[tokio::test]
async fn selectors_of_a_forum_are_an_object_of_texts() {
    let server = Server::start().await;
    let draft = |selectors| json!({"name": "board", "kind": "phpbb", "base_url": "https://forum.example", "selectors": selectors});
    let forum = server.post("/api/media/forums", draft(json!({}))).await.expect(201)["id"].clone();
    for (selectors, field) in [
        (json!([null, null, null, null, null, null, null, null]), "selectors"),
        (json!([]), "selectors"),
        (json!({"media": [null]}), "selectors.media[0]"),
    ] {
        assert_eq!(server.post("/api/media/forums", draft(selectors.clone())).await.problem(400)["field"], field);
        let change = server.request(Method::PUT, &format!("/api/media/forums/{forum}"));
        let change =
            change.header("content-type", "application/json").body(json!({"selectors": selectors}).to_string().into());
        assert_eq!(server.send(change.unwrap()).await.problem(400)["field"], field);
    }
}

#[rstest]
#[case::another_platform(json!({"name": "a", "platform": "tmdb", "kind": "cookies", "secret": "s"}))]
#[case::another_kind(json!({"name": "a", "platform": "board", "kind": "token", "secret": "s"}))]
#[tokio::test]
async fn a_forum_has_a_credential_of_its_name_that_can_log_in(#[case] credential: Value) {
    let server = Server::with_key(KEY).await;
    let id = server.post("/api/media/credentials", credential).await.expect(201)["id"].clone();
    let forum = json!({"name": "board", "kind": "phpbb", "base_url": "https://forum.example", "credential_id": id});
    assert_eq!(server.post("/api/media/forums", forum).await.problem(400)["field"], "credential_id");
    assert_eq!(server.get("/api/media/forums").await.expect(200)["records"], json!([]));
}

#[tokio::test]
async fn a_file_that_is_named_like_a_path_is_stored_by_its_content() {
    if !has_tool() {
        return;
    }
    let accounts = vec![AccountPlan::new("mallory", 3).naming_a_path()];
    let harness = MediaHarness::facing(MediaPlan { accounts, ..MediaPlan::default() }).await;
    let account = harness.site.account(AccountKind::Mastodon, "mallory").unwrap();
    assert!(account.files().any(|file| file.path.contains("..%2F..%2F")));
    harness.add_account("mallory", json!({})).await;
    harness.settle_task(scrape_of("mallory", json!({}))).await;
    harness.assert_like(&harness.files_of_account("mallory")).await;
    assert_eq!(harness.left(), NOTHING);
    // two directories above the file is the root of the storage
    let own = BTreeSet::from(["media", "media-work", "payloads"].map(str::to_owned));
    assert_eq!(names_in(harness.storage.path()), own);
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
