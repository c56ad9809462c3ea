//! `task_schedules` and `schedule_runs`: finds due schedules, and makes one generation of tasks for each due
//! time, however many processes look for due ones. A failing schedule keeps the reason in `last_error` and
//! does not stop the others.

mod edits;
pub mod forecast;

use chrono::{DateTime, Utc};
use serde_json::Value;
use strum::VariantArray;
use tokio_postgres::Row;

pub use self::edits::{ScheduleError, add, change, remove, trigger};
use super::{Client, Db, DbError, Tx};
use crate::statements::{FromRow, column, first_columns, json, named, optional_word, rows, sql, word};
use contract::schedules::{MAX_UPCOMING, PastRun, Run, SHOWN_UPCOMING, Schedule, ScheduleRuns};
use domain::schedule::skipped::Skipped;
use domain::schedule::{Recurrence, RecurrenceColumns};
use domain::store::Platform;
use domain::task;
use domain::task::kind::{DefaultSchedule, PlatformSchedule};
use domain::task::role::Role;

/// Maximum number of past runs of a schedule.
const MAX_PAST_RUNS: i64 = 20;
/// Maximum number of tasks that are read to count them by run: ended, pending and active ones each.
const MAX_TASKS_OF_RUNS: i64 = 50_000;

/// Remark on the last run of the analytics.
const EARLY: &str = "analytics are refreshed ahead of schedule 1 minute, 10 minutes and 1 hour after the first product, so that they include the first crawls";

/// Columns of a schedule from which Rust computes its due times; the rest stays in the database.
struct ScheduleRow {
    id: i64,
    name: String,
    role: String,
    interval_hours: Option<f64>,
    cron: Option<String>,
    time_zone: Option<String>,
    next_run_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    now: DateTime<Utc>,
}

/// Creates missing default schedules: those of the roles, and those of the platforms.
pub async fn ensure_defaults(client: &Client, of_platforms: &[PlatformSchedule]) -> Result<u64, DbError> {
    let of_platforms = of_platforms.iter().map(|it| (it.role, Some(it.platform), it.schedule));
    let all: Vec<_> = defaults().map(|(role, schedule)| (role, None, schedule)).chain(of_platforms).collect();
    named!(client.execute(
        "schedules/ensure_defaults.sql",
        names = column(&all, |(_, _, schedule)| schedule.name),
        roles = column(&all, |(role, _, _)| role.name()),
        platforms = column(&all, |(_, platform, _)| platform.map(Platform::name)),
        hours = column(&all, |(_, _, schedule)| i32::try_from(schedule.hours).unwrap_or(i32::MAX)),
        priorities = column(&all, |(_, _, schedule)| schedule.priority)
    ))
    .await
}

/// The schedules of the roles that are made from the first start on.
fn defaults() -> impl Iterator<Item = (Role, DefaultSchedule)> {
    Role::VARIANTS.iter().copied().flat_map(|role| {
        role.kind().schedules.iter().filter_map(move |schedule| match schedule {
            task::kind::Schedule::Always(schedule) => Some((role, *schedule)),
            task::kind::Schedule::WithRows { .. } => None,
        })
    })
}

/// Makes the analytics due early after the first crawls of an installation. Returns the names of the schedules.
pub async fn hasten_analytics(client: &Client) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("schedules/hasten_analytics.sql"), &[]).await?)
}

/// Runs the due schedule that was tried longest ago; `None` when none is due, or other processes run them.
/// Tasks and the schedule's update are one transaction; another one writes a failure, which is the run's
/// `fault`.
pub async fn run_due(db: &Db) -> Result<Option<Run>, DbError> {
    let tx = db.begin().await?;
    let Some(row) = tx.query_opt(sql!("schedules/due.sql"), &[]).await? else {
        tx.commit().await?;
        correct_next_runs(&db.client().await?).await?;
        return Ok(None);
    };
    let schedule = ScheduleRow::from_row(&row)?;
    let due_at = schedule.next_run_at.unwrap_or(schedule.now);
    match run_at(tx, &schedule, due_at).await {
        Ok(run) => Ok(Some(run)),
        Err(error) => {
            let fault = error.to_string();
            let failed = sql!("schedules/failed.sql");
            db.client().await?.execute(failed, &[&schedule.id, &fault, &schedule.next_run_at]).await?;
            Ok(Some(Run { fault: Some(fault), ..schedule.run(due_at) }))
        }
    }
}

