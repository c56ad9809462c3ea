//! Status summary for the overview page: longest waits, failures with their reasons, states of the stores'
//! crawls, proxies by their health. Reads only.

use super::row::{FromRow, document, read_all, rows, word};
use super::task_views::counts;
use super::{Client, DbError, images, pauses, proxies};
use contract::overview::{FailureReason, Failures, Overview, StoreCounts};

/// Maximum failures read; enough to find the common cause.
const MAX_READ: i64 = 10_000;
const MAX_REASONS: i64 = 20;
const MAX_TROUBLED: i64 = 20;

pub async fn read(client: &Client, hours: i32) -> Result<Overview, DbError> {
    let ready = counts::ready(client).await?;
    let failures = failures(client, hours).await?;
    let stores = client.query_one(include_str!("sql/overview/stores.sql"), &[&MAX_TROUBLED]).await?;
    let images = images::totals(client).await?;
    let proxies = proxies::count(client).await?;
    let pauses = pauses::list(client).await?;
    Ok(Overview { ready, failures, stores: StoreCounts::from_row(&stores)?, images, proxies, pauses })
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

    StoreCounts {
        enabled, fresh, late, never_crawled, needs_menu_id, empty_menu, held, unscheduled, products, announced,
        troubled: document,
    }
}
