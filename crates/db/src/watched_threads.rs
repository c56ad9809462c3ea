//! `watched_threads`, as `forum_scrape` reads and writes them; people's changes are [`super::media_records`].

use super::row::{read_all, rows};
use super::storable::reason;
use super::{Client, DbError, Tx};

/// Maximum number of threads of one run.
const MAX_THREADS: i64 = 10_000;

/// A thread to read.
#[derive(Clone, Debug)]
pub struct WatchedThread {
    pub id: i64,
    pub forum_id: i64,
    /// Its number in the forum.
    pub external_id: String,
    pub download: bool,
    /// The place of the last page that was read; None: the first.
    pub last_page: Option<i32>,
}

/// These threads, or all that are enabled; the one that was tried longest ago first.
pub async fn to_read(client: &Client, ids: Option<&[i64]>) -> Result<Vec<WatchedThread>, DbError> {
    read_all(&client.query(include_str!("sql/watched_threads/to_read.sql"), &[&ids, &MAX_THREADS]).await?)
}

/// Keeps a thread for this transaction; false: it was removed.
pub async fn lock(tx: &Tx, id: i64) -> Result<bool, DbError> {
    Ok(tx.query_opt(include_str!("sql/watched_threads/lock.sql"), &[&id]).await?.is_some())
}

/// Writes how far a thread was read: the place of a page, and the largest id of its posts.
pub async fn note_read(tx: &Tx, id: i64, last_page: Option<i32>, post: i64) -> Result<(), DbError> {
    tx.execute(include_str!("sql/watched_threads/note_read.sql"), &[&id, &last_page, &post]).await?;
    Ok(())
}

/// Writes why a thread's reading failed; how far it came stays.
pub async fn note_failure(tx: &Tx, id: i64, error: &str) -> Result<(), DbError> {
    tx.execute(include_str!("sql/watched_threads/note_failure.sql"), &[&id, &reason(error)]).await?;
    Ok(())
}

rows! {
    WatchedThread { id, forum_id, external_id, download, last_page }
}
