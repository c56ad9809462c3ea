//! Output of a tool: lines in bounds, messages masked.

use media::tool::{How, MAX_LINE_BYTES, lines, run};

use crate::bench::{Bench, script};
use crate::helper::{line_after, start};

/// Maximum memory of a process that reads two gigabytes: the program itself, and at most 32 MiB of ours.
const MAX_MEMORY_KIB: u64 = 64 << 10;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn two_gigabytes_pass_through_little_memory() {
    let (mut child, mut lines) = start("helper::reader_of_two_gigabytes", std::path::Path::new("/"));
    let read = line_after(&mut lines, "read: ").await;
    child.wait().await.unwrap();
    let (counted, memory) = read.rsplit_once(' ').unwrap();
    // the last line may lack its newline
    assert!(counted == "Exit(0) 2147483648" || counted == "Exit(0) 2147483649", "{read}");
    assert!(memory.parse::<u64>().unwrap() < MAX_MEMORY_KIB, "{memory} KiB");
}

#[tokio::test]
async fn a_line_may_have_a_mebibyte() {
    let tool = script("head -c 1048576 /dev/zero | tr '\\0' a; echo; echo; echo next; printf rest");
    let (ended, lines) = Bench::new().run(tool).await;
    let lengths: Vec<usize> = lines.iter().map(String::len).collect();
    assert_eq!((ended.how, lengths), (How::Exit(0), vec![MAX_LINE_BYTES, 4, 4]));
}

#[tokio::test]
async fn a_line_without_end_ends_the_tool() {
    let tool = script("echo one; tr '\\0' a < /dev/zero");
    let (ended, lines) = Bench::new().run(tool).await;
    let lengths: Vec<usize> = lines.iter().map(String::len).collect();
    assert_eq!((ended.how, lengths), (How::LineTooLong, vec![3, MAX_LINE_BYTES]));
}

#[tokio::test]
async fn a_line_that_is_too_long_is_cut_and_costs_no_other_one() {
    let tool = script(
        "echo one; head -c 3000000 /dev/zero | tr '\\0' a; echo; echo next; head -c 1048577 /dev/zero | tr '\\0' a",
    );
    let (ended, lines) = Bench::new().run(tool).await;
    let lengths: Vec<usize> = lines.iter().map(String::len).collect();
    assert_eq!((ended.how, lengths), (How::Exit(0), vec![3, MAX_LINE_BYTES, 4, MAX_LINE_BYTES]));
}

#[tokio::test]
async fn lines_without_a_reader_do_not_stop_a_tool() {
    let bench = Bench::new();
    let (sender, receiver) = lines();
    drop(receiver);
    let tool = script("yes | head -n 1000000; exit 3");
    let ended = run(tool, &bench.directory, sender, std::future::pending()).await.unwrap();
    assert_eq!(ended.how, How::Exit(3));
}

#[tokio::test]
async fn the_end_of_the_messages_is_kept_without_secrets() {
    let mut tool = script(
        "cat >&2; echo 'Error: bad login for pass%20word' >&2; yes filler | head -c 210000 >&2; echo end pass word >&2; exit 1",
    );
    tool.stdin = b"warning: this is no error\n".to_vec();
    tool.secrets = vec!["pass word".to_owned()];
    let (ended, _) = Bench::new().run(tool).await;
    assert_eq!(ended.first_error.as_deref(), Some("Error: bad login for ***"));
    assert!(ended.stderr.starts_with("filler\n") && ended.stderr.ends_with("filler\nend ***\n"));
    assert!(ended.stderr.len() <= 64 << 10);
}
