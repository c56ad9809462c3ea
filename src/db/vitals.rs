//! What a database says about itself: its version and its time.

use chrono::{DateTime, Utc};

use super::{Client, DbError};

#[derive(Clone, Debug)]
pub struct Vitals {
    /// As Postgres writes it, e.g. `15.14`.
    pub version: String,
    pub now: DateTime<Utc>,
}

pub async fn read(client: &Client) -> Result<Vitals, DbError> {
    let row = client.query_one("SELECT current_setting('server_version'), clock_timestamp()", &[]).await?;
    Ok(Vitals { version: row.get(0), now: row.get(1) })
}
