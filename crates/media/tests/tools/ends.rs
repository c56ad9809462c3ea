//! Ends of a tool: by itself, by a limit, by its caller. Nothing of its group is left after any of them.

use std::time::Duration;

use media::tool::{Command, How, MAX_LINES_IN_FLIGHT, ToolError, lines, run};
use rstest::rstest;
use tokio::time::timeout;

use crate::bench::{Bench, PATIENCE, is_alive, pids, script, until_dead};
use crate::wait::until;

/// Ignores SIGTERM, and has a child that does; prints the ids of both.
const STUBBORN: &str = "trap '' TERM; echo $$; sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & \
    while :; do sleep 1; done";

#[rstest]
#[tokio::test]
async fn a_code_is_passed_on(#[values(0, 1, 2, 4, 64, 101, 128, 143, 255)] code: i32) {
    let (ended, lines) = Bench::new().run(script(&format!("echo one; exit {code}"))).await;
    assert_eq!((ended.how, lines), (How::Exit(code), vec!["one".to_owned()]));
}

#[tokio::test]
async fn a_signal_is_passed_on() {
    let (ended, _) = Bench::new().run(script("kill -KILL $$")).await;
    assert_eq!(ended.how, How::Signal(9));
}

#[tokio::test]
async fn a_cancelled_tool_may_tidy_up() {
    let bench = Bench::new();
    let tidy = script("trap 'echo tidied > end; exit 143' TERM; echo $$; while :; do sleep 0.01; done");
    let (ended, _) = bench.cancel_after_pids(tidy, 1).await;
    assert_eq!(ended.how, How::Cancelled);
    assert!(bench.path().join("end").exists(), "it was killed at once");
}

