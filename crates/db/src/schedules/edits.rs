//! Schedules added, changed and removed by request.
//!
//! In: a transaction and fields that were checked one by one. Out: the changed schedule, or the reason why
//! nothing was changed.

use chrono::{DateTime, Utc};
use thiserror::Error;

use super::{get, lock, run_recently, run_within};
use crate::statements::{first_column, named, sql};
use crate::{Client, DbError, Tx};
use contract::checks::BadField;
use contract::schedules::{NewSchedule, Run, Schedule, ScheduleChange, Scope};
use domain::schedule::{CronLine, Recurrence, RecurrenceColumns, RecurrenceError};
use domain::store::Platform;
use domain::task::role::{Role, UnknownRole};
use domain::vocabulary::Word;

/// Reason why a schedule was not changed.
#[derive(Debug, Error)]
pub enum ScheduleError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error("schedule {0} does not exist")]
    Missing(i64),
    #[error("a schedule named '{0}' exists already")]
    NameTaken(String),
    /// The version is not the one that the request expected.
    #[error("schedule {0} was changed since it was read; read it again")]
    Changed(i64),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Adds a schedule; one with an interval is due at once.
pub async fn add(tx: &Tx, new: &NewSchedule) -> Result<Schedule, ScheduleError> {
    let (now, next) = next_run(tx, None, &new.recurrence).await?;
    let RecurrenceColumns { interval_hours, cron, time_zone } = columns(&new.recurrence);
    let first = if cron.is_some() { next } else { now };
    let Scope { role, platform, group_name, args } = &new.scope;
    let (role, platform) = (role.name(), platform.map(Platform::name));
    let added = named!(tx.query_one(
        "schedules/add.sql",
        name = new.name,
        role,
        platform,
        state_code = new.state_code.as_deref(),
        group_name,
        priority = new.priority,
        interval_hours,
        cron,
        first_run = first,
        enabled = new.enabled,
        args,
        time_zone
    ))
    .await;
    let row = added.map_err(|error| name_taken(error, &new.name))?;
    shown(tx, first_column(&row)?).await
}

/// Changes a schedule; with another recurrence its next run moves to the recurrence's next time. `expected`:
/// changes only this version; each change by request moves the version, a run does not.
pub async fn change(
    tx: &Tx,
    id: i64,
    change: &ScheduleChange,
    expected: Option<i64>,
) -> Result<Schedule, ScheduleError> {
    let mut schedule = locked(tx, id).await?;
    if expected.is_some_and(|expected| expected != schedule.version) {
        return Err(ScheduleError::Changed(id));
    }
    let scope = if change.changes_scope() { Some(scope_after(&schedule, change)?.check()?) } else { None };
    let args = scope.filter(|_| change.args.is_some()).map(|scope| scope.args);
    let recurrence = change.recurrence.as_ref().map(|change| change.after(schedule.recurrence())).transpose()?;
    let next = match &recurrence {
        Some(recurrence) => Some(next_run(tx, Some(id), recurrence).await?.1),
        None => None,
    };
    apply(&mut schedule, change);
    let unchanged = RecurrenceColumns { interval_hours: None, cron: None, time_zone: None };
    let RecurrenceColumns { interval_hours, cron, time_zone } = recurrence.as_ref().map_or(unchanged, columns);
    let (role, platform) = (schedule.role.to_string(), schedule.platform.as_ref().map(ToString::to_string));
    let changed = named!(tx.execute(
        "schedules/edit.sql",
        id,
        name = schedule.name,
        role,
        platform,
        state_code = schedule.state_code,
        group_name = schedule.group_name,
        args,
        interval_hours,
        cron,
        priority = schedule.priority,
        enabled = schedule.enabled,
        next_run = next,
        time_zone
    ))
    .await;
    changed.map_err(|error| name_taken(error, &schedule.name))?;
    shown(tx, id).await
}

/// Removes a schedule with its runs; its tasks stay. Returns the removed schedule.
pub async fn remove(tx: &Tx, id: i64) -> Result<Schedule, ScheduleError> {
    let schedule = locked(tx, id).await?;
    tx.execute(sql!("schedules/remove.sql"), &[&id]).await?;
    Ok(schedule)
}

