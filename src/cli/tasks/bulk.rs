//! `drover tasks bulk`: one action on all tasks that a filter finds. A large number becomes an operation,
//! which this command follows.

use std::io::{self, IsTerminal};
use std::time::Duration;

use super::filter::{FLAGS, Filter};
use crate::cli::progress::CommandProgress;
use crate::cli::{ApiClient, CliError, Env, ExitCode, values};
use contract::operations::{BulkAnswer, BulkRequest, Failure, Operation};
use db::{Db, tasks};
use domain::amounts::counted;
use domain::task::bulk_action::BulkAction;
use domain::vocabulary;

const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum printed reasons.
const MAX_REASONS: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Action: retry, cancel, delete or reprioritize
    #[arg(value_parser = action)]
    action: BulkAction,
    #[command(flatten)]
    filter: Filter,
    /// New priority for reprioritize, from -1000 to 1000; higher runs first
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::whole_number)]
    priority: Option<i64>,
    /// Count the tasks that match and the tasks that can be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Confirm the action; required for cancel and delete, and for all at a terminal
    #[arg(long)]
    yes: bool,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    if args.filter.is_empty() {
        return Err(CliError::usage("choose tasks with at least one filter, such as --status failed").into());
    }
    let (action, priority) = (args.action, args.priority);
    let api = env.api().await?.naming(FLAGS);
    let filter = args.filter.resolve(&api).await?;
    let request = |dry_run| BulkRequest { action, filter: Some(filter.clone()), ids: None, priority, dry_run };
    if args.dry_run || !args.yes && (destroys(action) || io::stdin().is_terminal()) {
        let counts = api.post("/api/tasks/bulk", &request(true)).await?;
        let BulkAnswer::DryRun { matched, eligible } = counts else { return Err(unexpected()) };
        if !args.dry_run {
            let tasks = counted(eligible, "task");
            let fault = format!("this would {action} {tasks}: confirm with --yes, or count with --dry-run");
            return Err(CliError::usage(fault).into());
        }
        let verb = if matched == 1 { "matches" } else { "match" };
        let text = format!("{} {verb}; can be changed by {action}: {eligible}", counted(matched, "task"));
        env.out.either(&counts, |_| text)?;
        return Ok(ExitCode::Ok);
    }
    match api.post("/api/tasks/bulk", &request(false)).await? {
        BulkAnswer::DryRun { .. } => Err(unexpected()),
        BulkAnswer::Started(operation) => follow(*operation, &api, env).await,
        BulkAnswer::Done { done, failed } => {
            let refused = failed.len();
            let answer = BulkAnswer::Done { done, failed: failed.clone() };
            env.out.either(&answer, |_| text(action.name(), done as i64, refused as i64, &failed))?;
            Ok(code(done as i64, refused as i64))
        }
    }
}

fn destroys(action: BulkAction) -> bool {
    matches!(action, BulkAction::Cancel | BulkAction::Delete)
}

/// Follows it until it has ended, or until a signal. Without a server, this command processes the operation
/// itself.
async fn follow(mut operation: Operation, api: &ApiClient, env: &Env) -> anyhow::Result<ExitCode> {
    let db = if env.is_remote() { None } else { Some(env.db().await?) };
    let progress = CommandProgress::begin(env, "tasks");
    progress.set_total(operation.matched.unsigned_abs());
    let mut shown = 0;
    while operation.ended_at.is_none() {
        if progress.is_stopped() {
            let continues =
                format!("operation {} continues where `drover api`, `up` or `scheduler` runs", operation.id);
            return Ok(progress.interrupted(continues));
        }
        work_or_wait(db.as_ref(), &progress).await?;
        operation = api.get(&format!("/api/operations/{}", operation.id)).await?;
        let done = (operation.done + operation.failed).unsigned_abs();
        progress.advance(done.saturating_sub(shown));
        shown = done;
    }
    drop(progress);
    env.out.either(&operation, |ended| text(&ended.action.to_string(), ended.done, ended.failed, &ended.failures))?;
    match operation.error {
        Some(error) => Err(anyhow::anyhow!("operation {} failed: {error}", operation.id)),
        None => Ok(code(operation.done, operation.failed)),
    }
}

async fn work_or_wait(db: Option<&Db>, progress: &CommandProgress) -> anyhow::Result<()> {
    let batch = match db {
        Some(db) => tasks::operations::run_batch(db).await?,
        None => None,
    };
    if batch.is_none() {
        progress.pause(POLL_INTERVAL).await;
    }
    Ok(())
}

fn text(action: &str, done: i64, failed: i64, failures: &[Failure]) -> String {
    let mut lines = vec![format!("{action}: {} changed, {failed} unchanged", counted(done, "task"))];
    lines.extend(failures.iter().take(MAX_REASONS).map(|failure| format!("  task {}: {}", failure.id, failure.reason)));
    match failed - failures.len().min(MAX_REASONS) as i64 {
        more if more > 0 => lines.push(format!("  and {more} more")),
        _ => {}
    }
    lines.join("\n")
}

fn code(done: i64, failed: i64) -> ExitCode {
    match (done, failed) {
        (_, 0) => ExitCode::Ok,
        (0, _) => ExitCode::Failure,
        _ => ExitCode::PartialFailure,
    }
}

fn unexpected() -> anyhow::Error {
    anyhow::anyhow!("this version of drover cannot read the answer of the server")
}

fn action(text: &str) -> Result<BulkAction, String> {
    vocabulary::find(text).ok_or_else(|| format!("expected one of {}", vocabulary::words::<BulkAction>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_reasons_are_printed_and_the_rest_is_counted() {
        let failure = |id| Failure { id, reason: "task 9 waits for it".to_owned() };
        let few: Vec<Failure> = (1..=2).map(failure).collect();
        let expected =
            "delete: 1 task changed, 2 unchanged\n  task 1: task 9 waits for it\n  task 2: task 9 waits for it";
        assert_eq!(text("delete", 1, 2, &few), expected);
        let many: Vec<Failure> = (1..=100).map(failure).collect();
        let lines = text("delete", 0, 250, &many);
        assert!(lines.lines().count() == 12 && lines.ends_with("and 240 more"), "{lines}");
    }
}
