//! `scrape_account`: downloads the media of an account.
//!
//! In: a platform and a name. Out: as [`account_scrape`] leaves it. The account needs no row; its address is then made
//! from the platform's.

use super::account_scrape::{self, Account};
use crate::handlers::Context;
use ::media::gallery_dl;
use domain::task::kinds::scrape_account::{Args, ScrapeType};
use queue::{Outcome, TaskError};

const NO_NAME: &str = "a scrape needs the name of an account: give it as `account`, or as `username` in the payload";

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let platform = ctx.media_platform()?;
    let username = username(ctx.account.as_deref(), args.username.as_deref())?;
    let row = db::media::accounts::find(&ctx.services.db.client().await?, platform, username).await?;
    let account = match row {
        Some(row) => Account::of_row(row),
        None => Account::without_row(platform, username),
    };
    let scrape_type = match args.scrape_type.unwrap_or_default() {
        ScrapeType::Recent => gallery_dl::ScrapeType::Recent,
        ScrapeType::Full => gallery_dl::ScrapeType::Full,
    };
    account_scrape::run(ctx, account, scrape_type).await
}

fn username<'a>(account: Option<&'a str>, asked: Option<&'a str>) -> Result<&'a str, TaskError> {
    match (account, asked) {
        (Some(account), Some(asked)) if account != asked => {
            Err(TaskError::permanent(format!("the job is for the account {account}, and its payload for {asked}")))
        }
        (account, asked) => asked.or(account).ok_or_else(|| TaskError::permanent(NO_NAME)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_for_one_account() {
        assert_eq!(username(Some("ann"), None).ok(), Some("ann"));
        assert_eq!(username(None, Some("ann")).ok(), Some("ann"));
        assert_eq!(username(Some("ann"), Some("ann")).ok(), Some("ann"));
        for (account, asked) in [(Some("ann"), Some("bea")), (None, None)] {
            assert!(matches!(username(account, asked), Err(TaskError::Permanent { .. })));
        }
    }
}
