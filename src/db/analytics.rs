//! The materialized views.

use super::{Client, DbError};

/// Refreshes every view without stopping its readers. Takes minutes on a large table: give it a maintenance client.
pub async fn refresh(client: &Client) -> Result<(), DbError> {
    client.execute(include_str!("sql/analytics/refresh_store_summary.sql"), &[]).await?;
    Ok(())
}
