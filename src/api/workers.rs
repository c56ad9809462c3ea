//! `/api/worker-registry`: every worker, as it last told of itself.

use axum::Json;
use axum::extract::{RawQuery, State};
use serde::Serialize;

use super::ApiError;
use super::params::Params;
use super::router::Shared;
use crate::db::workers;
use crate::domain::worker::WorkerDocument;

#[derive(Serialize)]
pub struct Registry {
    workers: Vec<WorkerDocument>,
}

pub async fn list(State(api): State<Shared>, RawQuery(query): RawQuery) -> Result<Json<Registry>, ApiError> {
    Params::none(query.as_deref())?;
    let client = api.db.api_client().await?;
    Ok(Json(Registry { workers: workers::list(&client).await? }))
}