/// Runs a schedule now, for this due time, which makes nothing more after its first run. `Missing` when there
/// is no schedule of that name.
pub async fn run_for(db: &Db, name: &str, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let schedule = by_name(&tx, name).await?;
    run_at(tx, &schedule, due_at).await
}

pub async fn list(client: &Client) -> Result<Vec<Schedule>, DbError> {
    client.query(sql!("schedules/list.sql"), &[&None::<i64>]).await?.iter().map(shown).collect()
}

pub async fn get(client: &Client, id: i64) -> Result<Option<Schedule>, DbError> {
    let row = client.query_opt(sql!("schedules/list.sql"), &[&Some(id)]).await?;
    row.as_ref().map(shown).transpose()
}

/// Seconds for which the schedule that waits longest for its run has been due; 0 when none is due.
pub async fn lateness(client: &Client) -> Result<f64, DbError> {
    Ok(client.query_one(sql!("schedules/lateness.sql"), &[]).await?.try_get("seconds")?)
}

/// Latest runs of a schedule, newest first, and its next due times; `None` if the schedule does not exist.
pub async fn runs(client: &Client, id: i64) -> Result<Option<ScheduleRuns>, DbError> {
    let Some(schedule) = get(client, id).await? else { return Ok(None) };
    let rows = client.query(sql!("schedules/runs.sql"), &[&id, &MAX_PAST_RUNS, &MAX_TASKS_OF_RUNS]).await?;
    let role = schedule.role.to_string();
    let runs = rows.iter().map(|row| past_run(row, &role)).collect::<Result<_, _>>()?;
    Ok(Some(ScheduleRuns { runs, upcoming: schedule.next_times(MAX_UPCOMING) }))
}

/// Keeps runs for a month: a run's row prevents a second run of its due time for as long as that time can
/// come again.
pub async fn prune(client: &Client) -> Result<u64, DbError> {
    client.execute(sql!("schedules/prune.sql"), &[]).await
}

/// Locks the schedule: no other transaction runs or changes it until this one ends.
async fn lock(tx: &Tx, id: i64) -> Result<Option<ScheduleRow>, DbError> {
    let row = tx.query_opt(sql!("schedules/lock.sql"), &[&Some(id), &None::<&str>]).await?;
    row.as_ref().map(ScheduleRow::from_row).transpose()
}

async fn by_name(tx: &Tx, name: &str) -> Result<ScheduleRow, DbError> {
    let row = tx.query_opt(sql!("schedules/lock.sql"), &[&None::<i64>, &Some(name)]).await?;
    ScheduleRow::from_row(&row.ok_or_else(|| DbError::Missing(format!("a schedule named '{name}'")))?)
}

/// The latest run, if it was made within 10 s.
async fn run_recently(tx: &Tx, schedule: &ScheduleRow) -> Result<Option<Run>, DbError> {
    let row = tx.query_opt(sql!("schedules/recent_run.sql"), &[&schedule.id]).await?;
    let Some(row) = row else { return Ok(None) };
    let run = Run { already_made: true, ..schedule.run(row.try_get("due_at")?) };
    Ok(Some(counted(run, schedule, &row)?))
}

/// Ends the transaction in both cases.
async fn run_at(tx: Tx, schedule: &ScheduleRow, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    match run_within(&tx, schedule, due_at).await {
        Ok(run) => {
            tx.commit().await?;
            Ok(run)
        }
        Err(error) => {
            // releases the schedule's row at once; otherwise the connection's end does
            let _ = tx.rollback().await;
            Err(error)
        }
    }
}

async fn run_within(tx: &Tx, schedule: &ScheduleRow, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let run = schedule.run(due_at);
    let (next, role) = match schedule.next_run() {
        Ok(next) => next,
        Err(fault) => {
            // otherwise a schedule that cannot be read would stay due
            tx.execute(sql!("schedules/broken.sql"), &[&schedule.id, &fault]).await?;
            return Ok(Run { fault: Some(fault), ..run });
        }
    };
    if tx.query_opt(sql!("schedules/record_run.sql"), &[&schedule.id, &due_at]).await?.is_none() {
        let made = tx.query_one(sql!("schedules/skip.sql"), &[&schedule.id, &due_at, &next]).await?;
        return counted(Run { already_made: true, ..run }, schedule, &made);
    }
    let (id, per_store) = (schedule.id, role.per_store());
    let made = named!(tx.query_one("schedules/run.sql", id, role = role.name(), per_store, next)).await?;
    let skipped: Value = made.try_get("skipped")?;
    let run = counted(run, schedule, &made)?;
    named!(tx.execute("schedules/ran.sql", id, due_at, next, tasks = run.tasks, skipped)).await?;
    Ok(run)
}

