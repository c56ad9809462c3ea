//! `payload_replays`: turns payloads into refresh tasks once more, in the order of their fetches, part by
//! part.
//!
//! One transaction writes the tasks of a part and the replay's new position: a killed command resumes where
//! it stopped, and queues nothing twice. Removing payloads locks their rows, and so does a part.

use chrono::{DateTime, Utc};
use serde_json::json;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::statements::{FromRow, first_column, first_columns, named, parsed, read_all, rows, sql};
use crate::tasks::NewTask;
use crate::{Client, Db, DbError, Tx, tasks};
use domain::menu::stock::PayloadPosition;
use domain::payload::PayloadId;
use domain::store::{Platform, StoreId};
use domain::task::role::Role;
use telemetry::events;

/// Priority below all crawl roles: new data goes first.
const PRIORITY: i32 = -10;

/// Selection of payloads; None = no limit. The same request resumes an interrupted replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayChoice {
    pub since: Option<DateTime<Utc>>,
    /// Excludes payloads fetched at that time or later.
    pub until: Option<DateTime<Utc>>,
    /// Stores in order, without repetition.
    pub stores: Option<Vec<StoreId>>,
}

/// A replay and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    id: i64,
    /// Payloads fetched later are not part of it.
    up_to: DateTime<Utc>,
    /// The last payload it has processed.
    position: PayloadPosition,
}

/// A payload to be replayed.
#[derive(Clone, Debug)]
pub struct ReplayPayload {
    pub id: PayloadId,
    pub dispensary_id: StoreId,
    pub platform: Platform,
    pub storage_path: String,
    pub bytes: i64,
    pub fetched_at: DateTime<Utc>,
    /// Its store is enabled; tasks of disabled stores would be cancelled.
    pub is_enabled: bool,
    /// An open task replays it already.
    pub is_queued: bool,
}

/// The unfinished replay of this choice.
pub async fn resume(client: &Client, choice: &ReplayChoice) -> Result<Option<Replay>, DbError> {
    let ReplayChoice { since, until, stores } = choice;
    let row = client.query_opt(sql!("payloads/replays/resume.sql"), &[since, until, stores]).await?;
    row.as_ref().map(Replay::from_row).transpose()
}

pub async fn begin(client: &Client, choice: &ReplayChoice) -> Result<Replay, DbError> {
    let ReplayChoice { since, until, stores } = choice;
    let row = client.query_one(sql!("payloads/replays/begin.sql"), &[since, until, stores]).await?;
    Replay::from_row(&row)
}

/// The replay that [`begin`] would begin, for display only.
pub async fn plan(client: &Client, choice: &ReplayChoice) -> Result<Replay, DbError> {
    let sql = sql!("payloads/replays/plan.sql");
    let rows = [(&choice.since as _, Type::TIMESTAMPTZ), (&choice.until as _, Type::TIMESTAMPTZ)];
    let rows = client.query_planned(sql, &rows).await?;
    rows.first().map(Replay::from_row).transpose()?.ok_or_else(|| DbError::Missing("a replay".to_owned()))
}

/// Ends the unfinished replays of this choice where they are.
pub async fn abandon(client: &Client, choice: &ReplayChoice) -> Result<(), DbError> {
    let ReplayChoice { since, until, stores } = choice;
    client.execute(sql!("payloads/replays/abandon.sql"), &[since, until, stores]).await?;
    Ok(())
}

/// Number of payloads it has not processed yet.
pub async fn remaining(client: &Client, replay: &Replay, choice: &ReplayChoice) -> Result<u64, DbError> {
    let PayloadPosition { fetched_at, id } = replay.position;
    let (up_to, stores) = (replay.up_to, &choice.stores);
    let rows = named!(client.query_planned("payloads/replays/count.sql", fetched_at, id, up_to, stores)).await?;
    let count: i64 = rows.first().map(first_column).transpose()?.unwrap_or_default();
    Ok(count.unsigned_abs())
}

