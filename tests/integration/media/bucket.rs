//! Media in a bucket: files are objects of their content, and a download waits while the bucket is away.

use domain::task::role::Role;
use foundation::digest::sha256_hex;
use serde_json::json;
use testkit::{Child, PATIENCE, S3, until};

use super::harness::MediaHarness;

#[tokio::test]
async fn media_wait_for_their_bucket_and_are_whole_there() {
    let mut s3 = S3::start().await;
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    let ids = harness.know(&files.iter().collect::<Vec<_>>()).await;
    harness.enqueue(Role::DownloadMedia, json!({"media_ids": ids})).await;
    s3.stop().await;
    let data = tempfile::tempdir().unwrap();
    let mut command = harness.worker(1);
    s3.on_a_machine_of_its_own(&mut command, data.path());
    let worker = Child::spawn(&mut command);
    let waits = "SELECT count(*) FROM worker_tasks WHERE role = 'download_media' AND status = 'pending' AND error_message <> ''";
    until("the job waits for the bucket", PATIENCE, async || harness.number(waits).await == 1).await;
    assert_eq!(s3.objects("media"), Vec::<String>::new());

    s3.start_again().await;
    until("the job is completed", PATIENCE, async || harness.open_jobs().await == 0).await;
    drop(worker);
    let mut digests: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    digests.sort_unstable();
    digests.dedup();
    let objects = s3.objects("media");
    assert_eq!(objects.len(), digests.len(), "one object for each content");
    for (object, digest) in objects.iter().zip(digests) {
        assert!(object.starts_with(&format!("media/{}/{digest}.", &digest[..2])), "{object}");
        assert_eq!(sha256_hex(std::fs::read(s3.object(object)).unwrap()), digest);
    }
    assert_eq!((harness.stored(), harness.left()), (vec![], vec![]));
}
