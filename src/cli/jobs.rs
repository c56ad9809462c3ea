//! `drover jobs`: media jobs. They are tasks in the words of clients that know them as jobs.

mod import;
#[cfg_attr(not(feature = "media"), path = "jobs/older_queue_absent.rs")]
mod older_queue;

use chrono::{DateTime, Utc};
use clap::Subcommand;
use serde_json::{Value, json};

use super::{ApiClient, CliError, ClientError, Env, ExitCode, Ids, each, time, values, with_query};
use contract::jobs::{CreatedJob, JobChange, JobPage, JobRequest, JobStatus, JobView, JobsNow};
use domain::task::TaskId;
use domain::vocabulary::Word;

/// Priority of what a person wants now: before what programs ask for.
const RUN_NOW: i64 = 2;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List jobs, newest first
    List(List),
    /// Show a job with its progress
    Show {
        /// Job id, as shown by `jobs list`
        #[arg(allow_negative_numbers = true, value_parser = values::id)]
        id: TaskId,
    },
    /// Queue a job. Example: jobs run scrape_account --platform instagram --account someone
    #[command(visible_alias = "run")]
    Add(Add),
    /// Show running jobs, the number of waiting jobs, and whether a worker takes them
    Status,
    /// Change the priority or start time of pending jobs
    Set(Set),
    /// Cancel jobs that have not ended. A running job stops at the next heartbeat of its worker
    Cancel(Ids),
    /// Retry failed or cancelled jobs, with all of their retries
    Retry(Ids),
    /// Delete jobs that no worker holds, with their history
    Delete(Ids),
    /// Import the jobs of an older queue, each once: pending and running ones become pending
    Import(import::Args),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// Only jobs with this status: pending, running, completed, failed or cancelled
    #[arg(long)]
    status: Option<String>,
    /// Only jobs of this platform
    #[arg(long)]
    platform: Option<String>,
    /// Only jobs for this account
    #[arg(long)]
    account: Option<String>,
    /// Only jobs of this type, such as scrape_account
    #[arg(long = "type", value_name = "TYPE")]
    job_type: Option<String>,
    /// Only jobs that this job or task created
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    parent: Option<TaskId>,
    /// Maximum number of jobs
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// Type of the job, such as scrape_account or youtube_monitor
    #[arg(value_name = "TYPE")]
    job_type: String,
    /// Platform of the account
    #[arg(long)]
    platform: Option<String>,
    /// Account that the job is for
    #[arg(long)]
    account: Option<String>,
    /// Priority from 1 (first) to 10 [default: 2, or 5 with --at]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// Input of the job, such as {"creator_id": 7}
    #[arg(long, value_name = "JSON", value_parser = values::json)]
    payload: Option<Value>,
    /// Run it no earlier than this time, such as 2025-01-10T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    at: Option<DateTime<Utc>>,
    /// Run it after this task or job has completed; repeat the option for several
    #[arg(long = "after", value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    after: Vec<TaskId>,
}

#[derive(Debug, clap::Args)]
pub struct Set {
    #[command(flatten)]
    jobs: Ids,
    /// Priority from 1 (first) to 10
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// Run it no earlier than this time, such as 2025-01-10T08:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time, conflicts_with = "now")]
    at: Option<DateTime<Utc>>,
    /// Run it as soon as a worker is free
    #[arg(long)]
    now: bool,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 3] = [("job_type", "TYPE"), ("scheduled_for", "--at"), ("depends_on", "--after")];

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List(args) => list(args, env).await,
        Command::Show { id } => show(id, env).await,
        Command::Add(args) => add(args, env).await,
        Command::Status => status(env).await,
        Command::Set(args) => set(args, env).await,
        Command::Cancel(Ids { ids }) => {
            each(&ids, env, async |api, id| api.post(&format!("/api/jobs/{id}/cancel"), &json!({})).await, line).await
        }
        Command::Retry(Ids { ids }) => {
            each(&ids, env, async |api, id| api.post(&format!("/api/jobs/{id}/retry"), &json!({})).await, line).await
        }
        Command::Delete(Ids { ids }) => delete(&ids, env).await,
        Command::Import(args) => import::run(args, env).await,
    }
}

