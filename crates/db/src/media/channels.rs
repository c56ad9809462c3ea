//! `watched_channels`, as their monitor reads and writes them; people's changes are [`super::records`].

use chrono::{DateTime, Utc};

use crate::statements::{read_all, rows, sql};
use crate::{Client, DbError, Tx, statements};

/// Maximum number of channels of one poll.
pub const MAX_CHANNELS: i64 = 10_000;

/// A channel to poll.
#[derive(Clone, Debug)]
pub struct PolledChannel {
    pub id: i64,
    pub channel_id: String,
    pub download: bool,
    /// The ETag of the last feed.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// Whether it has answered before.
    pub was_polled: bool,
    /// Whether it was tried since the time that was asked for.
    pub is_done: bool,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// Enabled channels, oldest try first, at most [`MAX_CHANNELS`]. A channel that was tried at `since` or later `is_done`.
pub async fn enabled(client: &Client, since: Option<DateTime<Utc>>) -> Result<Vec<PolledChannel>, DbError> {
    read_all(&client.query(sql!("media/channels/enabled.sql"), &[&MAX_CHANNELS, &since]).await?)
}

/// Writes that a channel answered, and the proof of its feed for the next poll.
pub async fn note_poll(tx: &Tx, id: i64, etag: Option<&str>, last_modified: Option<&str>) -> Result<(), DbError> {
    tx.execute(sql!("media/channels/note_poll.sql"), &[&id, &etag, &last_modified]).await?;
    Ok(())
}

pub async fn note_failure(tx: &Tx, id: i64, reason: &str) -> Result<(), DbError> {
    tx.execute(sql!("media/channels/note_failure.sql"), &[&id, &statements::reason(reason)]).await?;
    Ok(())
}

/// Puts a channel behind the others: the service asked to wait.
pub async fn postpone(tx: &Tx, id: i64) -> Result<(), DbError> {
    tx.execute(sql!("media/channels/postpone.sql"), &[&id]).await?;
    Ok(())
}

rows! {
    PolledChannel { id, channel_id, download, etag, last_modified, was_polled, is_done, last_error }
}
