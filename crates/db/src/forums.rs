//! `forums`, as the reading of their threads needs them; people's changes are [`super::media_records`].

use super::row::{json, known_word, read_all, rows};
use super::{Client, DbError};
use domain::forum::ForumKind;
use serde_json::Value;

/// Maximum number of forums that are read.
const MAX_FORUMS: i64 = 1_000;

#[derive(Clone, Debug)]
pub struct ReadForum {
    pub id: i64,
    pub name: String,
    pub kind: ForumKind,
    pub base_url: String,
    pub credential_id: Option<i64>,
    /// As it was written; the API checks it.
    pub selectors: Value,
}

/// The forum of this name, or all.
pub async fn read(client: &Client, name: Option<&str>) -> Result<Vec<ReadForum>, DbError> {
    read_all(&client.query(include_str!("sql/forums/read.sql"), &[&name, &MAX_FORUMS]).await?)
}

rows! {
    ReadForum { id, name, kind: known_word, base_url, credential_id, selectors: json }
}
