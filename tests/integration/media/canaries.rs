//! Recognisable secrets of media jobs: a worker and an API run with them, and they are only where they were put.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use sim::media::{MediaFault, MediaFaultKind, Origin};
use testkit::{Child, PATIENCE, until};
use tokio::process::Command;

use super::accounts::{has_tool, processes_in};
use super::harness::{KEY, MediaHarness};
use super::secret_jobs::{EASYNEWS_PASSWORD, REFUSED_PASSWORD, SENT, ToolJobs};
use super::videos;
use crate::api::canaries::{Canaries, command_lines, reads, rows};
use crate::api::server::{Answer, open};
use crate::notifications::tools::SECRET;

const OPEN: &str = "SELECT count(*) FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running')";

fn canaries() -> Canaries {
    let mut all: Vec<String> = SENT.into_iter().chain([KEY, REFUSED_PASSWORD, SECRET]).map(str::to_owned).collect();
    all.push(SECRET.trim_start_matches("whsec_").to_owned());
    let logins = [("member", EASYNEWS_PASSWORD), ("u", REFUSED_PASSWORD)];
    all.extend(logins.map(|(username, password)| STANDARD.encode(format!("{username}:{password}"))));
    Canaries(all)
}

/// Runs the tools until each is in the middle of a file, looks at all processes, and cancels the jobs.
async fn look_at_running_tools(harness: &MediaHarness, worker: &Child, jobs: &ToolJobs) {
    for file in &jobs.files {
        harness.site.add_fault(file, MediaFault::new(MediaFaultKind::StalledAfter(10)));
    }
    let ids = harness.enqueue_all(&jobs.tasks).await;
    let is_stalled = |file: &String| harness.site.bytes_sent(file) > 0;
    until("each tool is in a file", PATIENCE, async || jobs.files.iter().all(is_stalled)).await;

    let canaries = canaries();
    let tools = processes_in(&harness.services.media.work_dir).into_iter();
    // a tool that has just ended is left out
    let tools: Vec<_> =
        tools.filter_map(|process| Some((shown(process, "cmdline")?, shown(process, "environ")?))).collect();
    for (name, count) in [("gallery-dl", 2), ("yt-dlp", 1)] {
        assert!(tools.iter().filter(|(line, _)| line.contains(name)).count() >= count, "{name}: {tools:?}");
    }
    for (line, environment) in &tools {
        canaries.assert_absent(&format!("the environment of {line}"), environment);
    }
    // the worker has the key in its environment, and nothing that the key opens
    let environment = shown(worker.id().unwrap(), "environ").unwrap().replace(KEY, "");
    canaries.assert_absent("the environment of the worker", &environment);
    for (process, line) in command_lines() {
        canaries.assert_absent(&process, &line);
    }
    for id in ids {
        db::tasks::cancel(&harness.database.db.client().await.unwrap(), id).await.unwrap();
    }
    until("the tools are gone", PATIENCE, async || processes_in(&harness.services.media.work_dir).is_empty()).await;
    jobs.files.iter().for_each(|file| harness.site.remove_faults(file));
}

/// None: it has ended.
fn shown(process: u32, file: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{process}/{file}")).ok()?;
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A backup of the database, as an operator makes it.
async fn backup(harness: &MediaHarness) -> String {
    let bin = "SELECT setting FROM pg_config WHERE name = 'BINDIR'";
    let bin: String = harness.database.raw.query_one(bin, &[]).await.unwrap().get(0);
    let dump = Command::new(Path::new(&bin).join("pg_dump")).arg(&harness.database.url).output().await;
    let dump = dump.expect("pg_dump comes with the server");
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    String::from_utf8_lossy(&dump.stdout).into_owned()
}

/// Asks everything, without a look for this machine's paths, which the settings of a test show.
async fn ask_everything(api: &Child) -> Vec<(String, Answer)> {
    let address = MediaHarness::address_of(api).await;
    let mut answers = Vec::new();
    for path in reads() {
        let request = http::Request::get(&path).header("host", address.to_string()).body(Full::default()).unwrap();
        let (head, body) = open(address, request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        answers.push((path, Answer { status: head.status, headers: head.headers, body }));
    }
    answers
}

#[tokio::test]
async fn secrets_of_media_jobs_stand_in_no_process_log_row_backup_metric_answer_or_request_elsewhere() {
    if !has_tool() || !videos::has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let tools = harness.add_tool_jobs().await;
    let mut at_its_fullest = harness.drover(3);
    at_its_fullest.args(["worker", "--role", "media"]).env("DROVER__LOG__LEVEL", "debug");
    let worker = Child::spawn(&mut at_its_fullest).allow_errors(&["failed for good"]);
    look_at_running_tools(&harness, &worker, &tools).await;

    harness.add_endpoints_for_all().await;
    let jobs = harness.enqueue_jobs_with_secrets(&tools).await;
    until("the webhook has all", PATIENCE, async || harness.site.deliveries("jobs").len() == jobs).await;
    until("nothing is left to do", PATIENCE, async || harness.number(OPEN).await == 0).await;

    let canaries = canaries();
    for (place, text) in rows(&harness.database.url).await {
        canaries.assert_absent(&place, &text);
    }
    let backup = backup(&harness).await;
    assert!(backup.contains("$drover$1$"), "it has no credential");
    canaries.assert_absent("the backup", &backup);
    canaries.assert_absent("the metrics", &worker.metrics().await);
    let log = [worker.stderr(), worker.stdout()].concat().join("\n");
    assert!(log.contains("\"level\":\"DEBUG\"") && log.contains("failed for good"), "the log is read at its fullest");
    canaries.assert_absent("the log", &log);
    drop(worker);

    let api = harness.spawn_api().await;
    let answers = ask_everything(&api).await;
    let good = answers.iter().filter(|(_, answer)| answer.status == 200).count();
    assert!(good >= 40, "only {good} answers");
    for (path, answer) in answers {
        canaries.assert_absent(&path, &format!("{:?} {}", answer.headers, answer.text()));
    }
    canaries.assert_absent("the log of the API", &api.stderr().join("\n"));

    assert!(harness.site.requests().iter().any(|request| request.origin == Origin::Elsewhere), "no redirect was met");
    for secret in SENT {
        harness.assert_sent_to_the_site_alone(secret);
    }
    for unsent in [KEY, SECRET] {
        assert_eq!(harness.site.occurrences(unsent), []);
    }
}
