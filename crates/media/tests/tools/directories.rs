//! Work directories: one holder each, and what a dead one leaves is ended and removed.

use std::path::Path;
use std::time::Duration;

use media::tool::{WorkDirectory, WorkDirectoryError, sweep};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rstest::rstest;

use crate::bench::{Bench, PATIENCE, is_alive, script, until_dead};
use crate::helper::{line_after, start};
use crate::wait::until;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[rstest]
#[case::empty("")]
#[case::parent("..")]
#[case::path("a/b")]
#[case::absolute("/a")]
#[case::hidden(".a")]
#[case::a_lock("a.lock")]
#[case::upper_case("A")]
#[case::newline("a\nb")]
#[case::zero("a\0b")]
#[case::too_long(&"a".repeat(65))]
fn a_name_is_no_path(#[case] name: &str) {
    let root = tempfile::tempdir().unwrap();
    assert!(matches!(WorkDirectory::lock(root.path(), name), Err(WorkDirectoryError::BadName)));
    assert_eq!(root.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_directory_has_one_holder_and_keeps_its_files() {
    let root = tempfile::tempdir().unwrap();
    let first = WorkDirectory::lock(root.path(), "a1").unwrap();
    std::fs::write(first.path().join("x.part"), "half").unwrap();
    assert!(matches!(WorkDirectory::lock(root.path(), "a1"), Err(WorkDirectoryError::InUse(_))));
    WorkDirectory::lock(root.path(), "a2").unwrap();
    drop(first);
    let next = WorkDirectory::lock(root.path(), "a1").unwrap();
    assert!(next.path().join("x.part").exists());
}

#[test]
fn a_sweep_removes_what_is_old_and_unlocked() {
    let root = tempfile::tempdir().unwrap();
    let held = WorkDirectory::lock(root.path(), "held").unwrap();
    drop(WorkDirectory::lock(root.path(), "free").unwrap());
    std::fs::create_dir(root.path().join("without-lock")).unwrap();
    std::fs::write(root.path().join("Not Ours"), "").unwrap();

    let young = sweep(root.path(), DAY);
    assert_eq!((young.removed, young.failures.len()), (0, 0));
    let old = sweep(root.path(), Duration::ZERO);
    assert_eq!((old.removed, old.failures.len()), (2, 0));

    let mut left: Vec<String> =
        root.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["Not Ours", "held", "held.lock"]);
    assert!(held.path().exists());
    assert_eq!(sweep(&root.path().join("nowhere"), DAY).failures.len(), 0);
}

#[test]
fn a_link_in_a_directory_leads_no_sweep_out_of_it() {
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(other.path().join("kept"), "").unwrap();
    let held = WorkDirectory::lock(root.path(), "a").unwrap();
    std::os::unix::fs::symlink(other.path(), held.path().join("link")).unwrap();
    drop(held);
    assert_eq!(sweep(root.path(), Duration::ZERO).removed, 1);
    assert!(other.path().join("kept").exists());
}

#[tokio::test]
async fn a_lock_lasts_until_the_dropped_tool_has_ended() {
    let bench = Bench::new();
    let (sender, mut receiver) = media::tool::lines();
    let pid = {
        let tool = script("trap '' TERM; echo $$; while :; do sleep 1; done");
        let run = std::pin::pin!(media::tool::run(tool, &bench.directory, sender, std::future::pending()));
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            pids = crate::bench::pids(&mut receiver, 1) => pids[0],
        }
    };
    let Bench { root, directory } = bench;
    drop(directory);
    until("the lock is free", PATIENCE, async || WorkDirectory::lock(root.path(), "subject").is_ok()).await;
    assert!(!is_alive(pid));
}

/// Finds processes by group and by work directory. Another process with a recorded number is left alone.
#[cfg(target_os = "linux")]
#[rstest]
#[case::a_sweep(|root: &Path| assert_eq!(sweep(root, DAY).removed, 0))]
#[case::the_next_run(|root: &Path| drop(WorkDirectory::lock(root, "held").unwrap()))]
#[tokio::test]
async fn tools_of_a_killed_process_are_ended_by(#[case] next: fn(&Path)) {
    let root = tempfile::tempdir().unwrap();
    let (mut holder, mut lines) = start("helper::holder", root.path());
    let pids = line_after(&mut lines, "pids: ").await;
    let pids: Vec<i32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    assert_eq!(sweep(root.path(), Duration::ZERO).removed, 0, "it is in use");

    kill(Pid::from_raw(holder.id().unwrap().cast_signed()), Signal::SIGKILL).unwrap();
    holder.wait().await.unwrap();
    until_dead(&pids[..1]).await;
    next(root.path());
    assert!(!pids.iter().any(|pid| is_alive(*pid)), "{pids:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_was_given_a_recorded_number_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    drop(WorkDirectory::lock(root.path(), "a").unwrap());
    let mut stranger =
        tokio::process::Command::new("sleep").arg("600").process_group(0).kill_on_drop(true).spawn().unwrap();
    let pid = stranger.id().unwrap();
    for record in [format!("{pid} another-boot/1\n"), format!("{pid} "), "1 x\n".to_owned(), "-1 x\n".to_owned()] {
        std::fs::write(root.path().join("a.lock"), record).unwrap();
        assert_eq!(sweep(root.path(), DAY).failures.len(), 0);
    }
    assert!(stranger.try_wait().unwrap().is_none(), "it was killed");
}
