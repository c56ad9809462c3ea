//! `retention_runs`: times and counts of the latest removals of old rows and files.

use super::{Client, DbError};
use crate::statements::{read_all, rows, sql, word};
use contract::retention::LastRetentionRun;
use domain::retention::RetentionKind;

/// Records a run that ended now.
pub async fn note(client: &Client, kind: RetentionKind, removed: u64) -> Result<(), DbError> {
    let (kind, removed) = (<&str>::from(kind), i64::try_from(removed).unwrap_or(i64::MAX));
    client.execute(sql!("retention_runs/note.sql"), &[&kind, &removed]).await?;
    Ok(())
}

pub async fn list(client: &Client) -> Result<Vec<LastRetentionRun>, DbError> {
    read_all(&client.query(sql!("retention_runs/list.sql"), &[]).await?)
}

rows! {
    LastRetentionRun { kind: word, ran_at, removed }
}
