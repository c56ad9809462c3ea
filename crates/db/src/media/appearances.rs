//! `appearances`, and the `people` that they are of, as their sync reads and writes them; people's changes
//! are [`super::records`].

use chrono::{DateTime, Utc};
use serde_json::json;

use crate::statements::{FromRow, read_all, reason, rows, sql, storable};
use crate::{Client, DbError, Tx};
use domain::media::appearance::Appearance;

/// Maximum number of people of one sync.
const MAX_PEOPLE: i64 = 10_000;

/// A person whose credits are read.
#[derive(Clone, Debug)]
pub struct SyncedPerson {
    pub id: i64,
    pub tmdb_id: i64,
    /// Whether it was tried since the time that was asked for.
    pub is_done: bool,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

/// Numbers of a person's appearances that came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppearanceChanges {
    pub added: i64,
    pub gone: i64,
    /// All that were known, where the list has none of them.
    pub kept: i64,
}

/// Enabled people, oldest try first. A person who was tried at `since` or later `is_done`.
pub async fn people(client: &Client, since: Option<DateTime<Utc>>) -> Result<Vec<SyncedPerson>, DbError> {
    read_all(&client.query(sql!("people/enabled.sql"), &[&MAX_PEOPLE, &since]).await?)
}

/// Appearances of the service's list that could not be read: they are not missing.
#[derive(Clone, Copy, Debug)]
pub enum Unread<'a> {
    /// The ones with these ids.
    These(&'a [String]),
    /// Any may be among them, so that none is known to be missing.
    SomeUnknown,
}

/// Replaces a person's appearances by the service's list. An appearance that the list lacks stays, with the time
/// when it was first missing. Where the list has none that is known, all stay as they are, and the person says so.
pub async fn replace(
    tx: &Tx,
    person: i64,
    listed: &[Appearance],
    unread: Unread<'_>,
) -> Result<AppearanceChanges, DbError> {
    let unread = match unread {
        Unread::These(ids) => Some(ids),
        Unread::SomeUnknown => None,
    };
    let sql = sql!("media/appearances/replace.sql");
    let row = tx.query_one(sql, &[&person, &storable(&json!(listed)), &unread]).await?;
    let changes = AppearanceChanges::from_row(&row)?;
    let fault = format!("the service lists none of the {} known appearances: they stay as they are", changes.kept);
    note_sync(tx, person, (changes.kept > 0).then_some(&fault)).await?;
    Ok(changes)
}

/// Writes why a person's sync failed; None: it did not.
pub async fn note_sync(tx: &Tx, person: i64, error: Option<&str>) -> Result<(), DbError> {
    tx.execute(sql!("people/note_sync.sql"), &[&person, &error.map(reason)]).await?;
    Ok(())
}

/// Puts a person behind the others: the service asked to wait.
pub async fn postpone(tx: &Tx, person: i64) -> Result<(), DbError> {
    tx.execute(sql!("people/postpone.sql"), &[&person]).await?;
    Ok(())
}

rows! {
    SyncedPerson { id, tmdb_id, is_done, last_error }
    AppearanceChanges { added, gone, kept }
}
