//! Tools that misbehave: the job ends as it should, nothing of them is left, and the next job is not affected.
//!
//! The tool misbehaves for one account, and is the real gallery-dl for all others.

use std::path::PathBuf;
use std::time::Duration;

use domain::task::role::Role;
use http::Method;
use http_body_util::Full;
use nix::sys::signal::Signal;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::json;
use sim::media::MediaPlan;
use testkit::{PATIENCE, until};

use super::accounts::{has_tool, processes_in, scrape_of};
use super::full_disk::has_mounts;
use super::harness::{MediaHarness, job, misbehaving_tool};
use super::processes::{GONE_AFTER_KILL, ToolProcess};
use crate::api::server::send;

/// The tool misbehaves for this account.
const BAD: &str = "bob";
/// Maximum time from the cancel until nothing is left: the tool's ten seconds of grace, and the time to hear of the cancel.
const GONE: Duration = Duration::from_secs(60);
/// How long each run continued after its cancel, by the database's clock: a busy machine may hold this test up.
const NOTE_STOPS: &str = "
    CREATE TABLE stops (took interval);
    CREATE FUNCTION note_stop() RETURNS trigger LANGUAGE plpgsql AS
      $f$ BEGIN INSERT INTO stops VALUES (clock_timestamp() - OLD.cancelled_at); RETURN NULL; END $f$;
    CREATE TRIGGER note AFTER DELETE ON stopping_runs FOR EACH ROW EXECUTE FUNCTION note_stop()";
/// The real tool on a file system of 64 KiB.
const FULL_DISK: &str = "printf '%s\n' \"$input\" | unshare $([ $(id -u) = 0 ] || echo --user --map-root-user) --mount sh -c \
    'mount -t tmpfs -o size=64k none \"$HOME\" && exec \"$@\"' mount \"$real\" \"$@\"";
