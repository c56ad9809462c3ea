//! `/api/jobs` and `/api/scheduler/status`: media jobs, in the words and numbers of clients that know them as
//! jobs.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::job_addresses::without_address;
use super::task_changes::{change_one, gone};
use super::{ApiError, ApiState, Body, Caller, Change, Changes, Listing, Operator, Page, PageJson, Path, Viewer};
use contract::cursor::Cursor;
use contract::jobs::{
    CreatedJob, JobChange, JobFilter, JobPage, JobRequest, JobStatus, JobView, JobsNow, notice_of_no_address,
};
use contract::problem::Problem;
use db::tasks;
use db::tasks::jobs::NewJobError;
use domain::task::TaskId;
use foundation::clock::Clock;

/// Maximum tasks of `/api/scheduler/status`.
const MAX_RUNNING: i64 = 500;

#[derive(Deserialize, IntoParams)]
pub struct JobPath {
    /// The job's id
    id: TaskId,
}

/// Lists media jobs, newest first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/jobs", tag = "jobs", responses((status = 200, body = JobPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<JobFilter>,
) -> Result<PageJson<JobPage>, ApiError> {
    let filter = JobFilter { after: cursor.map(|Cursor(id)| id), ..filter };
    let client = caller.client().await?;
    let page = Page::of(tasks::jobs::list(&client, &filter, limit.with_next()).await?, limit, |job| job.id);
    Ok(page.json(|jobs, next_cursor| JobPage { jobs, next_cursor }))
}

/// Shows one media job.
#[utoipa::path(get, path = "/api/jobs/{id}", tag = "jobs", responses((status = 200, body = JobView)))]
pub async fn show(caller: Caller<Viewer>, Path(JobPath { id }): Path<JobPath>) -> Result<Json<JobView>, ApiError> {
    let client = caller.client().await?;
    Ok(Json(tasks::jobs::get(&client, id).await?))
}

/// Queues a media job.
#[utoipa::path(post, path = "/api/jobs", tag = "jobs",
               responses((status = 201, body = CreatedJob), (status = 404, response = Problem),
                         (status = 409, response = Problem)))]
pub async fn create(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Body(request): Body<JobRequest>,
) -> Result<Response, ApiError> {
    let job = request.check(Clock::system().utc())?;
    let mut change = changes.begin().await?;
    let id = tasks::jobs::insert(&change, &job).await?;
    let detail = json!({"job_type": job.role, "platform": job.platform, "account": job.account});
    change.audit("jobs.create", id, detail);
    let unknown = without_address(&change, &api, std::iter::once(&job)).await?;
    let notice = unknown.iter().next().map(|(platform, jobs)| notice_of_no_address(platform, *jobs));
    let made = CreatedJob { job: tasks::jobs::get(&change, id).await?, notice };
    change.created(format!("/api/jobs/{id}"), &made).await
}

/// Changes the priority or the time of a pending job; a time of null means at once.
#[utoipa::path(put, path = "/api/jobs/{id}", tag = "jobs",
               responses((status = 200, body = JobView), (status = 409, response = Problem)))]
pub async fn update(
    changes: Changes<Operator>,
    Path(JobPath { id }): Path<JobPath>,
    Body(update): Body<JobChange>,
) -> Result<Response, ApiError> {
    let task_change = update.check(Clock::system().utc())?;
    let mut change = begin(changes, id).await?;
    tasks::change(&change, id, &task_change, None).await?;
    change.audit("jobs.update", id, json!(update));
    answer(change, id).await
}

/// Cancels a job that has not ended. A running one stops at its worker's next renewal.
#[utoipa::path(post, path = "/api/jobs/{id}/cancel", tag = "jobs",
               responses((status = 200, body = JobView), (status = 409, response = Problem)))]
pub async fn cancel(changes: Changes<Operator>, Path(JobPath { id }): Path<JobPath>) -> Result<Response, ApiError> {
    change_one(begin(changes, id).await?, id, "jobs.cancel", tasks::cancel, answer).await
}

/// Puts a failed or cancelled job back to pending, with all of its retries.
#[utoipa::path(post, path = "/api/jobs/{id}/retry", tag = "jobs",
               responses((status = 200, body = JobView), (status = 409, response = Problem)))]
pub async fn retry(changes: Changes<Operator>, Path(JobPath { id }): Path<JobPath>) -> Result<Response, ApiError> {
    change_one(begin(changes, id).await?, id, "jobs.retry", tasks::retry, answer).await
}

/// Deletes a job that no worker holds, with its runs.
#[utoipa::path(delete, path = "/api/jobs/{id}", tag = "jobs",
               responses((status = 204, description = "Removed"), (status = 409, response = Problem)))]
pub async fn remove(changes: Changes<Operator>, Path(JobPath { id }): Path<JobPath>) -> Result<StatusCode, ApiError> {
    change_one(begin(changes, id).await?, id, "jobs.delete", tasks::delete, gone).await
}

/// Shows the jobs that run, how many wait, and whether a worker takes them.
#[utoipa::path(get, path = "/api/scheduler/status", tag = "jobs", responses((status = 200, body = JobsNow)))]
pub async fn now(caller: Caller<Viewer>) -> Result<Json<JobsNow>, ApiError> {
    let client = caller.client().await?;
    let filter = JobFilter { status: Some(JobStatus::Running), ..JobFilter::default() };
    let mut running = tasks::jobs::list(&client, &filter, MAX_RUNNING).await?;
    running.sort_by_key(|job| job.started_at);
    let (pending_counts, worker_healthy) =
        (tasks::jobs::pending_counts(&client).await?, tasks::jobs::worker_is_healthy(&client).await?);
    Ok(Json(JobsNow { running, pending_counts, worker_healthy }))
}

/// The transaction of a change of a task that is a job.
async fn begin(changes: Changes<Operator>, id: TaskId) -> Result<Change, ApiError> {
    let change = changes.begin().await?;
    tasks::jobs::get(&change, id).await?;
    Ok(change)
}

/// Commits, and answers the job as it is now.
async fn answer(change: Change, id: TaskId) -> Result<Response, ApiError> {
    let job = tasks::jobs::get(&change, id).await?;
    change.answer(StatusCode::OK, &job).await
}

impl From<NewJobError> for ApiError {
    fn from(error: NewJobError) -> Self {
        match error {
            NewJobError::Duplicate { existing } => ApiError::DuplicateWork { existing },
            NewJobError::MissingDependency(id) => {
                ApiError::MissingReference { field: "depends_on", what: format!("task {id}") }
            }
            NewJobError::Db(error) => error.into(),
        }
    }
}
