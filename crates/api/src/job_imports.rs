//! `/api/jobs/import`: brings jobs of an older queue over.

use std::collections::HashSet;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::batch::checked;
use super::job_addresses::without_address;
use super::{ApiError, ApiState, BatchBody, Changes, Operator};
use contract::job_imports::{ImportedJob, ImportedJobs, JobImport, RefusedJob};
use contract::problem::Problem;
use db::tasks::job_imports::ImportedRow;
use db::{DbError, tasks};
use foundation::clock::Clock;
use telemetry::events;

/// Imports jobs of an older queue, each once: all of them, or none if one has a fault.
#[utoipa::path(post, path = "/api/jobs/import", tag = "jobs",
               responses((status = 200, body = ImportedJobs), (status = 409, response = Problem)))]
pub async fn import(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    BatchBody { value: request, .. }: BatchBody<JobImport>,
) -> Result<Response, ApiError> {
    request.check()?;
    let JobImport { source, jobs, dry_run } = request;
    let now = Clock::system().utc();
    let jobs = checked("jobs", jobs, |_, job| job.check(now).map_err(|fault| vec![fault.to_string()]))?;
    let mut change = changes.begin().await?;
    let rows = tasks::job_imports::import(&change, &source, &jobs).await.map_err(|error| match error {
        DbError::Contention(_) | DbError::Conflict { .. } => {
            ApiError::Conflict("another request imports or queues one of these jobs now; try again".to_owned())
        }
        other => other.into(),
    })?;
    let mut answer = answer_of(&rows, &source);
    let new = jobs.iter().zip(&rows).filter(|(job, row)| row.is_new && job.end.is_none()).map(|(job, _)| &job.job);
    answer.without_address = without_address(&change, &api, new).await?;
    if dry_run {
        // dropped, the change is rolled back
        return Ok(Json(without_new_ids(answer)).into_response());
    }
    for (job, _) in jobs.iter().zip(&rows).filter(|(job, row)| row.is_new && job.end.is_none()) {
        events::tasks_enqueued(job.job.role, 1);
    }
    let (imported, skipped) = (answer.imported.len(), answer.skipped.len());
    change.audit(
        "jobs.import",
        source,
        json!({"imported": imported, "skipped": skipped, "refused": answer.refused.len()}),
    );
    change.answer(StatusCode::OK, &answer).await
}

fn answer_of(rows: &[ImportedRow], source: &str) -> ImportedJobs {
    let mut answer = ImportedJobs::default();
    for &ImportedRow { old_id, task, is_new } in rows {
        if task.is_none() {
            let reason = format!(
                "another job with this id was imported from the source {source}: give this queue its own source"
            );
            answer.refused.push(RefusedJob { old_id, reason });
            continue;
        }
        let list = if is_new { &mut answer.imported } else { &mut answer.skipped };
        list.push(ImportedJob { old_id, id: task });
    }
    answer
}

/// Ids that a dry run has made exist no more, also where two jobs of the request share one.
fn without_new_ids(mut answer: ImportedJobs) -> ImportedJobs {
    let new: HashSet<_> = answer.imported.iter().filter_map(|job| job.id).collect();
    for job in answer.imported.iter_mut().chain(&mut answer.skipped) {
        job.id = job.id.filter(|id| !new.contains(id));
    }
    answer
}
