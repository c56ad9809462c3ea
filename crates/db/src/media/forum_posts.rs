//! `forum_posts`: the posts of watched threads.

use serde_json::json;

use crate::statements::{first_column, first_columns, sql, storable};
use crate::{Client, DbError, Tx};
use domain::media::forum::ForumPost;

/// Adds new posts and writes changed ones; returns the number of new posts.
pub async fn upsert(tx: &Tx, thread: i64, posts: &[ForumPost]) -> Result<i64, DbError> {
    let sql = sql!("media/forum_posts/upsert.sql");
    first_column(&tx.query_one(sql, &[&thread, &storable(&json!(posts))]).await?)
}

/// The ids among these that the thread has no post of, in their order.
pub async fn unknown(client: &Client, thread: i64, ids: &[i64]) -> Result<Vec<i64>, DbError> {
    first_columns(&client.query(sql!("media/forum_posts/unknown.sql"), &[&thread, &ids]).await?)
}
