//! Accounts whose media `scrape_account` and `paid_content_creator` scrape.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad};
use domain::media::account::{AccountKind, check_platform, check_username, web_address};
use domain::schedule::INTERVALS;
use domain::vocabulary::Word;

/// Maximum interval of a schedule: an account with an interval has one.
const MAX_HOURS: f64 = *INTERVALS.end();
const MIN_HOURS: f64 = 0.01;

record! {
    Accounts: Account {
        platform: String,
        username: String,
        #[schema(value_type = AccountKind)]
        kind: Word<AccountKind>,
        /// Null: made from the address of its platform.
        url: Option<String>,
        credential_id: Option<i64>,
        /// Null: scraped only on request.
        interval_hours: Option<f64>,
        enabled: bool,
        /// Time when the last complete scrape ended.
        last_scraped_at: Option<DateTime<Utc>>,
        /// Why the last scrape failed; null: it did not.
        last_error: Option<String>,
        created_at: DateTime<Utc>,
    }
    draft AccountDraft {
        /// Name of the site, or of its family, in gallery-dl.
        #[schema(pattern = "^[a-z0-9_-]{1,64}$", example = "mastodon")]
        platform: String,
        #[schema(min_length = 1, max_length = 200, example = "ann")]
        username: String,
        #[serde(default = "public")]
        #[schema(default = "public")]
        kind: AccountKind,
        /// None: made from `media.platforms.<platform>.url`.
        #[schema(max_length = 2000, example = "https://site.example/ann")]
        url: Option<String>,
        /// A credential of the same platform.
        credential_id: Option<i64>,
        #[schema(minimum = 0.01, maximum = 87600)]
        interval_hours: Option<f64>,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    /// Null removes a value.
    change AccountChange {
        #[schema(max_length = 2000)]
        url: Option<String>,
        credential_id: Option<i64>,
        #[schema(minimum = 0.01, maximum = 87600)]
        interval_hours: Option<f64>,
        enabled: bool,
    }
}

impl Fields for AccountDraft {
    fn check(&self) -> Result<(), BadField> {
        check_platform(&self.platform).map_err(|fault| bad("platform", fault))?;
        check_username(&self.username).map_err(|fault| bad("username", fault))?;
        check_url(self.url.as_deref())?;
        check_interval(self.interval_hours)
    }

    fn address(&self) -> Option<(&'static str, &str)> {
        self.url.as_deref().map(|url| ("url", url))
    }
}

impl Fields for AccountChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("enabled")?;
        check_url(self.url.as_ref().and_then(Option::as_deref))?;
        check_interval(self.interval_hours.flatten())
    }

    fn address(&self) -> Option<(&'static str, &str)> {
        self.url.as_ref()?.as_deref().map(|url| ("url", url))
    }
}

fn check_url(url: Option<&str>) -> Result<(), BadField> {
    match url.map(web_address) {
        Some(Err(fault)) => Err(bad("url", fault)),
        _ => Ok(()),
    }
}

fn check_interval(hours: Option<f64>) -> Result<(), BadField> {
    match hours {
        Some(hours) if !(MIN_HOURS..=MAX_HOURS).contains(&hours) => {
            Err(bad("interval_hours", format!("must be {MIN_HOURS} to {MAX_HOURS}")))
        }
        _ => Ok(()),
    }
}

fn public() -> AccountKind {
    AccountKind::Public
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::an_account(json!({"platform": "mastodon", "username": "ann"}), None)]
    #[case::all_fields(json!({"platform": "a", "username": "b", "kind": "creator", "url": "mastodon:https://a.example/@b", "credential_id": 1, "interval_hours": 6.5, "enabled": false}), None)]
    #[case::a_slash(json!({"platform": "a", "username": "b/c"}), Some("username"))]
    #[case::a_line_break(json!({"platform": "a", "username": "b\nc"}), Some("username"))]
    #[case::a_long_name(json!({"platform": "a", "username": "b".repeat(4096)}), Some("username"))]
    #[case::a_platform(json!({"platform": "A site", "username": "b"}), Some("platform"))]
    #[case::a_file(json!({"platform": "a", "username": "b", "url": "file:///etc/passwd"}), Some("url"))]
    #[case::ten_years(json!({"platform": "a", "username": "b", "interval_hours": 87_600}), None)]
    #[case::more(json!({"platform": "a", "username": "b", "interval_hours": 87_601}), Some("interval_hours"))]
    #[case::no_time(json!({"platform": "a", "username": "b", "interval_hours": 0}), Some("interval_hours"))]
    fn an_account_is_checked(#[case] draft: Value, #[case] fault: Option<&str>) {
        let draft: AccountDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
    }

    #[test]
    fn null_takes_a_value_away_and_is_a_change() {
        let change: AccountChange = serde_json::from_value(json!({"url": null})).unwrap();
        assert_eq!(change.check(), Ok(()));
        assert_eq!(serde_json::to_value(&change).unwrap(), json!({"url": null}));
        assert_eq!(AccountChange::default().check().unwrap_err().field, "enabled");
    }
}