#[tokio::test]
async fn a_tool_and_its_child_that_ignore_sigterm_are_killed() {
    let (ended, pids) = Bench::new().cancel_after_pids(script(STUBBORN), 2).await;
    assert_eq!((ended.how, pids.iter().any(|pid| is_alive(*pid))), (How::Cancelled, false));
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_does_not_outlive_its_parent() {
    let parent = "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & echo $$; exec sleep 600";
    let (ended, pids) = Bench::new().cancel_after_pids(script(parent), 2).await;
    assert_eq!((ended.how, pids.iter().any(|pid| is_alive(*pid))), (How::Cancelled, false));
}

#[tokio::test]
async fn a_child_left_behind_with_the_pipes_is_ended() {
    let (ended, lines) = Bench::new().run(script("sleep 600 & echo $!")).await;
    assert_eq!((ended.how, is_alive(lines[0].parse().unwrap())), (How::Exit(0), false));
}

#[tokio::test]
async fn a_run_after_a_dropped_one_is_not_ended_by_it() {
    let bench = Bench::new();
    for _ in 0..20 {
        let (sender, mut receiver) = lines();
        tokio::select! {
            biased;
            _ = pids(&mut receiver, 1) => {}
            _ = run(script("echo $$; exec sleep 600"), &bench.directory, sender, std::future::pending()) => panic!("it was to be dropped"),
        }
        let (ended, printed) = bench.run(script("echo whole")).await;
        assert_eq!((ended.how, printed), (How::Exit(0), vec!["whole".to_owned()]));
    }
}

#[tokio::test]
async fn a_program_of_a_relative_path_is_the_one_that_was_found() {
    let bench = Bench::new();
    // the tool starts in its own directory, where there is none
    let mut command = script("echo found");
    command.program = relative(std::path::Path::new("/bin/sh"));
    let (ended, printed) = bench.run(command).await;
    assert_eq!((ended.how, printed), (How::Exit(0), vec!["found".to_owned()]));
}

/// The way from the current directory to an absolute path.
fn relative(to: &std::path::Path) -> std::path::PathBuf {
    let depth = std::env::current_dir().unwrap().components().count() - 1;
    std::iter::repeat_n("..", depth).collect::<std::path::PathBuf>().join(to.strip_prefix("/").unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_in_a_session_of_its_own_is_ended() {
    let daemon = "setsid sh -c 'echo $$ > pid; exec sleep 600' & while [ ! -s pid ]; do sleep 0.01; done; cat pid";
    let (ended, lines) = Bench::new().run(script(daemon)).await;
    assert_eq!((ended.how, is_alive(lines[0].parse().unwrap())), (How::Exit(0), false));
}

#[tokio::test]
async fn a_dropped_run_kills_its_group() {
    let bench = Bench::new();
    let (sender, mut receiver) = lines();
    let pids = {
        let run = std::pin::pin!(run(script(STUBBORN), &bench.directory, sender, std::future::pending()));
        tokio::select! {
            ended = run => panic!("{ended:?}"),
            pids = pids(&mut receiver, 2) => pids,
        }
    };
    until_dead(&pids).await;
}

#[tokio::test]
async fn a_tool_without_output_or_growth_hangs() {
    let mut tool = script("echo one; sleep 600");
    tool.limits.silence = Duration::from_millis(400);
    let (ended, lines) = Bench::new().run(tool).await;
    assert_eq!((ended.how, lines.len()), (How::Hung, 1));
}

#[rstest]
#[case::a_file_grows("while :; do echo x >> part; sleep 0.05; done")]
#[case::messages_come("while :; do echo x >&2; sleep 0.05; done")]
#[tokio::test]
async fn a_tool_that_works_on_does_not_hang_but_has_its_time(#[case] works: &str) {
    let mut tool = script(works);
    (tool.limits.silence, tool.limits.time) = (Duration::from_millis(1500), Duration::from_millis(3500));
    assert_eq!(Bench::new().run(tool).await.0.how, How::TimedOut);
}

#[tokio::test]
async fn a_tool_that_waits_for_its_reader_does_not_hang() {
    let bench = Bench::new();
    let silence = Duration::from_secs(1);
    let mut tool = script("line=$(head -c 100000 /dev/zero | tr '\\0' a); yes \"$line\" | head -n 50");
    tool.limits.silence = silence;
    let (sender, mut receiver) = lines();
    let mut run = std::pin::pin!(run(tool, &bench.directory, sender, std::future::pending()));
    tokio::select! {
        ended = &mut run => panic!("{ended:?}"),
        () = until("the channel is full", PATIENCE, async || receiver.len() == MAX_LINES_IN_FLIGHT) => {}
    }
    assert!(timeout(2 * silence, &mut run).await.is_err(), "it has ended with its lines unread");

    let received = async {
        let mut count = 0;
        while receiver.recv().await.is_some() {
            count += 1;
        }
        count
    };
    let (ended, received) = tokio::join!(run, received);
    assert_eq!((ended.unwrap().how, received), (How::Exit(0), 50));
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_the_reader() {
    let bench = Bench::new();
    let (sender, receiver) = lines();
    let tool = script("yes");
    let cancel = until("the channel is full", PATIENCE, async || receiver.len() == MAX_LINES_IN_FLIGHT);
    let ended = timeout(PATIENCE, run(tool, &bench.directory, sender, cancel)).await.unwrap().unwrap();
    assert_eq!(ended.how, How::Cancelled);
}

#[rstest]
#[case::name("no-such-tool")]
#[case::path("/no/such/tool")]
#[tokio::test]
async fn a_missing_tool_says_how_to_install_it(#[case] program: &str) {
    let bench = Bench::new();
    let command = Command::new(program, "pip install no-such-tool");
    let error = run(command, &bench.directory, lines().0, std::future::pending()).await.unwrap_err();
    assert!(matches!(error, ToolError::NotInstalled { .. }));
    assert_eq!(error.to_string(), format!("{program} is not installed: pip install no-such-tool"));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error() {
    let bench = Bench::new();
    let program = bench.root.path().join("tool");
    std::fs::write(&program, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(&program, "");
    command.fd3 = Some(vec![]);
    let error = run(command, &bench.directory, lines().0, std::future::pending()).await.unwrap_err();
    assert!(matches!(error, ToolError::NotStarted { .. }), "{error}");
}
