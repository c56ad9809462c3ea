//! `drover tasks list`.

use std::collections::BTreeSet;

use chrono::TimeDelta;

use super::filter::{FLAGS, Filter, list_path};
use super::stopped::reasons;
use crate::cli::{Env, ExitCode, time, values};
use contract::age_sort::AgeSort;
use contract::tasks::{Counts, TaskCounts, TaskFilter, TaskPage, TaskView};
use domain::amounts::grouped;
use domain::task::retry_state::RetryState;
use domain::vocabulary::Word;
use foundation::clock::Clock;

/// Maximum number of reasons shown why pending tasks are not claimed.
const MAX_REASONS: usize = 5;
/// Totals that are older say so.
const MAX_LAG: TimeDelta = TimeDelta::seconds(5);
/// Ends the summary above tasks that a filter chose.
const WHOLE_QUEUE: &str = " (of the whole queue)";

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    filter: Filter,
    /// Order of the list: newest or oldest first
    #[arg(long, value_name = "ORDER", default_value = "newest", value_parser = values::word::<AgeSort>)]
    sort: AgeSort,
    /// Maximum number of tasks
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(FLAGS);
    let filter = args.filter.resolve(&api).await?;
    let path = list_path(&TaskFilter { sort: args.sort, ..filter.clone() }, args.limit)?;
    let page: TaskPage = api.get(&path).await?;
    if !env.out.is_json() {
        let counts: TaskCounts = api.get("/api/tasks/counts").await?;
        let is_filtered = filter != TaskFilter::default();
        env.out.line(format_args!("{}{}", summary(&counts.all), if is_filtered { WHOLE_QUEUE } else { "" }))?;
        // the totals of ended tasks are kept, and brought up to date now and then
        let lag = Clock::system().utc().signed_duration_since(counts.as_of);
        if lag > MAX_LAG || page.tasks.iter().any(|task| task.completed_at > Some(counts.as_of)) {
            env.out.line(format_args!("Completed and failed tasks are counted up to {}", time(counts.as_of)))?;
        }
    }
    if let Some(stopped) = page.stopped.as_ref().filter(|_| !env.out.is_json()) {
        let reasons: BTreeSet<String> = page.tasks.iter().flat_map(|task| reasons(stopped, task)).collect();
        for reason in reasons.iter().take(MAX_REASONS) {
            env.out.line(format_args!("Not claimed: {reason}"))?;
        }
    }
    let headers = ["id", "role", "store", "status", "prio", "retries", "worker", "created", "error"];
    env.out.list(&page, &page.tasks, &headers, cells)?;
    env.out.note_of_none(&page.tasks, "no tasks to show: schedules create tasks, and so does `drover tasks generate`");
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

/// Claimed and stale tasks belong to a worker: they count as running.
fn summary(counts: &Counts) -> String {
    let running = counts.running + counts.claimed + counts.stale;
    let (pending, completed, failed) = (counts.pending, counts.completed, counts.failed);
    let [pending, running, completed, failed] = [pending, running, completed, failed].map(grouped);
    format!("Pending: {pending} Running: {running} Completed: {completed} Failed: {failed}")
}

fn cells(task: &TaskView) -> Vec<String> {
    let store = task.dispensary_name.clone().or_else(|| task.dispensary_id.map(|id| id.to_string()));
    let worker = task.worker_name.clone().or_else(|| task.worker_id.clone());
    let error = task.error_message.as_deref().unwrap_or_default();
    vec![
        task.id.to_string(),
        task.role.to_string(),
        store.unwrap_or_else(|| "-".to_owned()),
        task.status.to_string(),
        task.priority.to_string(),
        retries(task),
        worker.unwrap_or_else(|| "-".to_owned()),
        time(task.created_at),
        first_words(error),
    ]
}

/// `0/3 permanent`: used retries, and why there is no other try.
fn retries(task: &TaskView) -> String {
    let used = format!("{}/{}", task.retry_count, task.max_retries);
    match task.retry_state {
        Some(Word::Known(RetryState::Permanent)) => format!("{used} permanent"),
        _ => used,
    }
}

/// The beginning of the first line.
fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_the_line_that_scripts_read() {
        let counts = Counts { pending: 45, claimed: 1, running: 2, completed: 1234, failed: 12, ..Counts::default() };
        assert_eq!(summary(&counts), "Pending: 45 Running: 3 Completed: 1,234 Failed: 12");
    }
}
