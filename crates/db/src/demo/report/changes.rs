//! The stored changes, for comparison with an oracle.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;

use crate::changes::feed::{option, side};
use crate::statements::{first_columns, read_all, rows, sql, word};
use crate::{Client, DbError};
use contract::changes::ChangedOption;
use domain::menu::changes::{ChangeKind, ChangeSide};
use domain::store::Platform;
use domain::vocabulary::Word;

/// A change as the tables hold it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRecord {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    pub option: Option<ChangedOption>,
    pub kind: Word<ChangeKind>,
    pub old: Option<ChangeSide>,
    pub new: Option<ChangeSide>,
    pub cents: Option<i32>,
    pub percent: Option<f64>,
}

/// Every change of the platform's products that a crawl since then found.
pub async fn since(client: &Client, platform: Platform, since: DateTime<Utc>) -> Result<Vec<ChangeRecord>, DbError> {
    read_all(&client.query(sql!("demo/report/changes.sql"), &[&platform.name(), &since]).await?)
}

/// Platform ids of the stores whose crawls since then are compared with an earlier one.
pub async fn followed(client: &Client, since: DateTime<Utc>) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("demo/report/followed.sql"), &[&since]).await?)
}

/// How the changes that were found differ from the expected ones, each in words. Their order means nothing.
pub fn differences(found: &[ChangeRecord], expected: &[ChangeRecord]) -> Vec<String> {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (records, sign) in [(found, 1), (expected, -1)] {
        for record in records {
            *counts.entry(json!(record).to_string()).or_default() += sign;
        }
    }
    let text = |(record, count): (String, i64)| match count.signum() {
        0 => None,
        1 => Some(format!("{count} times, not expected: change {record}")),
        _ => Some(format!("{} times missing: change {record}", -count)),
    };
    counts.into_iter().filter_map(text).collect()
}

rows! {
    ChangeRecord {
        platform_dispensary_id, provider_product_id,
        option: option("option_label"),
        kind: word,
        old: side("old_"),
        new: side("new_"),
        cents, percent,
    }
}