/// Moves a next run that is later than the recurrence allows (a clock that went forward and back, an interval
/// or cron line changed by hand) to the recurrence's next time.
async fn correct_next_runs(client: &Client) -> Result<(), DbError> {
    for row in &client.query(sql!("schedules/not_due.sql"), &[]).await? {
        let schedule = ScheduleRow::from_row(row)?;
        let Some(next) = schedule.corrected_next_run() else { continue };
        client.execute(sql!("schedules/correct_next_run.sql"), &[&schedule.id, &schedule.next_run_at, &next]).await?;
    }
    Ok(())
}

fn past_run(row: &Row, role: &str) -> Result<PastRun, DbError> {
    let run = PastRun::from_row(row)?;
    Ok(PastRun { note: note(Some(run.tasks), &run.skipped, role), ..run })
}

/// The run with the counts of its row.
fn counted(run: Run, schedule: &ScheduleRow, row: &Row) -> Result<Run, DbError> {
    let (tasks, skipped) = (row.try_get("task_count")?, skipped(row, "skipped")?);
    Ok(Run { tasks, skipped, note: note(Some(tasks), &skipped, &schedule.role), ..run })
}

/// A row written by hand may hold anything.
fn skipped(row: &Row, column: &str) -> Result<Skipped, DbError> {
    Ok(serde_json::from_value(json(row, column)?).unwrap_or_default())
}

/// Reason why a run made no task; its role may be unknown to this program.
fn note(tasks: Option<i32>, skipped: &Skipped, role: &str) -> Option<String> {
    let role = role.parse::<Role>().ok()?;
    (tasks == Some(0)).then(|| skipped.why_nothing(role.per_store()))
}

impl ScheduleRow {
    /// A run that has made nothing yet.
    fn run(&self, due_at: DateTime<Utc>) -> Run {
        Run {
            schedule: self.name.clone(),
            due_at,
            tasks: 0,
            skipped: Skipped::default(),
            note: None,
            already_made: false,
            fault: None,
        }
    }

    fn recurrence(&self) -> Recurrence {
        let read = Recurrence::of_columns(RecurrenceColumns {
            interval_hours: self.interval_hours,
            cron: self.cron.as_deref(),
            time_zone: self.time_zone.as_deref(),
        });
        read.unwrap_or(Recurrence::EveryHours(0.0))
    }

    fn next_run(&self) -> Result<(DateTime<Utc>, Role), String> {
        let role = self.role.parse::<Role>().map_err(|unknown| unknown.to_string())?;
        let next = self.recurrence().next_after(self.created_at, self.now).map_err(|bad| bad.to_string())?;
        Ok((next, role))
    }

    /// The recurrence's next time, if the stored one is later than even the time after that. A schedule that
    /// cannot be read keeps its time, and reports its fault when it is due.
    fn corrected_next_run(&self) -> Option<DateTime<Utc>> {
        let (next, _) = self.next_run().ok()?;
        let second = self.recurrence().next_after(self.created_at, next).ok()?;
        (self.next_run_at? > second).then_some(next)
    }
}

rows! {
    ScheduleRow { id, name, role, interval_hours, cron, time_zone, next_run_at, created_at, now }
    PastRun { due_at, made_at, tasks, completed, failed, cancelled, open, last_end_at, skipped: skipped, note = None }

    Schedule {
        id, name,
        role: word,
        platform: optional_word,
        account, state_code, group_name,
        args: json,
        enabled, interval_hours, cron, time_zone, priority, last_run_at, next_run_at, last_task_count,
        last_skipped: skipped,
        last_note: early("is_early"),
        last_error, version,
        upcoming = Vec::new(),
    }
}

/// A schedule as people see it, with the values that are computed from its columns.
fn shown(row: &Row) -> Result<Schedule, DbError> {
    let mut schedule = Schedule::from_row(row)?;
    let nothing = note(schedule.last_task_count, &schedule.last_skipped, &schedule.role.to_string());
    schedule.last_note = nothing.or(schedule.last_note);
    schedule.upcoming = schedule.next_times(SHOWN_UPCOMING);
    Ok(schedule)
}

fn early(row: &Row, column: &str) -> Result<Option<String>, DbError> {
    Ok(row.try_get::<_, bool>(column)?.then(|| EARLY.to_owned()))
}
