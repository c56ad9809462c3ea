//! `task_schedules` and `schedule_runs`: which schedule is due, and one generation of tasks for each due time, however many
//! processes look for due ones. A schedule that cannot run keeps the reason in `last_error` and holds up no other.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use super::row::{FromRow, first_column, optional_word, read_all, word};
use super::{Client, Db, DbError, Tx};
use crate::domain::role::Role;
use crate::domain::schedule::Recurrence;
use crate::domain::store::Platform;
use crate::domain::vocabulary::Word;

/// A schedule as people see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub id: i64,
    pub name: String,
    pub role: Word<Role>,
    pub platform: Option<Word<Platform>>,
    pub state_code: Option<String>,
    pub group_name: Option<String>,
    pub enabled: bool,
    pub interval_hours: Option<f64>,
    pub cron: Option<String>,
    pub priority: i32,
    pub last_run_at: Option<DateTime<Utc>>,
    pub next_run_at: Option<DateTime<Utc>>,
    pub last_task_count: Option<i32>,
    pub last_error: Option<String>,
}

/// What one run of a schedule made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    pub schedule: String,
    pub due_at: DateTime<Utc>,
    pub tasks: i32,
    /// The same run was asked for twice, or another process had made it.
    pub already_made: bool,
    /// Why the schedule did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A schedule to be added.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSchedule {
    pub name: String,
    pub role: Role,
    pub platform: Option<Platform>,
    pub state_code: Option<String>,
    /// Only its stores; schedules of the role without a group leave them out.
    pub group_name: Option<String>,
    pub priority: i32,
    pub recurrence: Recurrence,
}

/// What is to change of a schedule; none = stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleChange {
    pub recurrence: Option<Recurrence>,
    /// `Some(None)` = no group.
    pub group_name: Option<Option<String>>,
    pub priority: Option<i32>,
    pub enabled: Option<bool>,
}

/// What Rust reads of a schedule to find its due times; the rest stays in the database.
struct ScheduleRow {
    id: i64,
    name: String,
    role: String,
    interval_hours: Option<f64>,
    cron: Option<String>,
    next_run_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    now: DateTime<Utc>,
}

/// Creates the default schedules where they are absent.
pub async fn ensure_defaults(client: &Client) -> Result<u64, DbError> {
    client.execute(include_str!("sql/schedules/ensure_defaults.sql"), &[]).await
}

/// Runs the due schedule that was tried longest ago; `None` when none is due, or other processes are running them.
/// Tasks and the schedule's update are one transaction; a failure is written in one of its own, and is the run's `fault`.
pub async fn run_due(db: &Db) -> Result<Option<Run>, DbError> {
    let tx = db.begin().await?;
    let Some(row) = tx.query_opt(include_str!("sql/schedules/due.sql"), &[]).await? else {
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
            let failed = include_str!("sql/schedules/failed.sql");
            db.client().await?.execute(failed, &[&schedule.id, &fault, &schedule.next_run_at]).await?;
            Ok(Some(Run { schedule: schedule.name, due_at, tasks: 0, already_made: false, fault: Some(fault) }))
        }
    }
}

/// Runs a schedule now, once, however often it is asked within 10 s. `Missing` when there is none of that name.
pub async fn trigger(db: &Db, name: &str) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let schedule = by_name(&tx, name).await?;
    if let Some(row) = tx.query_opt(include_str!("sql/schedules/recent_run.sql"), &[&schedule.id]).await? {
        let (due_at, tasks) = (row.try_get(0)?, row.try_get(1)?);
        tx.commit().await?;
        return Ok(Run { schedule: schedule.name, due_at, tasks, already_made: true, fault: None });
    }
    run_at(tx, &schedule, schedule.now).await
}

/// Runs a schedule now, for this due time: one that was run already makes nothing more. `Missing` when there is none of that name.
pub async fn run_for(db: &Db, name: &str, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let schedule = by_name(&tx, name).await?;
    run_at(tx, &schedule, due_at).await
}

