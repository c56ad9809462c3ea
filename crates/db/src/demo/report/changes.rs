//! The stored changes, for comparison with an oracle.

use chrono::{DateTime, Utc};
use serde::Serialize;
use tokio_postgres::Row;

use crate::changes::feed::side;
use crate::statements::{first_columns, read_all, rows, sql, word};
use crate::{Client, DbError};
use domain::menu::changes::{ChangeKind, ChangeSide};
use domain::store::Platform;
use domain::vocabulary::Word;

/// A change as the tables hold it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeRecord {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    /// Its label, and the number of equal labels before it.
    pub option: Option<(String, i16)>,
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

fn option(row: &Row, _: &str) -> Result<Option<(String, i16)>, DbError> {
    let (label, nth): (Option<String>, Option<i16>) = (row.try_get("option_label")?, row.try_get("nth")?);
    Ok(label.zip(nth))
}

rows! {
    ChangeRecord {
        platform_dispensary_id, provider_product_id,
        option: option,
        kind: word,
        old: side("old_"),
        new: side("new_"),
        cents, percent,
    }
}
