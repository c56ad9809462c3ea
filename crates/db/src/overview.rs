//! What somebody asks first: what waits longest, what fails and why, and how old the stores' menus are. Reads only.

use super::row::{FromRow, document, read_all, rows, word};
use super::task_views::counts;
use super::{Client, DbError, images};
use contract::overview::{FailureReason, Failures, Overview, StoreAges};

/// A time in which so many fail has one reason, and these are enough to see it.
const MAX_READ: i64 = 10_000;
const MAX_REASONS: i64 = 20;
const MAX_OLDEST: i64 = 20;

pub async fn read(client: &Client, hours: i32) -> Result<Overview, DbError> {
    let ready = counts::ready(client).await?;
    let failures = failures(client, hours).await?;
    let stores = client.query_one(include_str!("sql/overview/stores.sql"), &[&MAX_OLDEST]).await?;
    let images = images::totals(client).await?;
    Ok(Overview { ready, failures, stores: StoreAges::from_row(&stores)?, images })
}

async fn failures(client: &Client, hours: i32) -> Result<Failures, DbError> {
    let rows = client.query(include_str!("sql/overview/failures.sql"), &[&hours, &MAX_READ, &MAX_REASONS]).await?;
    let tasks = rows.first().map_or(Ok(0), |row| row.try_get("failed"))?;
    Ok(Failures { hours, tasks, reasons: read_all(&rows)? })
}

rows! {
    FailureReason {
        role: word,
        error_message, tasks, stores, last_failed_at, last_task_id, store_id, store_name,
    }

    StoreAges { crawled, fresh, unscheduled, products, announced, oldest: document }
}
