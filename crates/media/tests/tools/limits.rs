//! Limits of memory, files and descriptors, and the environment of a tool.

use media::tool::{Command, How};

use crate::bench::{Bench, script};

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_tool_that_eats_memory_fails_alone() {
    let mut tool = script("x=$(head -c 500000000 /dev/zero | tr '\\0' a); echo survived");
    tool.limits.address_space = 128 << 20;
    let (ended, lines) = Bench::new().run(tool).await;
    assert!(lines.is_empty(), "it had more memory than it may have");
    assert_ne!(ended.how, How::Exit(0));
}

#[tokio::test]
async fn a_file_ends_at_its_limit() {
    let bench = Bench::new();
    let mut tool = script("head -c 3000000 /dev/zero > big; echo ended");
    tool.limits.file_size = 1 << 20;
    let (ended, lines) = bench.run(tool).await;
    assert_eq!((ended.how, lines), (How::Exit(0), vec!["ended".to_owned()]));
    assert_eq!(bench.path().join("big").metadata().unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn descriptors_and_core_files_are_limited() {
    let (_, lines) = Bench::new().run(script("ulimit -n; ulimit -c")).await;
    assert_eq!(lines, ["256", "0"]);
}

#[tokio::test]
async fn the_environment_is_empty_but_for_four_variables() {
    let bench = Bench::new();
    let (_, mut lines) = bench.run(Command::new("env", "")).await;
    lines.sort();
    let home = format!("HOME={}", bench.path().display());
    let path = format!("PATH={}", media::tool::DEFAULT_SEARCH_PATH);
    assert_eq!(lines, [home.as_str(), "LANG=C.UTF-8", &path, "PYTHONUNBUFFERED=1"]);
}

#[tokio::test]
async fn a_tool_leads_a_group_in_its_work_directory() {
    let bench = Bench::new();
    let (_, lines) = bench.run(script("echo $$; ps -o pgid= -p $$; pwd")).await;
    assert_eq!(lines[0], lines[1].trim());
    assert_eq!(lines[2], bench.path().display().to_string());
}
