//! `deploy/container/build --media`: its image has the download tools, and works media jobs with them from a root file system that
//! cannot be written to.

use std::os::unix::fs::chown;

use serde_json::{Value, json};
use testkit::{Child, FaultProxy, PATIENCE, until};

use super::image::{ACCOUNT, Image, program};
use crate::media::accounts::scrape_of;
use crate::media::harness::MediaHarness;

const TOOLS: [&str; 5] = ["gallery-dl:", "yt-dlp:", "ffmpeg:", "ffprobe:", "node:"];

#[tokio::test]
#[cfg_attr(not(slow_tests), ignore = "needs mmdebstrap, buildah and mounts: ./dev ops-test")]
async fn the_media_image_has_the_tools_and_scrapes_with_them() {
    let files = Image::build_with_media_tools(&program()).unpack();
    assert_eq!(files.set_user_id_or_writable_by_all(), ["/tmp"]);
    let harness = MediaHarness::start().await;
    chown(harness.storage.path(), Some(ACCOUNT), Some(ACCOUNT)).unwrap();
    // the image's user cannot reach the socket of the tests' server
    let network = FaultProxy::start(&harness.database.url).await;
    let of_image = |args: &[&str]| {
        let mut command = files.command(&harness.drover(1), harness.storage.path(), args);
        command.env("DATABASE_URL", network.url());
        // the image's own places of work and tools
        for variable in ["STORAGE__ROOT", "MEDIA__WORK_DIR", "MEDIA__GALLERY_DL", "MEDIA__YT_DLP"] {
            command.env_remove(format!("DROVER__{variable}"));
        }
        command
    };

    let checked = of_image(&["doctor", "--json"]).output().await.unwrap();
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let findings = checked["findings"].as_array().unwrap().iter();
    let tools: Vec<&Value> = findings.filter(|finding| finding["check"] == "media tool").collect();
    assert_eq!(tools.len(), TOOLS.len(), "{checked}");
    for (tool, finding) in TOOLS.iter().zip(tools) {
        assert!(
            finding["result"] == "ok" && finding["detail"].as_str().unwrap().starts_with(tool),
            "{tool}: {finding}"
        );
    }

    harness.add_account("bob", json!({})).await;
    let client = harness.database.db.client().await.unwrap();
    db::tasks::enqueue(&client, &[scrape_of("bob", json!({}))]).await.unwrap();
    let mut worker = Child::spawn(&mut of_image(&["worker", "--role", "media"]));
    worker.probes().await;
    until("the scrape is done", PATIENCE, async || harness.open_jobs().await == 0).await;
    harness.assert_like(&harness.files_of_account("bob")).await;
    worker.signal(nix::sys::signal::Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
}
