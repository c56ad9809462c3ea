//! Processes of their own: this test program, run once more as one ignored test.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use media::tool::{WorkDirectory, lines, run};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::bench::{Bench, pids, script};

/// Two gigabytes on a busy machine.
const MAX_TIME: Duration = Duration::from_secs(300);
const DIRECTORY: &str = "MEDIA_TEST_DIRECTORY";

/// A process that runs the test `name`, with a directory for it.
pub fn start(name: &str, directory: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]).env(DIRECTORY, directory);
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// The rest of the next line that holds `mark`.
pub async fn line_after(lines: &mut Lines<BufReader<ChildStdout>>, mark: &str) -> String {
    loop {
        let line = lines.next_line().await.unwrap().expect("the helper ended early");
        if let Some((_, rest)) = line.split_once(mark) {
            return rest.to_owned();
        }
    }
}

/// Runs a tool with a child and a daemon, and waits to be killed.
#[tokio::test]
#[ignore = "is started by a test"]
async fn holder() {
    let root = std::env::var(DIRECTORY).expect("is started by a test");
    let directory = WorkDirectory::lock(Path::new(&root), "held").unwrap();
    let (sender, mut receiver) = lines();
    let tool = script("echo $$; sleep 600 & echo $!; setsid sleep 600 & echo $!; wait");
    let shown = async {
        let pids = pids(&mut receiver, 3).await;
        println!("\npids: {} {} {}", pids[0], pids[1], pids[2]);
    };
    let _ = tokio::join!(run(tool, &directory, sender, std::future::pending()), shown);
}

/// Reads two gigabytes, and says how many bytes came and how many of memory it ever had.
#[tokio::test]
#[ignore = "is started by a test"]
async fn reader_of_two_gigabytes() {
    let bench = Bench::new();
    let (sender, mut receiver) = lines();
    let mut tool = script("line=$(head -c 100000 /dev/zero | tr '\\0' a); yes \"$line\" | head -c 2147483648");
    tool.limits.time = MAX_TIME;
    let counted = async {
        let mut bytes = 0;
        while let Some(line) = receiver.recv().await {
            bytes += line.len() + 1;
        }
        bytes
    };
    let (ended, bytes) = tokio::join!(run(tool, &bench.directory, sender, std::future::pending()), counted);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("\nread: {:?} {bytes} {}", ended.unwrap().how, peak.trim().trim_end_matches(" kB"));
}
