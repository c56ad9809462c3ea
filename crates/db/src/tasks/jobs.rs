//! Media jobs: tasks whose role is the job's type, read and queued by the rules of the view
//! `worker_job_queue`. Other changes of a job are changes of its task ([`crate::tasks`]).

use thiserror::Error;

use super::requests;
use crate::statements::{first_column, json, named, optional_json, read_all, rows, sql, word};
use crate::{Client, DbError, Tx};
use contract::jobs::{JobFilter, JobView, NewJob, PendingCount};
use domain::task::TaskId;
use domain::task::role::Role;
use telemetry::events;

/// Reason why no job was queued.
#[derive(Debug, Error)]
pub enum NewJobError {
    #[error("job {existing} does the same")]
    Duplicate { existing: TaskId },
    /// The job would wait for a task that does not exist.
    #[error("task {0} does not exist")]
    MissingDependency(TaskId),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Lists at most `limit` jobs, in the filter's order.
pub async fn list(client: &Client, filter: &JobFilter, limit: i64) -> Result<Vec<JobView>, DbError> {
    let JobFilter { id, platform, account, parent, sort, after, .. } = filter;
    let (status, job_type) = (filter.status.map(<&str>::from), filter.job_type.map(Role::name));
    read_all(
        &named!(client.query(
            by_age("tasks/jobs/list.sql", *sort),
            id,
            status,
            platform,
            account,
            job_type,
            after,
            limit,
            parent
        ))
        .await?,
    )
}

/// `Missing` when there is none, or the task is not a job.
pub async fn get(client: &Client, id: TaskId) -> Result<JobView, DbError> {
    let found = list(client, &JobFilter { id: Some(id), ..JobFilter::default() }, 1).await?.pop();
    found.ok_or_else(|| DbError::Missing(format!("job {id}")))
}

/// Queues a job, unless an open one does the same.
pub async fn insert(tx: &Tx, job: &NewJob) -> Result<TaskId, NewJobError> {
    let NewJob { role, platform, account, priority, payload, scheduled_for, max_retries, depends_on } = job;
    if let Some(missing) = requests::missing(tx, depends_on).await?.into_iter().min() {
        return Err(NewJobError::MissingDependency(missing));
    }
    if let Some(row) =
        named!(tx.query_opt("tasks/jobs/holder_of_key.sql", role = role.name(), platform, account, payload)).await?
    {
        return Err(NewJobError::Duplicate { existing: first_column(&row)? });
    }
    let id = match named!(tx.query_one(
        "tasks/jobs/insert.sql",
        role = role.name(),
        platform,
        account,
        priority,
        payload,
        scheduled_for,
        max_retries,
        depends_on
    ))
    .await
    {
        Ok(row) => first_column(&row)?,
        // made between the two statements: the same request finds it the next time
        Err(DbError::Conflict { detail, .. }) => return Err(DbError::Contention(detail).into()),
        Err(other) => return Err(other.into()),
    };
    events::tasks_enqueued(*role, 1);
    Ok(id)
}

/// Number of waiting jobs, by platform.
pub async fn pending_counts(client: &Client) -> Result<Vec<PendingCount>, DbError> {
    let rows = client.query(sql!("tasks/jobs/pending_counts.sql"), &[]).await?;
    rows.iter()
        .map(|row| Ok(PendingCount { count: row.try_get("count")?, platform: row.try_get("platform")? }))
        .collect()
}

/// Whether a live worker claims jobs.
pub async fn worker_is_healthy(client: &Client) -> Result<bool, DbError> {
    first_column(&client.query_one(sql!("tasks/jobs/worker_is_healthy.sql"), &[]).await?)
}

rows! {
    JobView {
        id,
        job_type: word,
        platform, account, priority,
        status: word,
        payload: json,
        result: optional_json,
        error_message, retry_count, max_retries, scheduled_for, created_at, started_at,
        completed_at, worker_id, progress_percent, progress_message, depends_on, parent_id,
        has_children,
    }
}
