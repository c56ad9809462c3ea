//! `watched_threads`, as `forum_scrape` reads and writes them; people's changes are [`super::records`].

use chrono::{DateTime, Utc};

use crate::statements::{read_all, reason, rows, sql};
use crate::{Client, DbError, Tx};

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
    /// Whether it was tried since the time that was asked for.
    pub is_done: bool,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// Lists these threads, or all that are enabled, oldest try first. A thread that was tried at `since` or later `is_done`.
pub async fn to_read(
    client: &Client,
    ids: Option<&[i64]>,
    since: Option<DateTime<Utc>>,
) -> Result<Vec<WatchedThread>, DbError> {
    read_all(&client.query(sql!("media/threads/to_read.sql"), &[&ids, &MAX_THREADS, &since]).await?)
}

/// Keeps a thread for this transaction; false: it was removed.
pub async fn lock(tx: &Tx, id: i64) -> Result<bool, DbError> {
    Ok(tx.query_opt(sql!("media/threads/lock.sql"), &[&id]).await?.is_some())
}

/// Writes how far a thread was read: the place of a page, and the largest id of its posts.
pub async fn note_read(tx: &Tx, id: i64, last_page: Option<i32>, post: i64) -> Result<(), DbError> {
    tx.execute(sql!("media/threads/note_read.sql"), &[&id, &last_page, &post]).await?;
    Ok(())
}

/// Writes how a thread's reading ended; how far it came stays. None: it did not fail.
pub async fn note_end(tx: &Tx, id: i64, error: Option<&str>) -> Result<(), DbError> {
    tx.execute(sql!("media/threads/note_end.sql"), &[&id, &error.map(reason)]).await?;
    Ok(())
}

/// Puts a thread behind the others: its forum asked to wait.
pub async fn postpone(tx: &Tx, id: i64) -> Result<(), DbError> {
    tx.execute(sql!("media/threads/postpone.sql"), &[&id]).await?;
    Ok(())
}

rows! {
    WatchedThread { id, forum_id, external_id, download, last_page, is_done, last_error }
}
