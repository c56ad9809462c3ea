//! Tables of the older schema (`job_schedules`, `dispensary_crawl_jobs`, `job_run_logs`), where a database
//! still has them: counts their rows, and retires them. Without them each function finds and changes nothing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::statements::first_column;
use crate::tasks::requests::RequestError;
use crate::{Client, DbError, Tx, tasks};
use contract::task_requests::TaskRequest;
use domain::legacy::{LegacyMove, LegacyTables};
use domain::store::Platform;
use domain::task::TaskId;
use domain::task::role::Role;

/// Contents of the old tables.
pub async fn tables(client: &Client) -> Result<LegacyTables, DbError> {
    Ok(LegacyTables {
        job_schedules: counts(client, "job_schedules", "enabled").await?,
        dispensary_crawl_jobs: counts(client, "dispensary_crawl_jobs", "status").await?,
        job_run_logs: counts(client, "job_run_logs", "status").await?,
    })
}

/// Whether any of them exists.
pub async fn exists(client: &Client) -> Result<bool, DbError> {
    first_column(&client.query_one("SELECT legacy_tables() IS NOT NULL", &[]).await?)
}

/// Switches the old schedules off; returns the number of schedules that were on.
pub async fn disable_schedules(client: &Client) -> Result<i32, DbError> {
    first_column(&client.query_one("SELECT disable_legacy_schedules()", &[]).await?)
}

/// Cancels the waiting old crawl jobs; returns their number.
pub async fn cancel_crawl_jobs(client: &Client) -> Result<i32, DbError> {
    first_column(&client.query_one("SELECT cancel_legacy_crawl_jobs()", &[]).await?)
}

/// Closes the old job runs that were left running; returns their number.
pub async fn close_runs(client: &Client) -> Result<i32, DbError> {
    first_column(&client.query_one("SELECT close_legacy_runs()", &[]).await?)
}

/// Moves everything to the queue, in the caller's transaction. A second call changes nothing more.
pub async fn move_all(tx: &Tx) -> Result<LegacyMove, DbError> {
    let schedules_disabled = disable_schedules(tx).await?;
    let crawl_jobs_cancelled = cancel_crawl_jobs(tx).await?;
    let crawls = tasks::generation::of_stores(tx, None).await?;
    Ok(LegacyMove {
        schedules_disabled,
        crawl_jobs_cancelled,
        crawl_tasks_created: crawls.count,
        crawl_tasks_skipped: crawls.skipped,
        discovery_task: queue(tx, Role::StoreDiscovery).await?,
        analytics_task: queue(tx, Role::AnalyticsRefresh).await?,
        job_runs_closed: close_runs(tx).await?,
    })
}

/// None when such a task is open already.
async fn queue(tx: &Tx, role: Role) -> Result<Option<TaskId>, DbError> {
    let platform = (role == Role::StoreDiscovery).then(|| Platform::DEFAULT.name().to_owned());
    let request = TaskRequest { role: role.name().to_owned(), platform, ..TaskRequest::default() };
    match tasks::requests::enqueue(tx, request).await {
        Ok(queued) => Ok(Some(queued.id)),
        Err(RequestError::Duplicate { .. }) => Ok(None),
        Err(RequestError::Db(error)) => Err(error),
        Err(other) => Err(DbError::Other(other.to_string())),
    }
}

/// Numbers of rows of an old table by the words of one of its columns. None when the table does not exist.
async fn counts(client: &Client, table: &str, column: &str) -> Result<Option<BTreeMap<String, i64>>, DbError> {
    let row = client.query_one("SELECT legacy_counts($1, $2)", &[&table, &column]).await?;
    let counts: Option<Value> = first_column(&row)?;
    let read = |counts| serde_json::from_value(counts).map_err(|error| DbError::Other(format!("{table}: {error}")));
    counts.map(read).transpose()
}
