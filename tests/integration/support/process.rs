//! `drover()`: the built program as a child with nothing of our environment in it.

use std::ops::{Deref, DerefMut};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::Command;
use tokio::task::JoinSet;

use super::wait::until_some;

/// A command for the built program that reads no configuration but what the test gives it.
pub fn drover() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drover"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).kill_on_drop(true);
    for kept in ["PATH", "HOME", "TMPDIR", "FAILPOINTS", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}

/// A running child whose output is kept line by line. Killed when dropped.
pub struct Child {
    process: tokio::process::Child,
    stdout: Lines,
    stderr: Lines,
    readers: JoinSet<()>,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Child {
    pub fn spawn(command: &mut Command) -> Child {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut readers = JoinSet::new();
        let stdout = collect(process.stdout.take().unwrap(), &mut readers);
        let stderr = collect(process.stderr.take().unwrap(), &mut readers);
        Child { process, stdout, stderr, readers }
    }

    pub fn stdout(&self) -> Vec<String> {
        self.stdout.lock().unwrap().clone()
    }

    pub fn stderr(&self) -> Vec<String> {
        self.stderr.lock().unwrap().clone()
    }

    /// The first line of stderr that contains `text`, once there is one.
    pub async fn logged(&self, text: &str, deadline: Duration) -> String {
        let what = format!("the child logged {text:?}");
        until_some(&what, deadline, async || self.stderr().into_iter().find(|line| line.contains(text))).await
    }

    /// Lines at level ERROR, as JSON or as text for people.
    pub fn errors(&self) -> Vec<String> {
        let is_error = |line: &String| line.contains("\"level\":\"ERROR\"") || line.contains(" ERROR ");
        self.stderr().into_iter().filter(is_error).collect()
    }

    pub fn assert_no_errors(&self) {
        let errors = self.errors();
        assert!(errors.is_empty(), "unexpected errors in the child's log:\n{}", errors.join("\n"));
    }

    /// Sends a signal, such as SIGTERM or SIGSTOP.
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = self.process.id().expect("the child has ended already");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).unwrap();
    }

    /// What it said last may still be on its way when it has ended. Somebody that it started may keep the pipe open: not for ever.
    async fn heard_out(&mut self) {
        let readers_are_done = async { while self.readers.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_millis(500), readers_are_done).await;
    }

    /// How it ended; fails the test with the end of its log when it does not.
    pub async fn ended(&mut self, deadline: Duration) -> ExitStatus {
        match tokio::time::timeout(deadline, self.process.wait()).await {
            Ok(status) => {
                self.heard_out().await;
                status.unwrap()
            }
            Err(_) => panic!("the child did not end within {deadline:?}; its log:\n{}", self.stderr().join("\n")),
        }
    }
}

impl Deref for Child {
    type Target = tokio::process::Child;

    fn deref(&self) -> &Self::Target {
        &self.process
    }
}

impl DerefMut for Child {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.process
    }
}

fn collect(stream: impl AsyncRead + Unpin + Send + 'static, readers: &mut JoinSet<()>) -> Lines {
    let lines = Lines::default();
    let kept = lines.clone();
    readers.spawn(async move {
        let mut reader = BufReader::new(stream).lines();
        while let Ok(Some(line)) = reader.next_line().await {
            kept.lock().unwrap().push(line);
        }
    });
    lines
}
