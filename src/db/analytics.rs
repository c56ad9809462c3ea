//! The materialized views.

use super::{Client, DbError};

/// Refreshes every view without stopping its readers and returns their names. Takes minutes on large tables: give it a
/// maintenance client.
pub async fn refresh(client: &Client) -> Result<Vec<&'static str>, DbError> {
    client.execute(include_str!("sql/analytics/refresh_store_summary.sql"), &[]).await?;
    Ok(vec!["mv_store_summary"])
}
