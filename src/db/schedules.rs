//! `task_schedules` and `schedule_runs`: who is due, and one generation of tasks a slot, in however many replicas.

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_postgres::Row;

use super::{Client, Db, DbError, Tx};
use crate::domain::role::Role;
use crate::domain::schedule::Rhythm;

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

/// What one schedule's turn made.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Run {
    pub schedule: String,
    pub due_at: DateTime<Utc>,
    pub tasks: i32,
    /// The same run was asked for twice, or another replica had made it.
    pub already_made: bool,
    /// Why the schedule cannot be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What generating needs of a row.
struct Plan {
    id: i64,
    name: String,
    role: String,
    args: Value,
    platform: Option<String>,
    state_code: Option<String>,
    priority: i32,
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

/// Runs the schedule that is most overdue; `None` when none is due, or other replicas have them in hand.
/// Tasks and the schedule's update are one transaction. A schedule that cannot be run keeps the reason in `last_error`.
pub async fn run_due(db: &Db) -> Result<Option<Run>, DbError> {
    let tx = db.begin().await?;
    let Some(row) = tx.query_opt(include_str!("sql/schedules/due.sql"), &[]).await? else {
        tx.commit().await?;
        return Ok(None);
    };
    let plan = Plan::read(&row);
    let due_at = plan.next_run_at.unwrap_or(plan.now);
    let run = run_slot(&tx, &plan, due_at).await?;
    tx.commit().await?;
    Ok(Some(run))
}

/// Runs a schedule now, once, however often it is asked within 10 s. `Missing` when there is none of that name.
pub async fn trigger(db: &Db, name: &str) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let row = tx.query_opt(include_str!("sql/schedules/by_name.sql"), &[&name]).await?;
    let plan = Plan::read(&row.ok_or_else(|| DbError::Missing(format!("a schedule named '{name}'")))?);
    if let Some(row) = tx.query_opt(include_str!("sql/schedules/recent_run.sql"), &[&plan.id]).await? {
        let run = Run { schedule: plan.name, due_at: row.get(0), tasks: row.get(1), already_made: true, fault: None };
        tx.commit().await?;
        return Ok(run);
    }
    let run = run_slot(&tx, &plan, plan.now).await?;
    tx.commit().await?;
    Ok(run)
}

/// Runs a schedule for one slot, now: a slot that was made already makes nothing more. `Missing` when there is none of that name.
pub async fn run_for(db: &Db, name: &str, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let tx = db.begin().await?;
    let row = tx.query_opt(include_str!("sql/schedules/by_name.sql"), &[&name]).await?;
    let plan = Plan::read(&row.ok_or_else(|| DbError::Missing(format!("a schedule named '{name}'")))?);
    let run = run_slot(&tx, &plan, due_at).await?;
    tx.commit().await?;
    Ok(run)
}

pub async fn list(client: &Client) -> Result<Vec<Schedule>, DbError> {
    let rows = client.query(include_str!("sql/schedules/list.sql"), &[]).await?;
    Ok(rows.iter().map(schedule).collect())
}

async fn run_slot(tx: &Tx, plan: &Plan, due_at: DateTime<Utc>) -> Result<Run, DbError> {
    let mut run = Run { schedule: plan.name.clone(), due_at, tasks: 0, already_made: true, fault: None };
    let (next, role) = match plan.next_slot() {
        Ok(next) => next,
        Err(fault) => {
            // a schedule that cannot be read must not be due for ever
            tx.execute(include_str!("sql/schedules/broken.sql"), &[&plan.id, &fault]).await?;
            run.fault = Some(fault);
            return Ok(run);
        }
    };
    if tx.query_opt(include_str!("sql/schedules/record_run.sql"), &[&plan.id, &due_at]).await?.is_none() {
        run.tasks =
            tx.query_one(include_str!("sql/schedules/made_before.sql"), &[&plan.id, &due_at, &next]).await?.get(0);
        return Ok(run);
    }
    run.already_made = false;
    run.tasks = generate(tx, plan, role).await?;
    tx.execute(include_str!("sql/schedules/ran.sql"), &[&plan.id, &due_at, &next, &run.tasks]).await?;
    Ok(run)
}

async fn generate(tx: &Tx, plan: &Plan, role: Role) -> Result<i32, DbError> {
    let row = tx
        .query_one(
            "SELECT generate_tasks($1, $2, $3, $4, $5, $6, $7)",
            &[&role.name(), &role.per_store(), &plan.platform, &plan.state_code, &plan.args, &plan.priority, &plan.id],
        )
        .await?;
    Ok(row.get(0))
}

impl Plan {
    fn read(row: &Row) -> Plan {
        Plan {
            id: row.get("id"),
            name: row.get("name"),
            role: row.get("role"),
            args: row.get("args"),
            platform: row.get("platform"),
            state_code: row.get("state_code"),
            priority: row.get("priority"),
            interval_hours: row.get("interval_hours"),
            cron: row.get("cron"),
            next_run_at: row.get("next_run_at"),
            created_at: row.get("created_at"),
            now: row.get("now"),
        }
    }

    fn next_slot(&self) -> Result<(DateTime<Utc>, Role), String> {
        let role = self.role.parse::<Role>().map_err(|unknown| unknown.to_string())?;
        let rhythm = match (&self.cron, self.interval_hours) {
            (Some(line), _) => Rhythm::Cron(line.clone()),
            (None, hours) => Rhythm::EveryHours(hours.unwrap_or_default()),
        };
        let next = rhythm.next_after(self.created_at, self.now).map_err(|bad| bad.to_string())?;
        Ok((next, role))
    }
}

/// Runs are kept for a month: what keeps a slot from being made twice is needed for as long as that slot can come again.
pub async fn prune(client: &Client) -> Result<u64, DbError> {
    client.execute("DELETE FROM schedule_runs WHERE created_at < now() - interval '30 days'", &[]).await
}

fn schedule(row: &Row) -> Schedule {
    Schedule {
        id: row.get("id"),
        name: row.get("name"),
        role: row.get("role"),
        platform: row.get("platform"),
        state_code: row.get("state_code"),
        enabled: row.get("enabled"),
        interval_hours: row.get("interval_hours"),
        cron: row.get("cron"),
        priority: row.get("priority"),
        last_run_at: row.get("last_run_at"),
        next_run_at: row.get("next_run_at"),
        last_task_count: row.get("last_task_count"),
        last_error: row.get("last_error"),
    }
}
