//! `analytics_refresh`: brings the materialized views up to date without stopping their readers.
//!
//! In: nothing. Out: the views, refreshed; running twice costs time and nothing else.

use serde_json::json;

use super::{Context, Outcome, TaskError};
use crate::db;
use crate::domain::args;

pub async fn run(ctx: &Context, _: args::AnalyticsRefresh) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.maintenance_client().await?;
    let views = db::server_info::refresh_views(&client).await?;
    Ok(Outcome::done(json!({ "views": views })).into())
}