async fn list(args: List, env: &Env) -> anyhow::Result<ExitCode> {
    let query = [
        ("status", args.status),
        ("platform", args.platform),
        ("account", args.account),
        ("job_type", args.job_type),
        ("parent", args.parent.map(|id| id.to_string())),
        ("limit", Some(args.limit.to_string())),
    ];
    let api = env.api_to_read().await?.naming(&FLAGS);
    let page: JobPage = api.get(&with_query("/api/jobs", query)).await?;
    env.out.list(&page, &page.jobs, &HEADERS, cells)?;
    env.out.note_of_none(&page.jobs, "no jobs to show: queue a job with `drover jobs run TYPE`");
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

async fn show(id: TaskId, env: &Env) -> anyhow::Result<ExitCode> {
    let job: JobView = env.api_to_read().await?.get(&format!("/api/jobs/{id}")).await?;
    env.out.either(&job, text)?;
    Ok(ExitCode::Ok)
}

async fn add(args: Add, env: &Env) -> anyhow::Result<ExitCode> {
    let request = JobRequest {
        job_type: args.job_type,
        platform: args.platform,
        account: args.account,
        priority: args.priority.or(args.at.is_none().then_some(RUN_NOW)),
        payload: args.payload.unwrap_or_default(),
        scheduled_for: args.at,
        max_retries: None,
        depends_on: Some(args.after).filter(|ids| !ids.is_empty()),
    };
    let made: CreatedJob = env.api().await?.naming(&FLAGS).post("/api/jobs", &request).await?;
    env.out.either(&made, |made| line(&made.job))?;
    if let Some(notice) = &made.notice {
        env.out.note(notice);
    }
    Ok(ExitCode::Ok)
}

async fn status(env: &Env) -> anyhow::Result<ExitCode> {
    let now: JobsNow = env.api_to_read().await?.get("/api/scheduler/status").await?;
    if !env.out.is_json() {
        let worker = if now.worker_healthy { "a live worker claims jobs" } else { "no live worker claims jobs" };
        let waits = now.pending_counts.iter().map(|pending| {
            format!("{} {}", pending.count, pending.platform.as_deref().unwrap_or("without a platform"))
        });
        let waits = waits.collect::<Vec<_>>().join(", ");
        env.out.line(format_args!("{worker}; pending: {}", if waits.is_empty() { "none" } else { &waits }))?;
    }
    env.out.list(&now, &now.running, &HEADERS, cells)?;
    Ok(ExitCode::Ok)
}

async fn set(args: Set, env: &Env) -> anyhow::Result<ExitCode> {
    let scheduled_for = if args.now { Some(None) } else { args.at.map(Some) };
    if args.priority.is_none() && scheduled_for.is_none() {
        return Err(CliError::usage("give at least one change: --priority, --at or --now").into());
    }
    let change = JobChange { priority: args.priority, scheduled_for };
    let put = async |api: &ApiClient, id| {
        let changed = api.put(&format!("/api/jobs/{id}"), &change).await;
        changed.map_err(|error: ClientError| error.naming_flags(&FLAGS))
    };
    each(&args.jobs.ids, env, put, line).await
}

async fn delete(ids: &[TaskId], env: &Env) -> anyhow::Result<ExitCode> {
    let delete = async |api: &ApiClient, id| {
        api.delete(&format!("/api/jobs/{id}")).await?;
        Ok(json!({ "deleted": id }))
    };
    each(ids, env, delete, |answer| format!("job {} is deleted", answer["deleted"])).await
}

const HEADERS: [&str; 8] = ["id", "type", "platform", "account", "prio", "status", "created", "progress"];

fn cells(job: &JobView) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![
        job.id.to_string(),
        job.job_type.to_string(),
        or_dash(&job.platform),
        or_dash(&job.account),
        job.priority.to_string(),
        job.status.to_string(),
        time(job.created_at),
        progress(job).or_else(|| counts(job.result.as_ref()?)).unwrap_or_default(),
    ]
}

/// Its progress, or the reason of its failure. A run is faster than its notes, so a completed job has its result instead.
fn progress(job: &JobView) -> Option<String> {
    if job.status == Word::Known(JobStatus::Completed) {
        return None;
    }
    let message = job.error_message.as_ref().or(job.progress_message.as_ref());
    match (job.progress_percent, message) {
        (Some(percent), Some(message)) => Some(format!("{percent} % {message}")),
        (Some(percent), None) => Some(format!("{percent} %")),
        (None, message) => message.cloned(),
    }
}

/// `files 9, failed 1`
fn counts(result: &Value) -> Option<String> {
    let count =
        |(name, value): (&String, &Value)| Some(format!("{name} {}", value.as_u64().filter(|count| *count > 0)?));
    let counts: Vec<String> = result.as_object()?.iter().filter_map(count).collect();
    Some(if counts.is_empty() { "nothing new".to_owned() } else { counts.join(", ") })
}

fn line(job: &JobView) -> String {
    let time = job.scheduled_for.map(|at| format!(", not before {}", time(at)));
    format!("job {} {}: {}, priority {}{}", job.id, job.job_type, job.status, job.priority, time.unwrap_or_default())
}

fn text(job: &JobView) -> String {
    let times = [("created", Some(job.created_at)), ("started", job.started_at), ("completed", job.completed_at)];
    let times = times.into_iter().filter_map(|(name, at)| Some((name, time(at?))));
    let texts = [
        ("platform", job.platform.clone()),
        ("account", job.account.clone()),
        ("payload", Some(job.payload.to_string())),
        ("retries", Some(format!("{} of {}", job.retry_count, job.max_retries))),
        ("waits for", job.depends_on.as_deref().map(ids).filter(|ids| !ids.is_empty())),
        ("worker", job.worker_id.clone()),
        ("progress", progress(job)),
        ("result", job.result.as_ref().map(Value::to_string)),
    ];
    let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    let lines = times.chain(texts).map(|(name, text)| format!("  {name:<10}{text}"));
    std::iter::once(line(job)).chain(lines).collect::<Vec<_>>().join("\n")
}

fn ids(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::to_string).collect::<Vec<_>>().join(", ")
}
