//! A disk that is full: a download waits for room, nothing is stored until then, and nothing is lost.

use std::io::Write;
use std::path::Path;

use domain::task::role::Role;
use nix::sys::signal::Signal;
use serde_json::json;
use testkit::{Child, PATIENCE, until};
use tokio::process::Command;

use super::harness::MediaHarness;

/// A user who is not root needs a namespace in which it is.
fn own_mounts() -> &'static [&'static str] {
    match nix::unistd::geteuid().is_root() {
        true => &["--mount"],
        false => &["--user", "--map-root-user", "--mount"],
    }
}

/// The kernel may refuse mounts of one's own.
pub fn has_mounts() -> bool {
    let unshare = std::process::Command::new("unshare").args(own_mounts()).arg("true").output();
    let is_allowed = unshare.is_ok_and(|output| output.status.success());
    if !is_allowed {
        // past the capture of a passing test's output
        let _ = writeln!(std::io::stderr(), "skipped: a full disk needs a mount, which is not allowed here");
    }
    is_allowed
}

/// The command, with 64 KiB for all that is below `directory`.
fn with_little_room(command: &Command, directory: &Path) -> Command {
    let command = command.as_std();
    let mut cramped = Command::new("unshare");
    cramped
        .args(own_mounts())
        .args(["sh", "-c", "mount -t tmpfs -o size=64k none \"$0\" && exec \"$@\""])
        .arg(directory);
    cramped.arg(command.get_program()).args(command.get_args()).env_clear();
    cramped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    cramped
}

#[tokio::test]
async fn a_download_waits_for_room_on_the_disk() {
    if !has_mounts() {
        return;
    }
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("bob");
    let ids = harness.know(&files.iter().collect::<Vec<_>>()).await;
    harness.enqueue(Role::DownloadMedia, json!({"media_ids": ids})).await;
    let work = &harness.services.media.work_dir;
    std::fs::create_dir_all(work).unwrap();
    let mut worker = Child::spawn(&mut with_little_room(&harness.worker(1), work));
    let waits = "SELECT count(*) FROM worker_tasks WHERE role = 'download_media' AND status = 'pending'
                 AND error_message LIKE '%No space left%'";
    until("the job waits for room", PATIENCE, async || harness.number(waits).await == 1).await;
    worker.signal(Signal::SIGTERM);
    worker.ended(PATIENCE).await;
    harness.assert_whole(&files);

    let worker = harness.spawn_worker();
    until("the job is completed", PATIENCE, async || harness.open_jobs().await == 0).await;
    drop(worker);
    harness.assert_like(&files).await;
}
