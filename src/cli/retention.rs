//! `drover retention`: shows how long data is kept, and removes crawled data older than the configured age,
//! as every service does each hour.

use std::time::Duration;

use clap::Subcommand;
use humantime::format_duration;
use serde::Serialize;

use super::progress::CommandProgress;
use super::{CliError, Env, ExitCode, time};
use crate::handlers::housekeeping::Housekeeping;
use crate::handlers::retention::{RetentionReport, RetentionRun};
use api::retention::Retention;
use db::schema;
use domain::amounts::counted;
use storage::{Payloads, Place};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show how long tasks and crawled data are kept, and the last deletions
    Show,
    /// Delete payloads older than retention.payloads, and snapshots and option history older than retention.snapshots
    Run {
        /// Show what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    #[serde(flatten)]
    report: RetentionReport,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Show => show(env).await,
        Command::Run { dry_run } => remove(dry_run, env).await,
    }
}

async fn show(env: &Env) -> anyhow::Result<ExitCode> {
    let retention: Retention = env.api_to_read().await?.get("/api/retention").await?;
    env.out.either(&retention, |retention| {
        let ages = retention.settings.iter().map(|setting| {
            let value = setting.value.as_str().map_or_else(|| setting.value.to_string(), str::to_owned);
            let value = if value.is_empty() { "forever".to_owned() } else { value };
            format!("{:<24}{value}", setting.key)
        });
        let runs = retention.runs.iter().map(|run| {
            let name = format!("last run, {}", run.kind);
            format!("{name:<24}{}, deleted: {}", time(run.ran_at), run.removed)
        });
        ages.chain(runs).collect::<Vec<_>>().join("\n")
    })?;
    Ok(ExitCode::Ok)
}

async fn remove(dry_run: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let ages = &env.config.retention;
    if ages.payloads.is_none() && ages.snapshots.is_none() {
        return Err(CliError::usage(
            "everything is kept: set retention.payloads or retention.snapshots to an age, such as 90d",
        )
        .into());
    }
    let db = if dry_run { env.db_to_read().await? } else { env.db().await? };
    let owner = schema::installation::storage_owner(&db.client().await?).await?;
    let housekeeping = Housekeeping { db, payloads: Payloads::new(Place::of(&env.config)?, owner) };
    let progress = CommandProgress::begin(env, "parts");
    let goes_on = |_: &RetentionReport| {
        progress.advance(1);
        !progress.is_stopped()
    };
    let report = housekeeping.retain(RetentionRun { ages, dry_run, goes_on: &goes_on }).await?;
    let is_stopped = progress.is_stopped();
    drop(progress);
    let answer = Answer { dry_run, report };
    env.out.either(&answer, |answer| text(answer, env))?;
    Ok(match is_stopped {
        true => ExitCode::Interrupted,
        false => code(&answer.report),
    })
}

fn code(report: &RetentionReport) -> ExitCode {
    let is_whole = report.files_left == 0 && report.partitions_in_use.is_empty() && report.payloads_left.is_none();
    if is_whole { ExitCode::Ok } else { ExitCode::PartialFailure }
}

/// Writes the age in days if it is whole days; no other unit shows the age as well.
fn age_text(age: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    match (age.as_secs() / DAY, age.as_secs() % DAY) {
        (days, 0) => counted(days, "day"),
        _ => format_duration(age).to_string(),
    }
}

fn text(answer: &Answer, env: &Env) -> String {
    let Answer { dry_run, report } = answer;
    let done = if *dry_run { "would be deleted" } else { "deleted" };
    let older = |age: Option<Duration>| age.map(|age| format!("older than {}", age_text(age)));
    let mut lines = Vec::new();
    if let Some(age) = older(env.config.retention.payloads) {
        let files = counted(report.payloads.files, "file");
        lines.push(format!("payloads {age}: {files} of {} {done}", counted(report.payloads.bytes, "byte")));
    }
    if let Some(age) = older(env.config.retention.snapshots) {
        let partitions = counted(report.partitions.len(), "partition");
        lines.push(format!(
            "snapshots and history {age}: {partitions} and {} beside them {done}",
            counted(report.loose_rows, "row")
        ));
        let listed = report.partitions.iter();
        lines.extend(
            listed.map(|old| {
                format!("  {}: about {}, {}", old.name, counted(old.rows, "row"), counted(old.bytes, "byte"))
            }),
        );
    }
    lines.extend(report.payloads_left.map(|why| format!("no payloads deleted: {why}")));
    if report.files_left > 0 {
        lines.push(format!("{} cannot be deleted; the next run tries again", counted(report.files_left, "file")));
    }
    lines.extend(report.partitions_in_use.iter().map(|name| format!("{name} is in use; the next run tries again")));
    lines.join("\n")
}
