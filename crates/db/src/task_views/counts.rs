//! How many tasks there are, by role and status.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use utoipa::ToSchema;

use crate::row::{FromRow, optional_word, read_all, word};
use crate::{Client, DbError};
use domain::role::Role;
use domain::shown_status::ShownStatus;
use domain::vocabulary::{self, Word};

/// Tasks by status; `claimed` and `running` without those that are stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Counts {
    pub pending: i64,
    pub claimed: i64,
    pub running: i64,
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
    pub stale: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskCounts {
    #[serde(flatten)]
    pub all: Counts,
    /// Every crawl role, and others of the table that have tasks.
    #[schema(value_type = BTreeMap<String, Counts>)]
    pub by_role: BTreeMap<Word<Role>, Counts>,
    /// When the ended ones were counted; open ones are counted now.
    pub as_of: DateTime<Utc>,
}

/// The ready tasks of one role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReadyTasks {
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    pub tasks: i64,
    /// How long the oldest has been due.
    pub oldest_seconds: f64,
}

/// Open tasks exactly, ended ones as last counted.
pub async fn counts(client: &Client) -> Result<TaskCounts, DbError> {
    let rows = client.query_typed(include_str!("../sql/task_views/counts.sql"), &[]).await?;
    let known = Role::CRAWL.map(|role| (Word::Known(role), Counts::default()));
    let mut counted = TaskCounts { all: Counts::default(), by_role: known.into(), as_of: DateTime::<Utc>::MAX_UTC };
    for row in &rows {
        counted.add(row)?;
    }
    Ok(counted)
}

/// Ready tasks by role.
pub async fn ready(client: &Client) -> Result<Vec<ReadyTasks>, DbError> {
    read_all(&client.query(include_str!("../sql/task_views/ready.sql"), &[]).await?)
}

impl FromRow for ReadyTasks {
    fn from_row(row: &Row) -> Result<ReadyTasks, DbError> {
        Ok(ReadyTasks {
            role: word(row, "role")?,
            tasks: row.try_get("tasks")?,
            oldest_seconds: row.try_get::<_, f64>("oldest_seconds")?.max(0.0),
        })
    }
}

impl TaskCounts {
    fn add(&mut self, row: &Row) -> Result<(), DbError> {
        self.as_of = self.as_of.min(row.try_get("as_of")?);
        let Some(role) = optional_word(row, "role")? else { return Ok(()) };
        let Some(status) = vocabulary::find(row.try_get("status")?) else { return Ok(()) };
        let tasks = row.try_get("tasks")?;
        self.all.add(status, tasks);
        self.by_role.entry(role).or_default().add(status, tasks);
        Ok(())
    }
}

impl Counts {
    pub fn by_status(&self) -> [(ShownStatus, i64); 7] {
        [
            (ShownStatus::Pending, self.pending),
            (ShownStatus::Claimed, self.claimed),
            (ShownStatus::Running, self.running),
            (ShownStatus::Completed, self.completed),
            (ShownStatus::Failed, self.failed),
            (ShownStatus::Cancelled, self.cancelled),
            (ShownStatus::Stale, self.stale),
        ]
    }

    fn add(&mut self, status: ShownStatus, tasks: i64) {
        let place = match status {
            ShownStatus::Pending => &mut self.pending,
            ShownStatus::Claimed => &mut self.claimed,
            ShownStatus::Running => &mut self.running,
            ShownStatus::Completed => &mut self.completed,
            ShownStatus::Failed => &mut self.failed,
            ShownStatus::Cancelled => &mut self.cancelled,
            ShownStatus::Stale => &mut self.stale,
        };
        *place += tasks;
    }
}