pub async fn list(client: &Client) -> Result<Vec<Schedule>, DbError> {
    read_all(&client.query(include_str!("sql/schedules/list.sql"), &[]).await?)
}

/// Adds a schedule; one with an interval is due at once. `Conflict` when its name is taken, `Other` when it would never run.
pub async fn add(client: &Client, new: &NewSchedule) -> Result<(), DbError> {
    let (now, next) = next_run(client, &new.name, &new.recurrence).await?;
    let (hours, cron) = columns(Some(&new.recurrence));
    let first = if cron.is_some() { next } else { now };
    client
        .execute(
            include_str!("sql/schedules/add.sql"),
            &[
                &new.name,
                &new.role.name(),
                &new.platform.map(Platform::name),
                &new.state_code,
                &new.group_name,
                &new.priority,
                &hours,
                &cron,
                &first,
            ],
        )
        .await?;
    Ok(())
}

/// Changes a schedule; with another recurrence it runs next at its next time. `Missing` when there is none of that name, `Other` when
/// it would never run.
pub async fn edit(client: &Client, name: &str, change: &ScheduleChange) -> Result<(), DbError> {
    let next = match &change.recurrence {
        Some(recurrence) => Some(next_run(client, name, recurrence).await?.1),
        None => None,
    };
    let (hours, cron) = columns(change.recurrence.as_ref());
    let (changes_group, group) = (change.group_name.is_some(), change.group_name.clone().flatten());
    let edit = include_str!("sql/schedules/edit.sql");
    let changed = client
        .execute(edit, &[&name, &hours, &cron, &changes_group, &group, &change.priority, &change.enabled, &next])
        .await?;
    require(changed, name)
}

/// Removes a schedule with its runs; its tasks stay. `Missing` when there is none of that name.
pub async fn remove(client: &Client, name: &str) -> Result<(), DbError> {
    require(client.execute(include_str!("sql/schedules/remove.sql"), &[&name]).await?, name)
}

fn require(rows: u64, name: &str) -> Result<(), DbError> {
    if rows == 0 { Err(DbError::Missing(format!("a schedule named '{name}'"))) } else { Ok(()) }
}

fn columns(recurrence: Option<&Recurrence>) -> (Option<f64>, Option<&str>) {
    match recurrence {
        Some(Recurrence::EveryHours(hours)) => (Some(*hours), None),
        Some(Recurrence::Cron(line)) => (None, Some(line)),
        None => (None, None),
    }
}

/// The database's time, and the next run after it by this recurrence.
async fn next_run(
    client: &Client,
    name: &str,
    recurrence: &Recurrence,
) -> Result<(DateTime<Utc>, DateTime<Utc>), DbError> {
    let row = client.query_one(include_str!("sql/schedules/anchor.sql"), &[&name]).await?;
    let (anchor, now) = (row.try_get("created_at")?, row.try_get("now")?);
    let next = recurrence.next_after(anchor, now).map_err(|bad| DbError::Other(bad.to_string()))?;
    Ok((now, next))
}

/// Runs are kept for a month: what keeps a due time from being run twice is needed for as long as that time can come again.
pub async fn prune(client: &Client) -> Result<u64, DbError> {
    client.execute(include_str!("sql/schedules/prune.sql"), &[]).await
}

async fn by_name(tx: &Tx, name: &str) -> Result<ScheduleRow, DbError> {
    let row = tx.query_opt(include_str!("sql/schedules/by_name.sql"), &[&name]).await?;
    ScheduleRow::from_row(&row.ok_or_else(|| DbError::Missing(format!("a schedule named '{name}'")))?)
}

/// Ends the transaction either way.
async fn run_at(tx: Tx, schedule: &ScheduleRow, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    match run_within(&tx, schedule, due_at).await {
        Ok(run) => {
            tx.commit().await?;
            Ok(run)
        }
        Err(error) => {
            // gives the schedule's row free at once; without it the connection's end does
            let _ = tx.rollback().await;
            Err(error)
        }
    }
}

