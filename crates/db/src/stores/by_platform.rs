//! Numbers of stores by their platform.

use crate::statements::{read_all, rows, sql};
use crate::{Client, DbError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformStores {
    /// Platform as the rows name it, which may be one that this program does not know.
    pub platform: String,
    pub stores: i64,
    /// Number of stores among them that are crawled.
    pub enabled: i64,
}

/// The platforms that have stores, by name.
pub async fn counts(client: &Client) -> Result<Vec<PlatformStores>, DbError> {
    read_all(&client.query(sql!("stores/by_platform.sql"), &[]).await?)
}

rows! {
    PlatformStores { platform, stores, enabled }
}
