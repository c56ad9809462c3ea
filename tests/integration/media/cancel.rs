//! A job that a person cancels leaves nothing to continue with, and one that is stopped does.

use std::path::PathBuf;

use domain::task::role::Role;
use queue::TaskError;
use serde_json::json;
use sim::media::{MediaFault, MediaFaultKind, MediaFile};
use testkit::{PATIENCE, until};

use super::accounts::{has_tool, scrape_of};
use super::harness::{MediaHarness, job};

const NOTHING: Vec<PathBuf> = Vec::new();

impl MediaHarness {
    /// Makes a file stall once, and waits until a part of it has come.
    fn stall(&self, file: &MediaFile) -> impl Future<Output = ()> {
        self.site.add_fault(&file.path, MediaFault::new(MediaFaultKind::StalledAfter(10)).times(1));
        until("a part has come", PATIENCE, async || self.site.bytes_sent(&file.path) > 0)
    }
}

#[tokio::test]
async fn a_cancelled_download_leaves_no_part_and_a_stopped_one_keeps_it() {
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    let ids = harness.know(&[&files[0]]).await;
    let args = json!({"media_ids": ids});
    let stopped = harness.run_until(Role::DownloadMedia, args.clone(), harness.stall(&files[0])).await;
    assert!(matches!(stopped, Err(TaskError::Retry { .. })));
    assert!(!harness.left().is_empty());
    let cancelled = harness.run_until_cancelled(job(Role::DownloadMedia, args), harness.stall(&files[0])).await;
    assert!(cancelled.is_err());
    assert_eq!(harness.left(), NOTHING);
}

#[tokio::test]
async fn a_cancelled_scrape_leaves_nothing_of_the_tool_and_the_next_one_brings_the_rest() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add_account("bob", json!({})).await;
    let files = harness.files_of_account("bob");
    let cancelled = harness.run_until_cancelled(scrape_of("bob", json!({})), harness.stall(&files[30])).await;
    assert!(cancelled.is_err());
    assert_eq!(harness.left(), NOTHING);
    harness.settle_task(scrape_of("bob", json!({}))).await;
    harness.assert_like(&files).await;
}