/// Two thousand files that failed, each with 60 KiB of metadata, and then lines without news to two gigabytes.
const TWO_GIGABYTES: &str = "exec python3 -c '
import json, sys
text = \"x\" * 60000
line = lambda event, number: json.dumps(dict(drover_event=event, category=\"mastodon\", id=number, text=text))
for number in range(2000):
    print(line(\"error\", number))
post = line(\"post\", 0)
for number in range(2 * 10**9 // len(post) - 2000):
    print(post)
sys.exit(32)'";
/// Maximum memory of a worker for a tool, whatever it prints.
const MAX_MEMORY_KIB: u64 = 32 << 10;
/// A program and its child that only SIGKILL ends.
const STUBBORN: &str = "trap '' TERM; (trap '' TERM; exec sleep 600) & sleep 600";
/// The same, and a child in a session of its own.
const STUBBORN_WITH_DAEMON: &str = "trap '' TERM; setsid sleep 600 & (trap '' TERM; exec sleep 600) & sleep 600";

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Done,
    Retry,
    Permanent,
}

fn end(outcome: &Result<Outcome, TaskError>) -> End {
    match outcome {
        Ok(_) => End::Done,
        Err(TaskError::Permanent { .. }) => End::Permanent,
        Err(TaskError::Retry { .. }) => End::Retry,
        Err(other) => panic!("{other}"),
    }
}

/// A tool that runs `misbehaviour` for the bad account.
fn tool(directory: &tempfile::TempDir, misbehaviour: &str) -> PathBuf {
    misbehaving_tool(directory, "gallery-dl", &format!("*/@{BAD}*"), misbehaviour)
}

async fn harness_with(tool: &std::path::Path) -> MediaHarness {
    let harness = MediaHarness::with(MediaPlan::default(), &[("media.gallery_dl", tool.to_str().unwrap())]).await;
    for name in [BAD, "alice"] {
        harness.add_account(name, json!({})).await;
    }
    harness
}

#[rstest]
#[case::nothing_to_do("exit 0", End::Done)]
#[case::unexpected("exit 1", End::Retry)]
#[case::usage("exit 2", End::Permanent)]
#[case::http("exit 4", End::Retry)]
#[case::not_found("printf 'error\\tmastodon\\tNotFoundError: gone\\n' >&2; exit 4", End::Permanent)]
#[case::challenge("exit 8", End::Permanent)]
#[case::login("exit 16", End::Permanent)]
#[case::format("exit 32", End::Permanent)]
#[case::unsupported("exit 64", End::Permanent)]
#[case::disk("exit 128", End::Retry)]
#[case::memory("exec python3 -c 'bytearray(4 << 30)'", End::Retry)]
#[case::a_file_without_end("exec dd if=/dev/zero of=\"$HOME/file\" bs=1M", End::Retry)]
#[case::a_line_without_end("exec cat /dev/zero", End::Permanent)]
#[case::a_full_disk(FULL_DISK, End::Retry)]
#[case::a_child_that_stays("(exec sleep 600) & exit 0", End::Done)]
#[tokio::test]
async fn a_tool_that_misbehaves_ends_its_job_and_no_other(#[case] misbehaviour: &str, #[case] expected: End) {
    if !has_tool() || (misbehaviour == FULL_DISK && !has_mounts()) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let harness = harness_with(&tool(&directory, misbehaviour)).await;
    let outcome = harness.run_task(scrape_of(BAD, json!({}))).await;
    assert_eq!(end(&outcome), expected, "{:?}", outcome.as_ref().err());
    if misbehaviour == FULL_DISK {
        assert!(matches!(outcome, Err(TaskError::Retry { reason }) if reason.contains("No space left on device")));
    }
    assert_eq!(processes_in(&harness.services.media.work_dir), Vec::<u32>::new());

    harness.settle_task(scrape_of("alice", json!({}))).await;
    harness.assert_like(&harness.files_of_account("alice")).await;
}

#[tokio::test]
async fn the_next_worker_ends_what_a_killed_one_left_of_a_tool() {
    if !has_tool() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = tool(&directory, STUBBORN_WITH_DAEMON);
    let harness = MediaHarness::start().await;
    harness.add_account(BAD, json!({})).await;
    let id = harness.enqueue_task(scrape_of(BAD, json!({}))).await;
    let mut worker = testkit::Child::spawn(harness.worker(1).env("DROVER__MEDIA__GALLERY_DL", &path));
    let work = &harness.services.media.work_dir;
    until("the tool runs", PATIENCE, async || work.exists() && processes_in(work).len() >= 4).await;
    let before = ToolProcess::all_in(work);
    worker.signal(Signal::SIGKILL);
    worker.ended(PATIENCE).await;
    db::tasks::cancel(&harness.database.db.client().await.unwrap(), id).await.unwrap();

    let next = harness.spawn_worker();
    let has_ended = async || ToolProcess::left_of(&before, work).is_empty();
    until("nothing of the tool is left", GONE_AFTER_KILL, has_ended).await;
    drop(next);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_worker_reads_two_gigabytes_in_little_memory() {
    if !has_tool() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = tool(&directory, TWO_GIGABYTES);
    let harness = MediaHarness::start().await;
    for name in [BAD, "alice"] {
        harness.add_account(name, json!({})).await;
    }
    let worker = testkit::Child::spawn(harness.worker(1).env("DROVER__MEDIA__GALLERY_DL", &path));
    let worker = worker.allow_errors(&["exit code 32"]);
    let mut peaks = Vec::new();
    for name in ["alice", BAD, "alice"] {
        let id = harness.enqueue_task(scrape_of(name, json!({}))).await;
        let is_over =
            format!("SELECT count(*) FROM worker_tasks WHERE id = {id} AND status IN ('completed', 'failed')");
        until("the job is over", Duration::from_secs(300), async || harness.number(&is_over).await == 1).await;
        peaks.push(peak_memory(worker.id().unwrap()));
    }
    assert!(peaks[2] - peaks[0] <= MAX_MEMORY_KIB, "{peaks:?} KiB");
}

/// Peak of the memory in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[rstest]
#[case::a_job(Role::ScrapeAccount)]
#[case::the_child_of_a_job(Role::PaidContentSync)]
#[tokio::test]
async fn a_cancelled_job_leaves_nothing_of_a_tool_that_ignores_sigterm(#[case] role: Role) {
    if !has_tool() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = tool(&directory, STUBBORN);
    let harness = MediaHarness::start().await;
    harness.add_account(BAD, json!({"kind": "creator"})).await;
    harness.add_account("alice", json!({})).await;
    let task = match role {
        Role::ScrapeAccount => scrape_of(BAD, json!({})),
        _ => job(role, json!({})),
    };
    let id = harness.enqueue_task(task).await;
    harness.database.raw.batch_execute(NOTE_STOPS).await.unwrap();
    let mut command = harness.worker(1);
    // a run that stops for longer than its lease is swept away before it reports its end
    command.env("DROVER__MEDIA__GALLERY_DL", &path).env("DROVER__QUEUE__LEASE", "10m");
    let worker = testkit::Child::spawn(&mut command);
    let work = &harness.services.media.work_dir;
    until("the tool and its child run", PATIENCE, async || work.exists() && processes_in(work).len() >= 3).await;

    // the schedule that syncs creators would run the tool for the same account again
    harness.database.raw.batch_execute("UPDATE task_schedules SET enabled = false").await.unwrap();
    let api = harness.spawn_api().await;
    let address = MediaHarness::address_of(&api).await;
    let cancel = http::Request::builder().method(Method::POST).uri(format!("/api/jobs/{id}/cancel"));
    let cancel = cancel.header("host", address.to_string()).body(Full::default()).unwrap();
    send(address, cancel).await.expect(200);
    let stopping = "SELECT count(*) FROM stopping_runs";
    until("its run has stopped", PATIENCE, async || harness.number(stopping).await == 0).await;
    assert_eq!(processes_in(work), Vec::<u32>::new(), "the tool outlived its run");
    let took = harness.number("SELECT (extract(epoch FROM max(took)) * 1000)::bigint FROM stops").await;
    assert!(Duration::from_millis(took as u64) <= GONE, "{took} ms");
    let open = "SELECT count(*) FROM worker_tasks WHERE status <> 'cancelled' AND schedule_id IS NULL";
    assert_eq!(harness.number(open).await, 0);

    harness.enqueue_task(scrape_of("alice", json!({}))).await;
    let done = "SELECT count(*) FROM worker_tasks WHERE status = 'completed'";
    let is_done = async || harness.number(done).await == 1;
    until("the next job is completed", PATIENCE, is_done).await;
    harness.assert_like(&harness.files_of_account("alice")).await;
    drop(worker);
}
