//! `watched_channels`, as their monitor reads and writes them; people's changes are [`super::media_records`].

use super::row::{read_all, rows};
use super::{Client, DbError, Tx, storable};

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
    /// It has answered before.
    pub was_polled: bool,
}

/// The enabled channels, the one that was tried longest ago first; at most [`MAX_CHANNELS`].
pub async fn enabled(client: &Client) -> Result<Vec<PolledChannel>, DbError> {
    read_all(&client.query(include_str!("sql/watched_channels/enabled.sql"), &[&MAX_CHANNELS]).await?)
}

/// Writes that a channel answered, and the proof of its feed for the next poll.
pub async fn note_poll(tx: &Tx, id: i64, etag: Option<&str>, last_modified: Option<&str>) -> Result<(), DbError> {
    tx.execute(include_str!("sql/watched_channels/note_poll.sql"), &[&id, &etag, &last_modified]).await?;
    Ok(())
}

pub async fn note_failure(tx: &Tx, id: i64, reason: &str) -> Result<(), DbError> {
    tx.execute(include_str!("sql/watched_channels/note_failure.sql"), &[&id, &storable::reason(reason)]).await?;
    Ok(())
}

rows! {
    PolledChannel { id, channel_id, download, etag, last_modified, was_polled }
}
