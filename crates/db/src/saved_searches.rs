//! `saved_searches`, as their monitor reads and writes them; people's changes are [`super::media_records`].

use super::row::{read_all, rows};
use super::storable::reason;
use super::{Client, DbError, Tx};

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
}

/// The enabled searches, the one that was tried longest ago first.
pub async fn enabled(client: &Client) -> Result<Vec<DueSearch>, DbError> {
    read_all(&client.query(include_str!("sql/saved_searches/enabled.sql"), &[&MAX_SEARCHES]).await?)
}

/// Writes why a search failed; None: it did not.
pub async fn note_run(tx: &Tx, id: i64, error: Option<&str>) -> Result<(), DbError> {
    tx.execute(include_str!("sql/saved_searches/note_run.sql"), &[&id, &error.map(reason)]).await?;
    Ok(())
}

rows! {
    DueSearch { id, query, extensions, min_bytes, download, has_run }
}
