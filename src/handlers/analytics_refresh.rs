//! `analytics_refresh`: brings the materialized views up to date without stopping their readers, and matches stores to retailers.
//!
//! In: nothing. Out: the views, refreshed, and the days of prices that one is made of; the retailers of new stores. Running twice costs
//! time and nothing else.

use serde_json::json;

use super::Context;
use domain::task::kinds::analytics_refresh::Args;
use queue::{Outcome, TaskError};

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let views = db::analytics::refresh::refresh(&ctx.services.db).await?;
    let tx = ctx.services.db.begin_maintenance().await?;
    let retailers = db::retailers::matching::match_stores(&tx).await?;
    tx.commit().await?;
    Ok(Outcome::done(json!({ "views": views, "retailers": retailers })).into())
}
