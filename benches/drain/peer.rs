//! The program that drains with graphile_worker: cargo builds it, in a workspace of its own.
//!
//! In: an empty database. Out: the seconds of its drain, and those of the server's processor time
//! meanwhile.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use benches::processes;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::OnceCell;

static PROGRAM: OnceCell<PathBuf> = OnceCell::const_new();

pub async fn drain(url: &str, jobs: usize, postmaster: u32) -> (f64, f64) {
    let program = PROGRAM.get_or_init(build).await;
    let mut command = Command::new(program);
    command.arg(url).arg(jobs.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // it is filled
    lines.next_line().await.unwrap().unwrap();
    let cpu = processes::family_cpu(postmaster).unwrap();
    child.stdin.take().unwrap().write_all(b"go\n").await.unwrap();
    let seconds = lines.next_line().await.unwrap().unwrap().parse().unwrap();
    let cpu = processes::family_cpu(postmaster).unwrap() - cpu;
    assert!(child.wait().await.unwrap().success());
    (seconds, cpu)
}

async fn build() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("drain/graphile_worker");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/graphile-worker");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]).arg(project.join("Cargo.toml"));
    assert!(command.arg("--target-dir").arg(&target).status().await.unwrap().success());
    target.join("release/graphile-worker-drain")
}
