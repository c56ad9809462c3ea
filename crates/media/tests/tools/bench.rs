//! `Bench`: a work directory for one test, scripts as tools, and questions about processes.

use std::future::{Future, pending};
use std::path::Path;
use std::time::Duration;

use media::tool::{Command, Ended, Limits, WorkDirectory, lines, run};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::wait::until;

/// Maximum time until something that is about to happen has happened.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Time from SIGTERM to SIGKILL.
pub const GRACE: Duration = Duration::from_millis(300);

pub struct Bench {
    pub root: TempDir,
    pub directory: WorkDirectory,
}

impl Bench {
    pub fn new() -> Bench {
        let root = tempfile::tempdir().unwrap();
        let directory = WorkDirectory::lock(root.path(), "subject").unwrap();
        Bench { root, directory }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// How a tool ends that is left alone, and its lines.
    pub async fn run(&self, command: Command) -> (Ended, Vec<String>) {
        self.run_until(command, pending()).await
    }

    pub async fn run_until(&self, command: Command, cancel: impl Future<Output = ()>) -> (Ended, Vec<String>) {
        let (sender, mut receiver) = lines();
        let received = async {
            let mut received = vec![];
            while let Some(line) = receiver.recv().await {
                received.push(String::from_utf8(line).unwrap());
            }
            received
        };
        let (ended, received) = tokio::join!(run(command, &self.directory, sender, cancel), received);
        (ended.unwrap(), received)
    }

    /// Runs a tool and cancels it once it has printed the ids of this number of processes.
    pub async fn cancel_after_pids(&self, command: Command, count: usize) -> (Ended, Vec<i32>) {
        let (sender, mut receiver) = lines();
        let (cancel, cancelled) = tokio::sync::oneshot::channel();
        let received = async {
            let pids = pids(&mut receiver, count).await;
            cancel.send(()).unwrap();
            pids
        };
        let cancelled = async { cancelled.await.unwrap() };
        let (ended, pids) = tokio::join!(run(command, &self.directory, sender, cancelled), received);
        (ended.unwrap(), pids)
    }
}

/// A script for `sh`, with bounds that suit a test.
pub fn script(text: &str) -> Command {
    let mut command = Command::new("/bin/sh", "it is part of every system");
    command.args = vec!["-c".into(), text.into()];
    command.limits = Limits { time: PATIENCE, silence: PATIENCE, grace: GRACE, ..Limits::default() };
    command
}

/// The next lines, which are ids of processes.
pub async fn pids(receiver: &mut tokio::sync::mpsc::Receiver<Vec<u8>>, count: usize) -> Vec<i32> {
    let mut pids = vec![];
    while pids.len() < count {
        let line = receiver.recv().await.expect("the tool ended early");
        pids.push(String::from_utf8(line).unwrap().parse().unwrap());
    }
    pids
}

pub fn is_alive(pid: i32) -> bool {
    // a zombie has ended, and in a container none may reap it
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_zombie = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'));
    kill(Pid::from_raw(pid), None).is_ok() && !is_zombie
}

pub async fn until_dead(pids: &[i32]) {
    until("the processes have ended", PATIENCE, async || !pids.iter().any(|pid| is_alive(*pid))).await;
}
