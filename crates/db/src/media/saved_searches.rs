//! `saved_searches`, as their monitor reads and writes them; people's changes are [`super::records`].

use chrono::{DateTime, Utc};

use crate::statements::{read_all, reason, rows, sql};
use crate::{Client, DbError, Tx};

/// Maximum number of searches of one run.
const MAX_SEARCHES: i64 = 1_000;

/// A search to run.
#[derive(Clone, Debug)]
pub struct DueSearch {
    pub id: i64,
    pub query: String,
    /// Empty: any.
    pub extensions: Vec<String>,
    pub min_bytes: i64,
    pub download: bool,
    pub has_run: bool,
    /// Whether it was tried since the time that was asked for.
    pub is_done: bool,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// Enabled searches, oldest try first. A search that was tried at `since` or later `is_done`.
pub async fn enabled(client: &Client, since: Option<DateTime<Utc>>) -> Result<Vec<DueSearch>, DbError> {
    read_all(&client.query(sql!("media/saved_searches/enabled.sql"), &[&MAX_SEARCHES, &since]).await?)
}

/// Writes why a search failed; None: it did not.
pub async fn note_run(tx: &Tx, id: i64, error: Option<&str>) -> Result<(), DbError> {
    tx.execute(sql!("media/saved_searches/note_run.sql"), &[&id, &error.map(reason)]).await?;
    Ok(())
}

/// Puts a search behind the others: the service asked to wait.
pub async fn postpone(tx: &Tx, id: i64) -> Result<(), DbError> {
    tx.execute(sql!("media/saved_searches/postpone.sql"), &[&id]).await?;
    Ok(())
}

rows! {
    DueSearch { id, query, extensions, min_bytes, download, has_run, is_done, last_error }
}
