//! `drover()`: the built program as a child with nothing of our environment in it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::{ChildStderr, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::farm::PATIENCE;
use super::wait::{until, until_some};

/// How long the last lines may take after the process has ended. A grandchild may keep the pipe open for
/// longer.
const LAST_LINES: Duration = Duration::from_millis(500);
/// Number of log lines to print of a child whose test fails.
const PRINTED_LINES: usize = 100;

/// A command for the built program that reads only the test's configuration.
pub fn drover() -> Command {
    let mut command = Command::new(program());
    command.env_clear().current_dir(super::root()).stdin(Stdio::null()).kill_on_drop(true);
    for kept in ["PATH", "HOME", "TMPDIR", "FAILPOINTS", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
}

/// The built program: cargo builds it before the tests of its package, and puts them into a folder beside it.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("drover-under-test")
}

/// Runs an ignored test of this program in a process of its own, so that nothing else moves its peak of memory. It prints one line
/// that begins with `N MiB more`: returns the line and N.
pub async fn memory_of_test(name: &str, variables: &[(&str, &str)]) -> (String, usize) {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", name, "--ignored", "--nocapture"]).envs(variables.iter().copied());
    let output = test.stderr(Stdio::inherit()).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().find(|line| line.contains("MiB more")).unwrap_or_else(|| panic!("{said}"));
    println!("{line}");
    (line.to_owned(), line.split(' ').next().unwrap().parse().unwrap())
}

/// A running child whose output is kept line by line.
///
/// Killed when dropped. Its end fails the test when the log holds an error that the test does not allow.
pub struct Child {
    process: tokio::process::Child,
    stdout: Lines,
    stderr: Lines,
    /// Disconnected once both streams have ended.
    open_streams: Receiver<()>,
    allowed_errors: Vec<String>,
}

type Lines = Arc<Mutex<Vec<String>>>;

impl Child {
    pub fn spawn(command: &mut Command) -> Child {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = ChildStdout::from(process.stdout.take().unwrap().into_owned_fd().unwrap());
        let stderr = ChildStderr::from(process.stderr.take().unwrap().into_owned_fd().unwrap());
        let (is_open, open_streams) = channel();
        let (stdout, stderr) = (collect(stdout, is_open.clone()), collect(stderr, is_open));
        Child { process, stdout, stderr, open_streams, allowed_errors: Vec::new() }
    }

    /// Errors that hold one of `texts` belong to the test.
    pub fn allow_errors(mut self, texts: &[&str]) -> Child {
        self.allowed_errors.extend(texts.iter().map(|text| (*text).to_owned()));
        self
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

    /// Address at which a service that was started with `DROVER__PROBES__LISTEN=127.0.0.1:0` answers probes. The port that
    /// the system chose is in no row and no metric.
    pub async fn probes(&self) -> SocketAddr {
        let line = self.logged("Listening for probes", PATIENCE).await;
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        line["address"].as_str().unwrap().parse().unwrap()
    }

    /// Waits until the child counts at least `least` of that metric, over all labels. It must listen for
    /// probes.
    pub async fn until_metric(&self, name: &str, least: f64) {
        let address = self.probes().await;
        let what = format!("{name} is {least}");
        until(&what, PATIENCE, async || metric(address, name).await.is_some_and(|value| value >= least)).await;
    }

    /// Waits until a line of the child's metrics is `sample`. It must listen for probes.
    pub async fn until_sample(&self, sample: &str) {
        let address = self.probes().await;
        until(sample, PATIENCE, async || {
            scrape(address).await.is_some_and(|text| text.lines().any(|line| line == sample))
        })
        .await;
    }

    /// Its metrics as text. It must listen for probes.
    pub async fn metrics(&self) -> String {
        scrape(self.probes().await).await.unwrap()
    }

    /// Sends a signal, such as SIGTERM or SIGSTOP.
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = self.process.id().expect("the child has ended already");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid as i32), signal).unwrap();
    }

    /// How it ended; fails the test with the end of its log when it does not.
    pub async fn ended(&mut self, deadline: Duration) -> ExitStatus {
        match tokio::time::timeout(deadline, self.process.wait()).await {
            Ok(status) => {
                self.wait_for_last_lines();
                status.unwrap()
            }
            Err(_) => panic!("the child did not end within {deadline:?}; its log:\n{}", self.stderr().join("\n")),
        }
    }

    fn wait_for_last_lines(&self) {
        let _ = self.open_streams.recv_timeout(LAST_LINES);
    }

    /// Prints its last log lines into the output of the failed test.
    fn print_last_lines(&self) {
        let lines = self.stderr();
        let last = lines.len().saturating_sub(PRINTED_LINES);
        println!(
            "the end of a child's log, {} of {} lines:\n{}",
            lines.len() - last,
            lines.len(),
            lines[last..].join("\n")
        );
    }

    /// Lines at level ERROR, as JSON or as text for people, that the test does not allow.
    fn unexpected_errors(&self) -> Vec<String> {
        let is_error = |line: &String| line.contains("\"level\":\"ERROR\"") || line.contains(" ERROR ");
        let is_allowed = |line: &String| self.allowed_errors.iter().any(|allowed| line.contains(allowed));
        self.stderr().into_iter().filter(|line| is_error(line) && !is_allowed(line)).collect()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        self.wait_for_last_lines();
        // a second panic would hide the first one
        if std::thread::panicking() {
            return self.print_last_lines();
        }
        let errors = self.unexpected_errors();
        assert!(errors.is_empty(), "unexpected errors in the child's log:\n{}", errors.join("\n"));
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

/// The sum of one metric's series, from the probes' port.
async fn metric(address: SocketAddr, name: &str) -> Option<f64> {
    let text = scrape(address).await?;
    let values = text.lines().filter(|line| line.starts_with(name)).filter_map(|line| line.rsplit_once(' '));
    Some(values.filter_map(|(_, value)| value.parse::<f64>().ok()).sum())
}

/// All metrics, from the probes' port.
async fn scrape(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: probe\r\nconnection: close\r\n\r\n").await.ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.ok()?;
    Some(text)
}

/// The lines of a stream, read by a thread of their own, so that they arrive while the test's runtime is
/// blocked, too.
fn collect(stream: impl Read + Send + 'static, is_open: Sender<()>) -> Lines {
    let lines = Lines::default();
    let kept = lines.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            kept.lock().unwrap().push(line);
        }
        drop(is_open);
    });
    lines
}
