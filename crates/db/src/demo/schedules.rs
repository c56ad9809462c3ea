//! The schedules of a demo, which runs them itself, at its own pace: lists show what it does.

use std::time::Duration;

use crate::statements::sql;
use crate::{Client, DbError};

/// Shows that the schedule runs again after `wait`.
pub async fn set_next_run(client: &Client, name: &str, wait: Duration) -> Result<(), DbError> {
    let seconds = wait.as_secs_f64();
    client.execute(sql!("demo/schedules/next_run.sql"), &[&name, &seconds]).await.map(drop)
}

/// Switches the search for new stores off, unless a user ran it.
pub async fn switch_discovery_off(client: &Client) -> Result<(), DbError> {
    client.execute(sql!("demo/schedules/discovery_off.sql"), &[]).await.map(drop)
}
