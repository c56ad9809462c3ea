//! Makes many tasks by request: a day's crawls, one for each store of a state. A store with such a task gets
//! no second one.
//!
//! In: a request, and a client or a transaction. Out: the number of tasks made. `Contention` while another
//! session makes tasks of the same role.

use thiserror::Error;

use crate::statements::{FromRow, rows};
use crate::{Client, DbError};
use contract::checks::BadField;
use contract::generation::{Resync, ResyncRequest, StateRequest, StateTasks};
use domain::task::role::Role;
use foundation::clock::Clock;
use telemetry::events;

#[derive(Debug, Error)]
pub enum GenerationError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// The crawls of a day, as `generate_resync_tasks` makes them at psql.
pub async fn resync(client: &Client, request: &ResyncRequest) -> Result<Resync, GenerationError> {
    request.check(Clock::system().utc())?;
    let sql = "SELECT made, json_time(first_slot) AS first_slot, json_time(last_slot) AS last_slot, skipped
                 FROM generate_resync($1, coalesce($2, (now() AT TIME ZONE 'UTC')::date), $3)";
    let row = client.query_one(sql, &[&request.batches()?, &request.date, &request.state_code.as_deref()]).await?;
    let made = Resync::from_row(&row)?;
    note(Role::PayloadFetch, made.count);
    Ok(made)
}

/// Creates a task for every crawlable store of a state.
pub async fn of_state(client: &Client, request: &StateRequest) -> Result<StateTasks, GenerationError> {
    let (role, priority) = request.check()?;
    Ok(for_stores(client, Some(&*request.state_code), role, priority).await?)
}

/// Makes a crawl of every crawlable store, in one state or in all.
pub async fn of_stores(client: &Client, state_code: Option<&str>) -> Result<StateTasks, DbError> {
    let role = Role::PayloadFetch;
    for_stores(client, state_code, role, role.default_priority()).await
}

async fn for_stores(
    client: &Client,
    state_code: Option<&str>,
    role: Role,
    priority: i32,
) -> Result<StateTasks, DbError> {
    let sql = "SELECT made, skipped, raised FROM generate_for_state($1, $2, $3)";
    let row = client.query_one(sql, &[&state_code, &role.name(), &priority]).await?;
    let made = StateTasks::from_row(&row)?;
    note(role, made.count);
    Ok(made)
}

fn note(role: Role, tasks: i32) {
    events::tasks_enqueued(role, u64::try_from(tasks).unwrap_or(0));
}

rows! {
    Resync { count: "made", first_slot, last_slot, skipped }
    StateTasks { count: "made", skipped, raised }
}
