//! `retention_runs`: when old rows and files were last removed, and how many.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::row::{read_all, rows, word};
use super::{Client, DbError};
use domain::retention::RetentionKind;
use domain::vocabulary::Word;

/// The latest run of a kind, of any process.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastRetentionRun {
    #[schema(value_type = RetentionKind)]
    pub kind: Word<RetentionKind>,
    pub ran_at: DateTime<Utc>,
    /// Rows, files and partitions.
    pub removed: i64,
}

/// Notes a run that ended now.
pub async fn note(client: &Client, kind: RetentionKind, removed: u64) -> Result<(), DbError> {
    let (kind, removed) = (<&str>::from(kind), i64::try_from(removed).unwrap_or(i64::MAX));
    client.execute(include_str!("sql/retention_runs/note.sql"), &[&kind, &removed]).await?;
    Ok(())
}

pub async fn list(client: &Client) -> Result<Vec<LastRetentionRun>, DbError> {
    read_all(&client.query(include_str!("sql/retention_runs/list.sql"), &[]).await?)
}

rows! {
    LastRetentionRun { kind: word, ran_at, removed }
}