/// Lists at most `limit` next payloads; none at the end.
pub async fn page(
    client: &Client,
    replay: &Replay,
    choice: &ReplayChoice,
    limit: i64,
) -> Result<Vec<ReplayPayload>, DbError> {
    let PayloadPosition { fetched_at, id } = replay.position;
    let (up_to, stores) = (replay.up_to, &choice.stores);
    // planned for its values: for all stores by time, for a few by their own times
    let rows = named!(client.query_planned("payloads/replays/page.sql", fetched_at, id, up_to, stores, limit)).await?;
    read_all(&rows)
}

/// Queues a task for each of `payloads`, of the page that ends with `last`, and moves the replay on in the
/// same transaction; returns the number of tasks. `Conflict` when another process queues the same now,
/// `Contention` when another process has moved the replay: nothing has happened.
pub async fn queue_part(
    db: &Db,
    replay: &mut Replay,
    payloads: &[ReplayPayload],
    last: PayloadPosition,
) -> Result<usize, DbError> {
    let tx = db.begin().await?;
    let queued = queue(&tx, payloads).await?;
    let tasks = i64::try_from(queued).unwrap_or(i64::MAX);
    let moved = named!(tx.execute(
        "payloads/replays/advance.sql",
        id = replay.id,
        from_id = replay.position.id,
        last_at = last.fetched_at,
        last_id = last.id,
        tasks
    ))
    .await?;
    if moved == 0 {
        return Err(DbError::Contention("another process continues the same replay".to_owned()));
    }
    tx.commit().await?;
    replay.position = last;
    events::tasks_enqueued(Role::ProductRefresh, queued as u64);
    Ok(queued)
}

pub async fn finish(client: &Client, replay: &Replay) -> Result<(), DbError> {
    client.execute(sql!("payloads/replays/finish.sql"), &[&replay.id]).await?;
    Ok(())
}

/// Number of tasks of replays that are not claimed yet.
pub async fn open_tasks(client: &Client) -> Result<u64, DbError> {
    let row = client.query_one(sql!("payloads/replays/open_tasks.sql"), &[&PRIORITY]).await?;
    Ok(first_column::<i64>(&row)?.unsigned_abs())
}

async fn queue(tx: &Tx, payloads: &[ReplayPayload]) -> Result<usize, DbError> {
    let ids: Vec<PayloadId> = payloads.iter().map(|payload| payload.id).collect();
    let kept: Vec<PayloadId> = first_columns(&tx.query(sql!("payloads/replays/keep.sql"), &[&ids]).await?)?;
    let kept: std::collections::HashSet<PayloadId> = kept.into_iter().collect();
    let tasks: Vec<NewTask> = payloads.iter().filter(|payload| kept.contains(&payload.id)).map(refresh_of).collect();
    Ok(tasks::enqueue(tx, &tasks).await?.len())
}

fn refresh_of(payload: &ReplayPayload) -> NewTask {
    NewTask {
        dispensary_id: Some(payload.dispensary_id),
        platform: Some(payload.platform.name().to_owned()),
        priority: PRIORITY,
        payload: json!({ "payload_id": payload.id }),
        dedup_key: Some(format!("{}:{}:{}", Role::ProductRefresh, payload.dispensary_id, payload.id)),
        ..NewTask::new(Role::ProductRefresh)
    }
}

impl Replay {
    /// Moves on past payloads that are not queued, in memory only.
    pub fn skip_to(&mut self, last: PayloadPosition) {
        self.position = last;
    }
}

impl FromRow for Replay {
    fn from_row(row: &Row) -> Result<Replay, DbError> {
        let position = PayloadPosition { fetched_at: row.try_get("last_at")?, id: row.try_get("last_id")? };
        Ok(Replay { id: row.try_get("id")?, up_to: row.try_get("up_to")?, position })
    }
}

rows! {
    ReplayPayload {
        id, dispensary_id, platform: parsed, storage_path, bytes, fetched_at,
        is_enabled: "crawl_enabled",
        is_queued,
    }
}