/// Runs a schedule now, as a person wants it: once per 10 s, however often it is called. Its waiting media jobs then come
/// before those of other schedules.
pub async fn trigger(tx: &Tx, id: i64) -> Result<Run, ScheduleError> {
    let schedule = lock(tx, id).await?.ok_or(ScheduleError::Missing(id))?;
    let run = match run_recently(tx, &schedule).await? {
        Some(run) => run,
        None => run_within(tx, &schedule, schedule.now).await?,
    };
    if let Some(priority) = schedule.role.parse().ok().and_then(Role::run_now_priority) {
        tx.execute(sql!("schedules/run_now.sql"), &[&id, &priority]).await?;
    }
    Ok(run)
}

/// Locks the schedule: no other transaction changes or runs it before this one ends.
async fn locked(tx: &Tx, id: i64) -> Result<Schedule, ScheduleError> {
    lock(tx, id).await?.ok_or(ScheduleError::Missing(id))?;
    shown(tx, id).await
}

async fn shown(client: &Client, id: i64) -> Result<Schedule, ScheduleError> {
    get(client, id).await?.ok_or(ScheduleError::Missing(id))
}

fn scope_after(schedule: &Schedule, change: &ScheduleChange) -> Result<Scope, BadField> {
    let role = match (change.role, &schedule.role) {
        (Some(role), _) => role,
        (None, Word::Known(role)) => *role,
        (None, Word::Other(name)) => name.parse::<Role>().map_err(|unknown: UnknownRole| field("role", unknown))?,
    };
    let platform = match (change.platform, &schedule.platform) {
        (Some(platform), _) => platform,
        (None, None) => None,
        (None, Some(word)) => Some(word.to_string().parse().map_err(|unknown| field("platform", unknown))?),
    };
    let group_name = change.group_name.clone().unwrap_or_else(|| schedule.group_name.clone());
    Ok(Scope { role, platform, group_name, args: change.args.clone().unwrap_or_else(|| schedule.args.clone()) })
}

/// Applies every field except the recurrence, which is written only when it changes.
fn apply(schedule: &mut Schedule, change: &ScheduleChange) {
    let ScheduleChange { name, role, platform, state_code, group_name, args, recurrence: _, priority, enabled } =
        change.clone();
    schedule.name = name.unwrap_or_else(|| schedule.name.clone());
    schedule.role = role.map_or_else(|| schedule.role.clone(), Word::Known);
    schedule.platform = platform.map_or_else(|| schedule.platform.clone(), |platform| platform.map(Word::Known));
    schedule.state_code =
        state_code.map_or_else(|| schedule.state_code.clone(), |code| code.map(|code| code.to_string()));
    schedule.group_name = group_name.unwrap_or_else(|| schedule.group_name.clone());
    schedule.args = args.unwrap_or_else(|| schedule.args.clone());
    schedule.priority = priority.unwrap_or(schedule.priority);
    schedule.enabled = enabled.unwrap_or(schedule.enabled);
}

fn columns(recurrence: &Recurrence) -> RecurrenceColumns<'_> {
    match recurrence {
        Recurrence::EveryHours(hours) => {
            RecurrenceColumns { interval_hours: Some(*hours), cron: None, time_zone: None }
        }
        Recurrence::Cron(CronLine { line, time_zone }) => {
            RecurrenceColumns { interval_hours: None, cron: Some(line), time_zone: time_zone.as_deref() }
        }
    }
}

/// The database's time, and the recurrence's next run after it. `id`: the schedule whose creation anchors the
/// grid.
async fn next_run(
    client: &Client,
    id: Option<i64>,
    recurrence: &Recurrence,
) -> Result<(DateTime<Utc>, DateTime<Utc>), ScheduleError> {
    let row = client.query_one(sql!("schedules/anchor.sql"), &[&id]).await?;
    let read =
        || -> Result<(DateTime<Utc>, DateTime<Utc>), DbError> { Ok((row.try_get("created_at")?, row.try_get("now")?)) };
    let (anchor, now) = read()?;
    let next = recurrence.next_after(anchor, now).map_err(|error| match error {
        RecurrenceError::Interval(_) => field("interval_hours", error),
        RecurrenceError::Cron { .. } | RecurrenceError::Never(_) => field("cron", error),
        RecurrenceError::TimeZone(_) => field("time_zone", error),
    })?;
    Ok((now, next))
}

fn name_taken(error: DbError, name: &str) -> ScheduleError {
    match error {
        DbError::Conflict { .. } => ScheduleError::NameTaken(name.to_owned()),
        other => other.into(),
    }
}

fn field(field: &'static str, fault: impl ToString) -> BadField {
    BadField { field, fault: fault.to_string() }
}