async fn run_within(tx: &Tx, schedule: &ScheduleRow, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let mut run = Run { schedule: schedule.name.clone(), due_at, tasks: 0, already_made: true, fault: None };
    let (next, role) = match schedule.next_run() {
        Ok(next) => next,
        Err(fault) => {
            // a schedule that cannot be read must not be due for ever
            tx.execute(include_str!("sql/schedules/broken.sql"), &[&schedule.id, &fault]).await?;
            return Ok(Run { already_made: false, fault: Some(fault), ..run });
        }
    };
    if tx.query_opt(include_str!("sql/schedules/record_run.sql"), &[&schedule.id, &due_at]).await?.is_none() {
        let made = tx.query_one(include_str!("sql/schedules/skip.sql"), &[&schedule.id, &due_at, &next]).await?;
        run.tasks = first_column(&made)?;
        return Ok(run);
    }
    run.already_made = false;
    let made =
        tx.query_one("SELECT generate_tasks($1, $2, $3)", &[&schedule.id, &role.name(), &role.per_store()]).await?;
    run.tasks = first_column(&made)?;
    tx.execute(include_str!("sql/schedules/ran.sql"), &[&schedule.id, &due_at, &next, &run.tasks]).await?;
    Ok(run)
}

/// A next run that is further away than the recurrence allows (a clock that went forward and back, an interval or cron line changed by
/// hand) is moved to the recurrence's next time.
async fn correct_next_runs(client: &Client) -> Result<(), DbError> {
    for row in &client.query(include_str!("sql/schedules/not_due.sql"), &[]).await? {
        let schedule = ScheduleRow::from_row(row)?;
        let Some(next) = schedule.corrected_next_run() else { continue };
        client
            .execute(include_str!("sql/schedules/correct_next_run.sql"), &[&schedule.id, &schedule.next_run_at, &next])
            .await?;
    }
    Ok(())
}

impl ScheduleRow {
    fn recurrence(&self) -> Recurrence {
        match (&self.cron, self.interval_hours) {
            (Some(line), _) => Recurrence::Cron(line.clone()),
            (None, hours) => Recurrence::EveryHours(hours.unwrap_or_default()),
        }
    }

    fn next_run(&self) -> Result<(DateTime<Utc>, Role), String> {
        let role = self.role.parse::<Role>().map_err(|unknown| unknown.to_string())?;
        let next = self.recurrence().next_after(self.created_at, self.now).map_err(|bad| bad.to_string())?;
        Ok((next, role))
    }

    /// The recurrence's next time, where the stored one is later than even the time after that. A schedule that cannot be read keeps
    /// its time, and says what is wrong when it is due.
    fn corrected_next_run(&self) -> Option<DateTime<Utc>> {
        let (next, _) = self.next_run().ok()?;
        let second = self.recurrence().next_after(self.created_at, next).ok()?;
        (self.next_run_at? > second).then_some(next)
    }
}

impl FromRow for ScheduleRow {
    fn from_row(row: &Row) -> Result<ScheduleRow, DbError> {
        Ok(ScheduleRow {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            role: row.try_get("role")?,
            interval_hours: row.try_get("interval_hours")?,
            cron: row.try_get("cron")?,
            next_run_at: row.try_get("next_run_at")?,
            created_at: row.try_get("created_at")?,
            now: row.try_get("now")?,
        })
    }
}

impl FromRow for Schedule {
    fn from_row(row: &Row) -> Result<Schedule, DbError> {
        Ok(Schedule {
            id: row.try_get("id")?,
            name: row.try_get("name")?,
            role: word(row, "role")?,
            platform: optional_word(row, "platform")?,
            state_code: row.try_get("state_code")?,
            group_name: row.try_get("group_name")?,
            enabled: row.try_get("enabled")?,
            interval_hours: row.try_get("interval_hours")?,
            cron: row.try_get("cron")?,
            priority: row.try_get("priority")?,
            last_run_at: row.try_get("last_run_at")?,
            next_run_at: row.try_get("next_run_at")?,
            last_task_count: row.try_get("last_task_count")?,
            last_error: row.try_get("last_error")?,
        })
    }
}
