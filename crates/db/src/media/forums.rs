//! `forums`, as the reading of their threads needs them; people's changes are [`super::records`].

use crate::statements::{json, known_word, read_all, rows, sql};
use crate::{Client, DbError};
use domain::media::forum::ForumKind;
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct ReadForum {
    pub id: i64,
    pub name: String,
    pub kind: ForumKind,
    pub base_url: String,
    pub credential_id: Option<i64>,
    /// Selectors as they were written; the API checks them.
    pub selectors: Value,
}

pub async fn by_ids(client: &Client, ids: &[i64]) -> Result<Vec<ReadForum>, DbError> {
    read_all(&client.query(sql!("media/forums/read.sql"), &[&Some(ids), &None::<&str>]).await?)
}

pub async fn named(client: &Client, name: &str) -> Result<Option<ReadForum>, DbError> {
    let rows = client.query(sql!("media/forums/read.sql"), &[&None::<&[i64]>, &Some(name)]).await?;
    Ok(read_all(&rows)?.pop())
}

rows! {
    ReadForum { id, name, kind: known_word, base_url, credential_id, selectors: json }
}
