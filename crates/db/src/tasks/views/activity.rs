//! [`Activity`] follows runs, for `tasks tail`. In: a client, and the time since the last call. Out: one
//! event for each run that began or ended. Reads only.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio_postgres::Row;

use crate::statements::sql;
use crate::{Client, DbError};
use domain::store::StoreId;
use domain::task::TaskId;

/// A claim is visible once it is committed, up to this long after its `claimed_at`.
const OVERLAP: Duration = Duration::from_secs(5);
/// Maximum that is larger than the number of runs that all processes hold at once.
const MAX_OPEN_RUNS: i64 = 100_000;

/// A run began or ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// `claimed`, or the run's outcome.
    pub event: String,
    pub at: DateTime<Utc>,
    pub task_id: TaskId,
    pub fence: i64,
    /// None when the task has been removed since.
    pub role: Option<String>,
    pub dispensary_id: Option<StoreId>,
    pub worker_id: String,
    pub error: Option<String>,
    /// Length of the ended run.
    pub seconds: Option<f64>,
}

/// Runs reported so far.
#[derive(Debug, Default)]
pub struct Activity {
    runs: BTreeMap<Key, ReportState>,
}

type Key = (TaskId, i64);

/// State of one reported run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportState {
    Nothing,
    Began,
    Ended,
}

impl Activity {
    /// Begins with the runs under way; earlier ends are not reported.
    pub async fn begin(client: &Client) -> Result<Activity, DbError> {
        let mut activity = Activity::default();
        for row in client
            .query(sql!("tasks/views/runs.sql"), &[&OVERLAP.as_secs_f64(), &Vec::<TaskId>::new(), &Vec::<i64>::new()])
            .await?
        {
            activity.runs.insert(key(&row)?, ReportState::Ended);
        }
        for row in client.query(sql!("tasks/views/open_runs.sql"), &[&MAX_OPEN_RUNS]).await? {
            activity.runs.insert(key(&row)?, ReportState::Nothing);
        }
        Ok(activity)
    }

    /// Events since the last call, `elapsed` ago.
    pub async fn poll(&mut self, client: &Client, elapsed: Duration) -> Result<Vec<Event>, DbError> {
        let open = self.runs.iter().filter(|(_, reported)| **reported != ReportState::Ended);
        let (ids, fences): (Vec<TaskId>, Vec<i64>) = open.map(|(key, _)| *key).unzip();
        let back = (elapsed + OVERLAP).as_secs_f64();
        let rows = client.query(sql!("tasks/views/runs.sql"), &[&back, &ids, &fences]).await?;
        let mut seen = BTreeMap::new();
        let mut events = Vec::new();
        for row in &rows {
            let key = key(row)?;
            let reported = self.runs.get(&key).copied().unwrap_or(ReportState::Nothing);
            seen.insert(key, report(row, reported, &mut events)?);
        }
        // a run that this query left out is too old for the next one as well
        self.runs = seen;
        events.sort_by_key(|event| event.at);
        Ok(events)
    }
}

fn report(row: &Row, reported: ReportState, events: &mut Vec<Event>) -> Result<ReportState, DbError> {
    let began = event(row, "claimed".to_owned(), row.try_get("claimed_at")?)?;
    let (began_at, mut now) = (began.at, reported);
    if reported == ReportState::Nothing {
        events.push(began);
        now = ReportState::Began;
    }
    let outcome: Option<String> = row.try_get("outcome")?;
    let Some(outcome) = outcome.filter(|_| reported != ReportState::Ended) else { return Ok(now) };
    let ended_at = row.try_get::<_, Option<DateTime<Utc>>>("finished_at")?.unwrap_or(began_at);
    let seconds = (ended_at - began_at).as_seconds_f64();
    events.push(Event { error: row.try_get("error")?, seconds: Some(seconds), ..event(row, outcome, ended_at)? });
    Ok(ReportState::Ended)
}

fn event(row: &Row, event: String, at: DateTime<Utc>) -> Result<Event, DbError> {
    Ok(Event {
        event,
        at,
        task_id: row.try_get("task_id")?,
        fence: row.try_get("fence")?,
        role: row.try_get("role")?,
        dispensary_id: row.try_get("dispensary_id")?,
        worker_id: row.try_get("worker_id")?,
        error: None,
        seconds: None,
    })
}

fn key(row: &Row) -> Result<Key, DbError> {
    Ok((row.try_get("task_id")?, row.try_get("fence")?))
}
