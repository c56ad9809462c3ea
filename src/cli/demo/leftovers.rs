//! Work that other commands left in a demo's directory while it was off: an API runs schedules there, and
//! workers run the demo's tasks, whose platform does not answer.
//!
//! In: the crawl to run. Out: no task that would crawl a menu twice in one crawl of the simulator, which would
//! count a product as missing twice; and the crawl's own tasks, as new. It must not know how a crawl is made.

use chrono::{DateTime, Utc};

use super::crawl;
use contract::task_changes::TaskChange;
use db::tasks::ChangeError;
use db::{Client, Db, DbError, demo, tasks};
use domain::store::StoreId;
use domain::task::TaskId;

/// Removes the tasks of others, and puts back what they have spent of the crawl's own.
pub async fn clear(db: &Db, number: u32, apart: &[StoreId]) -> Result<(), DbError> {
    let begun = crawl::begun(db, number).await?;
    let client = db.client().await?;
    let removed = remove(&client, begun, apart).await?;
    if removed > 0 {
        tracing::info!(
            "removed tasks that other commands created in this directory, because the demo crawls each menu once: {removed}"
        );
    }
    let Some(begun) = begun else { return Ok(()) };
    for task in demo::tasks::spent(&client, begun, apart).await? {
        restart(&client, task).await?;
    }
    Ok(())
}

async fn remove(client: &Client, begun: Option<DateTime<Utc>>, apart: &[StoreId]) -> Result<usize, DbError> {
    let others = demo::tasks::of_others(client, begun, apart).await?;
    for task in &others {
        unless_refused(tasks::delete(client, *task).await.map(drop))?;
    }
    Ok(others.len())
}

/// Gives a task all of its tries again, at once: its failures are those of a platform that was off.
async fn restart(client: &Client, task: TaskId) -> Result<(), DbError> {
    let at_once = TaskChange { scheduled_for: Some(None), ..TaskChange::default() };
    unless_refused(tasks::cancel(client, task).await.map(drop))?;
    unless_refused(tasks::retry(client, task).await.map(drop))?;
    unless_refused(tasks::change(client, task, &at_once, None).await)
}

/// A task that another process changes is left to it.
fn unless_refused(result: Result<(), ChangeError>) -> Result<(), DbError> {
    match result {
        Err(ChangeError::Db(error)) => Err(error),
        _ => Ok(()),
    }
}
