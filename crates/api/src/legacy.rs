//! `/api/tasks/migration/…`: the move from the older schema. Where a database holds none of its tables, each
//! says so, and tasks are made all the same.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::{Admin, ApiError, Body, Caller, Change, Changes, Viewer};
use contract::legacy::{Legacy, LegacyCount, LegacyReport, LegacyStatus, LegacyStores};
use contract::problem::Problem;
use db::tasks::generation::GenerationError;
use db::tasks::views::counts;
use db::{Client, schema, tasks};
use domain::legacy::LegacyMove;

/// Shows the old tables beside the new queue.
#[utoipa::path(get, path = "/api/tasks/migration/status", tag = "migration",
               responses((status = 200, body = LegacyStatus), (status = 409, response = Problem)))]
pub async fn status(caller: Caller<Viewer>) -> Result<Json<LegacyStatus>, ApiError> {
    let client = caller.client().await?;
    let (tables, queue) = (schema::legacy::tables(&client).await?, counts::counts(&client).await?.all);
    Ok(Json(LegacyStatus { legacy: of_database(&client).await?, tables, queue }))
}

/// Switches the schedules of the older schema off.
#[utoipa::path(post, path = "/api/tasks/migration/disable-old-schedules", tag = "migration",
               responses((status = 200, body = LegacyCount), (status = 409, response = Problem)))]
pub async fn disable_old_schedules(changes: Changes<Admin>) -> Result<Response, ApiError> {
    let change = changes.begin().await?;
    let count = schema::legacy::disable_schedules(&change).await?;
    counted(change, "migration.disable_old_schedules", count, "no schedule of the older schema is on").await
}

/// Cancels the crawl jobs of the older schema that wait.
#[utoipa::path(post, path = "/api/tasks/migration/cancel-pending-crawl-jobs", tag = "migration",
               responses((status = 200, body = LegacyCount), (status = 409, response = Problem)))]
pub async fn cancel_pending_crawl_jobs(changes: Changes<Admin>) -> Result<Response, ApiError> {
    let change = changes.begin().await?;
    let count = schema::legacy::cancel_crawl_jobs(&change).await?;
    counted(change, "migration.cancel_pending_crawl_jobs", count, "no crawl job of the older schema waits").await
}

/// Creates a task to fetch the menu of every store that has no open one.
#[utoipa::path(post, path = "/api/tasks/migration/create-resync-tasks", tag = "migration",
               responses((status = 200, body = LegacyCount), (status = 409, response = Problem)))]
pub async fn create_resync_tasks(
    changes: Changes<Admin>,
    Body(LegacyStores { state_code }): Body<LegacyStores>,
) -> Result<Response, ApiError> {
    let change = changes.begin().await?;
    let made = tasks::generation::of_stores(&change, state_code.as_deref()).await.map_err(GenerationError::Db)?;
    counted(change, "migration.create_resync_tasks", made.count, &no_crawls(made.skipped)).await
}

/// Does the whole migration in one transaction: schedules off, waiting crawl jobs cancelled, tasks made for every
/// store, a discovery and a refresh of the analytics, job runs closed. A second call changes nothing more.
#[utoipa::path(post, path = "/api/tasks/migration/full-migrate", tag = "migration",
               responses((status = 200, body = LegacyReport), (status = 409, response = Problem)))]
pub async fn full_migrate(changes: Changes<Admin>) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let legacy = of_database(&change).await?;
    let done = schema::legacy::move_all(&change).await.map_err(GenerationError::Db)?;
    let report = LegacyReport { legacy, notes: notes(legacy, &done), done };
    change.audit("migration.full_migrate", "", json!(report));
    change.answer(StatusCode::OK, &report).await
}

async fn of_database(client: &Client) -> Result<Legacy, ApiError> {
    Ok(if schema::legacy::exists(client).await? { Legacy::Present } else { Legacy::Absent })
}

async fn counted(mut change: Change, action: &'static str, count: i32, why_none: &str) -> Result<Response, ApiError> {
    let legacy = of_database(&change).await?;
    change.audit(action, "", json!({ "count": count }));
    let note = (count == 0).then(|| why_none.to_owned());
    change.answer(StatusCode::OK, &LegacyCount { legacy, count, note }).await
}

fn notes(legacy: Legacy, done: &LegacyMove) -> Vec<String> {
    let no_tables =
        "this database holds no table of the older schema: there was nothing to switch off, cancel or close";
    let notes = [
        (legacy == Legacy::Absent, no_tables.to_owned()),
        (done.crawl_tasks_created == 0, no_crawls(done.crawl_tasks_skipped)),
        (done.discovery_task.is_none(), "a discovery is queued or running already".to_owned()),
        (done.analytics_task.is_none(), "a refresh of the analytics is queued or running already".to_owned()),
    ];
    notes.into_iter().filter_map(|(holds, note)| holds.then_some(note)).collect()
}

fn no_crawls(skipped: i32) -> String {
    match skipped {
        0 => "no store is switched on and has a platform id".to_owned(),
        skipped => format!("stores with a crawl that is queued or running already: {skipped}"),
    }
}
