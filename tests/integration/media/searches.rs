//! `easynews_monitor`: searches, the files that they find, and the login.

use contract::media::credentials::Credential;
use contract::media::items::ItemView;
use contract::media::searches::{Search, SearchDraft};
use domain::task::role::Role;
use queue::TaskError;
use serde_json::{Value, json};
use sim::media::{AfterAnswer, EasynewsFile, MediaPlan, Origin, RawAnswer, RawReceiver};

use super::harness::MediaHarness;

const QUERY: &str = "quiet harbor";
const PASSWORD: &str = "easynews-password";

impl MediaHarness {
    pub async fn add_login(&self, password: &str) -> i64 {
        let login = json!({"name": "members", "platform": "easynews", "kind": "password", "username": "member", "secret": password});
        self.add_credential(login).await
    }

    pub async fn add_search(&self, fields: Value) -> i64 {
        self.add::<Search>(serde_json::from_value::<SearchDraft>(fields).unwrap()).await
    }

    /// Lists the files that are not infected, by their hashes.
    fn wanted(&self) -> Vec<EasynewsFile> {
        let mut files = self.site.search(QUERY).unwrap().files;
        files.retain(|file| !file.is_infected);
        files.sort_by(|a, b| a.hash.cmp(&b.hash));
        files
    }
}

#[tokio::test]
async fn a_search_finds_every_file_that_is_not_infected() {
    let harness = MediaHarness::start().await;
    let login = harness.add_login(PASSWORD).await;
    harness.add_search(json!({"query": QUERY, "download": true})).await;
    let found = harness.settle(Role::EasynewsMonitor, json!({})).await;
    let wanted = harness.wanted();
    assert_eq!(found.result, json!({"searches": 1, "failed": 0, "new": wanted.len()}));
    assert!(harness.waiting(Role::DownloadMedia).await.is_empty(), "a first run downloads nothing");
    let row = |item: ItemView| (item.source_id, item.title, item.url, item.metadata);
    let items: Vec<_> = harness.items().await.into_iter().map(row).collect();
    let oracle = |file: EasynewsFile| {
        let metadata = json!({
            "query": QUERY, "extension": file.extension, "bytes": file.file.size(), "duration": file.duration,
        });
        (file.hash, Some(file.title), harness.site.address(&file.file.path), metadata)
    };
    assert_eq!(items, wanted.into_iter().map(oracle).collect::<Vec<_>>());
    assert_eq!(harness.get::<Credential>(login).await.last_result.as_deref(), Some("works"));
}

#[tokio::test]
async fn a_new_file_is_downloaded_with_the_login() {
    let harness = MediaHarness::start().await;
    harness.add_login(PASSWORD).await;
    harness.add_search(json!({"query": QUERY, "download": true})).await;
    harness.settle(Role::EasynewsMonitor, json!({})).await;
    let new = loop {
        let file = harness.site.publish_easynews_file(QUERY).unwrap();
        if !file.is_infected {
            break file;
        }
    };
    harness.settle(Role::EasynewsMonitor, json!({})).await;
    let download = harness.waiting(Role::DownloadMedia).await.remove(0);
    let done = harness.settle(Role::DownloadMedia, download).await;
    assert_eq!(done.result["downloaded"], 1, "{}", done.result);
    assert_eq!(harness.stored()[0].1, new.file.sha256);
}

#[tokio::test]
async fn the_login_is_not_sent_where_the_answer_points_elsewhere() {
    let harness = MediaHarness::facing(MediaPlan { easynews_files_elsewhere: true, ..MediaPlan::default() }).await;
    harness.add_login(PASSWORD).await;
    harness.add_search(json!({"query": QUERY})).await;
    harness.settle(Role::EasynewsMonitor, json!({})).await;
    let item = harness.items().await.remove(0);
    let done = harness.settle(Role::DownloadMedia, json!({"media_ids": [item.id]})).await;
    assert_eq!(done.result["refused"], 1, "{}", done.result);
    let elsewhere = harness.site.requests().into_iter().filter(|request| request.origin == Origin::Elsewhere);
    assert!(elsewhere.count() > 0, "the file was asked for");
    let seen = harness.site.occurrences(PASSWORD);
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.origin == Origin::Site));
}

#[tokio::test]
async fn a_refused_login_ends_the_job_for_good_and_is_marked() {
    let harness = MediaHarness::start().await;
    let login = harness.add_login("a wrong password").await;
    harness.add_search(json!({"query": QUERY})).await;
    let Err(TaskError::Permanent { reason }) = harness.run(Role::EasynewsMonitor, json!({})).await else {
        panic!("it does not end for good")
    };
    assert!(reason.contains("refuses the login") && !reason.contains("wrong password"), "{reason}");
    assert_eq!(harness.get::<Credential>(login).await.last_result.as_deref(), Some("the service refuses it"));
}

#[tokio::test]
async fn a_search_that_is_refused_costs_no_other() {
    let refusal = RawAnswer::new("HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n", AfterAnswer::Close);
    let body = r#"{"data": null, "results": 0, "downURL": "http://127.0.0.1/dl", "dlFarm": "a", "dlPort": 80}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let answers = vec![refusal, RawAnswer::new(head + body, AfterAnswer::Close)];
    let service = RawReceiver::start(answers).await.unwrap();
    let harness = MediaHarness::with(MediaPlan::default(), &[("media.easynews_url", &service.url())]).await;
    let login = harness.add_login(PASSWORD).await;
    for query in ["one", "two"] {
        harness.add_search(json!({"query": query})).await;
    }
    let done = harness.settle(Role::EasynewsMonitor, json!({})).await;
    assert_eq!((&done.result["searches"], &done.result["failed"]), (&json!(2), &json!(1)), "{}", done.result);
    assert_eq!(harness.get::<Credential>(login).await.last_result.as_deref(), Some("works"));
}

#[tokio::test]
async fn a_job_without_its_credential_names_the_remedy() {
    let harness = MediaHarness::start().await;
    harness.add_search(json!({"query": QUERY})).await;
    let Err(TaskError::Permanent { reason }) = harness.run(Role::EasynewsMonitor, json!({})).await else {
        panic!("it does not end for good")
    };
    assert!(reason.contains("drover media add credentials"), "{reason}");
}

#[tokio::test]
async fn small_files_and_searches_of_the_arguments() {
    let harness = MediaHarness::start().await;
    harness.add_login(PASSWORD).await;
    harness.add_search(json!({"query": QUERY, "min_bytes": 1_000_000_000_000_i64})).await;
    assert_eq!(harness.settle(Role::EasynewsMonitor, json!({})).await.result["new"], 0);
    let asked = harness.settle(Role::EasynewsMonitor, json!({"search_queries": [QUERY]})).await;
    assert_eq!(asked.result["new"], harness.wanted().len());
}
