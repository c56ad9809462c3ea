//! `task_schedules` and `schedule_runs`: which schedule is due, and one generation of tasks for each due time, however many
//! processes look for due ones. A schedule that cannot run keeps the reason in `last_error` and holds up no other.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::row::{FromRow, first_column, read_all};
use super::{Client, Db, DbError, Tx};
use crate::domain::role::Role;
use crate::domain::schedule::Recurrence;

/// A schedule as people see it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Schedule {
    pub id: i64,
    pub name: String,
    pub role: String,
    pub platform: Option<String>,
    pub state_code: Option<String>,
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
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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

/// What Rust needs of a schedule to run it; the rest stays in the database.
struct Plan {
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
        bring_near(&db.client().await?).await?;
        return Ok(None);
    };
    let plan = Plan::from_row(&row)?;
    let due_at = plan.next_run_at.unwrap_or(plan.now);
    match run_at(tx, &plan, due_at).await {
        Ok(run) => Ok(Some(run)),
        Err(error) => {
            let fault = error.to_string();
            let failed = include_str!("sql/schedules/failed.sql");
            db.client().await?.execute(failed, &[&plan.id, &fault, &plan.next_run_at]).await?;
            Ok(Some(Run { schedule: plan.name, due_at, tasks: 0, already_made: false, fault: Some(fault) }))
        }
    }
}

/// Runs a schedule now, once, however often it is asked within 10 s. `Missing` when there is none of that name.
pub async fn trigger(db: &Db, name: &str) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let plan = by_name(&tx, name).await?;
    if let Some(row) = tx.query_opt(include_str!("sql/schedules/recent_run.sql"), &[&plan.id]).await? {
        let (due_at, tasks) = (row.try_get(0)?, row.try_get(1)?);
        tx.commit().await?;
        return Ok(Run { schedule: plan.name, due_at, tasks, already_made: true, fault: None });
    }
    run_at(tx, &plan, plan.now).await
}

/// Runs a schedule now, for this due time: one that was run already makes nothing more. `Missing` when there is none of that name.
pub async fn run_for(db: &Db, name: &str, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let plan = by_name(&tx, name).await?;
    run_at(tx, &plan, due_at).await
}

pub async fn list(client: &Client) -> Result<Vec<Schedule>, DbError> {
    read_all(&client.query(include_str!("sql/schedules/list.sql"), &[]).await?)
}

/// Runs are kept for a month: what keeps a due time from being run twice is needed for as long as that time can come again.
pub async fn prune(client: &Client) -> Result<u64, DbError> {
    client.execute(include_str!("sql/schedules/prune.sql"), &[]).await
}

async fn by_name(tx: &Tx, name: &str) -> Result<Plan, DbError> {
    let row = tx.query_opt(include_str!("sql/schedules/by_name.sql"), &[&name]).await?;
    Plan::from_row(&row.ok_or_else(|| DbError::Missing(format!("a schedule named '{name}'")))?)
}

/// Ends the transaction either way.
async fn run_at(tx: Tx, plan: &Plan, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    match run_within(&tx, plan, due_at).await {
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

async fn run_within(tx: &Tx, plan: &Plan, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let mut run = Run { schedule: plan.name.clone(), due_at, tasks: 0, already_made: true, fault: None };
    let (next, role) = match plan.next_run() {
        Ok(next) => next,
        Err(fault) => {
            // a schedule that cannot be read must not be due for ever
            tx.execute(include_str!("sql/schedules/broken.sql"), &[&plan.id, &fault]).await?;
            return Ok(Run { already_made: false, fault: Some(fault), ..run });
        }
    };
    if tx.query_opt(include_str!("sql/schedules/record_run.sql"), &[&plan.id, &due_at]).await?.is_none() {
        let made = tx.query_one(include_str!("sql/schedules/made_before.sql"), &[&plan.id, &due_at, &next]).await?;
        run.tasks = first_column(&made)?;
        return Ok(run);
    }
    run.already_made = false;
    let made = tx.query_one("SELECT generate_tasks($1, $2, $3)", &[&plan.id, &role.name(), &role.per_store()]).await?;
    run.tasks = first_column(&made)?;
    tx.execute(include_str!("sql/schedules/ran.sql"), &[&plan.id, &due_at, &next, &run.tasks]).await?;
    Ok(run)
}

/// A next run that is further away than the recurrence allows (a clock that went forward and back, an interval or cron line changed by
/// hand) is moved to the recurrence's next time.
async fn bring_near(client: &Client) -> Result<(), DbError> {
    for row in &client.query(include_str!("sql/schedules/ahead.sql"), &[]).await? {
        let plan = Plan::from_row(row)?;
        let Some(next) = plan.nearer_run() else { continue };
        client.execute(include_str!("sql/schedules/bring_near.sql"), &[&plan.id, &plan.next_run_at, &next]).await?;
    }
    Ok(())
}

impl Plan {
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

    /// The recurrence's next time, where the stored one is later than even the time after that. One that cannot be read says so when it
    /// is due.
    fn nearer_run(&self) -> Option<DateTime<Utc>> {
        let recurrence = self.recurrence();
        let next = recurrence.next_after(self.created_at, self.now).ok()?;
        let second = recurrence.next_after(self.created_at, next).ok()?;
        (self.next_run_at? > second).then_some(next)
    }
}

impl FromRow for Plan {
    fn from_row(row: &Row) -> Result<Plan, DbError> {
        Ok(Plan {
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
            role: row.try_get("role")?,
            platform: row.try_get("platform")?,
            state_code: row.try_get("state_code")?,
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
