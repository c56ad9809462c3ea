//! Input of a tool: stdin, and the configuration at descriptor 3.

use media::tool::{How, lines, run};

use crate::bench::{Bench, pids, script};

/// Size that is larger than a pipe holds.
const LARGE: usize = 300_000;

#[tokio::test]
async fn stdin_and_configuration_arrive_whole() {
    let mut tool = script("cat /dev/fd/3 | wc -c; wc -c; cat <&3");
    (tool.stdin, tool.fd3) = (vec![b'i'; LARGE], Some(vec![b'c'; LARGE]));
    let (ended, lines) = Bench::new().run(tool).await;
    let counts: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    assert_eq!((ended.how, counts), (How::Exit(0), vec!["300000", "300000"]));
}

#[tokio::test]
async fn a_tool_that_reads_nothing_ends_like_any_other() {
    let mut tool = script("exit 7");
    (tool.stdin, tool.fd3) = (vec![b'i'; LARGE], Some(vec![b'c'; LARGE]));
    assert_eq!(Bench::new().run(tool).await.0.how, How::Exit(7));
}

#[tokio::test]
async fn without_input_stdin_is_empty_and_nothing_else_is_open() {
    let (_, lines) =
        Bench::new().run(script("cat; for fd in 3 4 5 6 7 8 9; do [ -e /dev/fd/$fd ] && echo $fd; done")).await;
    assert!(lines.is_empty(), "{lines:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_secret_is_neither_in_arguments_nor_environment() {
    let bench = Bench::new();
    let mut tool = script("echo $$; cat <&3 > got; echo $$; sleep 600");
    tool.fd3 = Some(b"canary-4711".to_vec());
    let (sender, mut receiver) = lines();
    let run = run(tool, &bench.directory, sender, std::future::pending());
    let shown = async {
        let pid = pids(&mut receiver, 2).await[0];
        ["cmdline", "environ"].map(|file| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap())
    };
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        shown = shown => assert!(!shown.iter().any(|text| text.contains("canary"))),
    }
    assert_eq!(std::fs::read_to_string(bench.path().join("got")).unwrap(), "canary-4711");
}
