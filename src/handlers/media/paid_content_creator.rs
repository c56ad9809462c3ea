//! `paid_content_creator`: downloads the new media of one creator.
//!
//! In: the id of an account of the kind creator. Out: as [`account_scrape`] leaves it. One that is disabled is left alone.

use serde_json::json;

use super::account_scrape::{self, Account};
use crate::handlers::Context;
use ::media::gallery_dl::ScrapeType;
use domain::media::account::AccountKind;
use domain::task::kinds::paid_content_creator::Args;
use queue::{Outcome, TaskError};

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let id = args.creator_id;
    let row = db::media::accounts::get(&ctx.services.db.client().await?, id).await?;
    match row.filter(|row| row.kind == AccountKind::Creator) {
        None => {
            Err(TaskError::permanent(format!("no creator has the id {id}: `drover media list accounts` lists them")))
        }
        Some(row) if !row.enabled => Ok(Outcome::done(json!({"skipped": "the creator is disabled"})).into()),
        Some(row) => account_scrape::run(ctx, Account::of_row(row), ScrapeType::Recent).await,
    }
}
