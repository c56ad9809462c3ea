//! `drover jobs import FILE`: brings the jobs of an older queue over, part by part, each part in one transaction.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::older_queue::{OldRow, OlderQueue, OlderQueueError};
use crate::cli::progress::CommandProgress;
use crate::cli::{CliError, Env, ExitCode, input, shown};
use contract::job_imports::{ImportedJobs, JobImport, MAX_JOBS, OldJobRequest, RefusedJob};
use contract::jobs::notice_of_no_address;
use domain::amounts::counted;
use domain::task::TaskId;
use foundation::clock::Clock;

/// Maximum number of jobs that are named for one reason.
const MAX_NAMED: usize = 20;
/// Maximum number of characters of a reason.
const MAX_REASON: usize = 500;
const PART: i64 = MAX_JOBS as i64;
/// Maximum number of running jobs in the answer.
const MAX_RUNNING: i64 = 1_000;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// SQLite file with the table worker_job_queue. It is only read, with its write-ahead log, also while its worker runs
    file: PathBuf,
    /// Name of this queue: a job that was imported under it is not imported again [default: name of the file]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// Show the jobs that would be imported, without importing any
    #[arg(long)]
    dry_run: bool,
    /// Also import jobs that have ended
    #[arg(long)]
    history: bool,
}

#[derive(Default, Serialize)]
struct Answer {
    imported: usize,
    /// Jobs that were imported before, or are the same as an open job.
    skipped: usize,
    refused: Vec<RefusedRow>,
    /// Ids in the older queue, each with its id here.
    ids: BTreeMap<i64, TaskId>,
    /// Ids of jobs that the older worker was running.
    running: Vec<i64>,
    /// Jobs to scrape accounts whose addresses are not known, by platform.
    without_address: BTreeMap<String, usize>,
    /// Jobs not imported because the command was stopped.
    remaining: usize,
}

/// A job of the older queue that is not imported, by its id there.
#[derive(Serialize)]
struct RefusedRow {
    old_id: OldId,
    reason: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OldId {
    Number(i64),
    /// A value as SQL writes it.
    Other(String),
}

impl fmt::Display for OldId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OldId::Number(id) => write!(f, "{id}"),
            OldId::Other(id) => f.write_str(id),
        }
    }
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let (file, history) = (args.file.clone(), args.history);
    let source = args.source.clone().or_else(|| source_of(&args.file));
    let source = source.ok_or_else(|| CliError::usage("the file's name is not UTF-8: give --source NAME"))?;
    if !args.file.is_file() {
        return Err(CliError::not_found(format!("there is no file {}", args.file.display())).into());
    }
    let opened = spawn_blocking(move || {
        let queue = OlderQueue::open(&file, history)?;
        let answer =
            Answer { running: queue.running(MAX_RUNNING)?, remaining: queue.count_left()?, ..Answer::default() };
        let odd_ids = queue.odd_ids()?;
        Ok::<_, OlderQueueError>((queue, answer, odd_ids))
    });
    let (queue, mut answer, odd_ids) = opened.await?.with_context(|| args.file.display().to_string())?;
    warn_of_running(&answer.running);
    answer.refused.extend(odd_ids.into_iter().map(RefusedRow::without_number));
    let answer = import(queue, answer, &source, args.dry_run, env).await?;
    env.out.either(&answer, |answer| text_of(answer, args.dry_run))?;
    Ok(input::code(answer.remaining, answer.refused.len()))
}

async fn import(
    mut queue: OlderQueue,
    mut answer: Answer,
    source: &str,
    dry_run: bool,
    env: &Env,
) -> anyhow::Result<Answer> {
    let api = if dry_run { env.api_to_read().await? } else { env.api().await? };
    let progress = CommandProgress::begin(env, "jobs");
    progress.set_total(answer.remaining as u64);
    loop {
        fail::fail_point!("jobs.import_part");
        let part: Vec<OldRow>;
        (queue, part) = spawn_blocking(move || queue.next_part(PART).map(|part| (queue, part))).await??;
        let read = part.len();
        if read == 0 {
            answer.remaining = 0;
            return Ok(answer);
        }
        let jobs: Vec<OldJobRequest> = part.into_iter().filter_map(|row| answer.checked(row)).collect();
        if !jobs.is_empty() {
            let request = JobImport { source: source.to_owned(), jobs, dry_run };
            let so_far =
                || format!("imported: {}; run the same command again for the rest", counted(answer.imported, "job"));
            let done: ImportedJobs = api.post("/api/jobs/import", &request).await.with_context(so_far)?;
            answer.add(done);
        }
        progress.advance(read as u64);
        if progress.is_stopped() {
            answer.remaining = spawn_blocking(move || queue.count_left()).await??;
            return Ok(answer);
        }
    }
}

impl Answer {
    /// The job, unless the API would refuse it and all others of the same request.
    fn checked(&mut self, row: OldRow) -> Option<OldJobRequest> {
        let checked = row.and_then(|job| match job.clone().check(Clock::system().utc()) {
            Ok(_) => Ok(job),
            Err(fault) => Err(RefusedJob { old_id: job.old_id, reason: fault.to_string() }),
        });
        checked.map_err(|refused| self.refused.push(refused.into())).ok()
    }

    fn add(&mut self, ImportedJobs { imported, skipped, refused, without_address }: ImportedJobs) {
        for (platform, jobs) in without_address {
            *self.without_address.entry(platform).or_default() += jobs;
        }
        self.imported += imported.len();
        self.skipped += skipped.len();
        self.refused.extend(refused.into_iter().map(RefusedRow::from));
        self.ids.extend(imported.into_iter().chain(skipped).filter_map(|job| Some((job.old_id, job.id?))));
    }
}

impl RefusedRow {
    fn without_number(id: String) -> RefusedRow {
        RefusedRow { old_id: OldId::Other(id), reason: "id: it is not a whole number".to_owned() }
    }
}

impl From<RefusedJob> for RefusedRow {
    fn from(RefusedJob { old_id, reason }: RefusedJob) -> RefusedRow {
        RefusedRow { old_id: OldId::Number(old_id), reason: shown(&reason, MAX_REASON) }
    }
}

fn source_of(file: &Path) -> Option<String> {
    Some(file.file_name()?.to_str()?.to_owned())
}

fn warn_of_running(running: &[i64]) {
    if running.is_empty() {
        return;
    }
    tracing::warn!(
        "the older worker is still running the jobs with its ids {}: they are imported as pending, and run twice unless you stop it before a drover worker starts",
        named(running)
    );
}

fn named(ids: &[i64]) -> String {
    let first = ids.iter().take(MAX_NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match ids.len().saturating_sub(MAX_NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn text_of(answer: &Answer, dry_run: bool) -> String {
    let done = if dry_run { "jobs to import" } else { "jobs imported" };
    let mut lines = vec![format!(
        "{done}: {}, known already: {}, refused: {}",
        answer.imported,
        answer.skipped,
        answer.refused.len()
    )];
    lines.extend(answer.refused.iter().take(MAX_NAMED).map(|job| format!("  {}: {}", job.old_id, job.reason)));
    if answer.refused.len() > MAX_NAMED {
        lines.push(format!("  and {} more; --json names them all", answer.refused.len() - MAX_NAMED));
    }
    let unknown = answer.without_address.iter().take(MAX_NAMED);
    lines.extend(unknown.map(|(platform, jobs)| notice_of_no_address(platform, *jobs)));
    lines.extend(input::outcome(answer.remaining, 0, None));
    lines.join("\n")
}
