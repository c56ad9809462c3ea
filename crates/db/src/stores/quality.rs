//! `quality_findings`: stores with faulty data.
//!
//! In: the data that refreshes and crawls left in the database. Out: findings, and which of them began or
//! ended. It must not know its readers.

use std::time::Duration;
use strum::VariantArray;

use crate::statements::{first_column, named, read_all, rows, sql, word};
use crate::tasks::take_turn;
use crate::{Client, DbError};
use contract::quality::{Finding, FindingFilter, QualityCount};
use domain::store::StoreId;
use domain::store::quality::QualityKind;
use domain::vocabulary::Word;

/// A refresh becomes visible when its transaction commits, up to this long after the end that it notes.
const LOOK_BACK: Duration = Duration::from_secs(900);

/// A finding that began, or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingChange {
    pub store: StoreId,
    pub kind: String,
    pub detail: String,
    pub begins: bool,
}

/// Checks all stores, unless another process has just done so (None).
pub async fn look_unless_recent(client: &Client, every: Duration) -> Result<Option<Vec<FindingChange>>, DbError> {
    match take_turn(client, "quality", every).await? {
        true => look(client).await.map(Some),
        false => Ok(None),
    }
}

/// Records which stores have faulty data now; returns the changes since the previous check.
pub async fn look(client: &Client) -> Result<Vec<FindingChange>, DbError> {
    read_all(&client.query(sql!("stores/quality/look.sql"), &[&LOOK_BACK.as_secs_f64()]).await?)
}

/// Notes as events which faults of the whole crawl last: unusable proxies, long pauses; returns their number.
pub async fn note_faults(client: &Client) -> Result<i64, DbError> {
    first_column(&client.query_one("SELECT note_crawl_faults()", &[]).await?)
}

/// The newest first, at most `limit`.
pub async fn list(client: &Client, filter: FindingFilter, limit: i64) -> Result<Vec<Finding>, DbError> {
    let FindingFilter { kind, dispensary_id, below } = filter;
    let kind = kind.map(<&str>::from);
    read_all(&named!(client.query("stores/quality/list.sql", kind, store = dispensary_id, below, limit)).await?)
}

/// One for each kind, in their order.
pub async fn counts(client: &Client) -> Result<Vec<QualityCount>, DbError> {
    let found: Vec<QualityCount> = read_all(&client.query(sql!("stores/quality/counts.sql"), &[]).await?)?;
    let count = |kind: QualityKind| {
        let stores = found.iter().find(|count| count.kind == Word::Known(kind)).map_or(0, |count| count.stores);
        QualityCount { kind: Word::Known(kind), stores }
    };
    Ok(QualityKind::VARIANTS.iter().copied().map(count).collect())
}

rows! {
    Finding { id, dispensary_id, dispensary_name, kind: word, detail, since, seen_at }
    QualityCount { kind: word, stores }
    FindingChange { store: "dispensary_id", kind, detail, begins }
}
