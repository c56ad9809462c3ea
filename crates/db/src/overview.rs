//! What somebody asks first: what waits longest, what fails and why, and how old the stores' menus are. Reads only.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::images::{self, ImageTotals};
use super::row::{FromRow, document, read_all, rows, word};
use super::task_views::counts::{self, ReadyTasks};
use super::{Client, DbError};
use domain::role::Role;
use domain::store::StoreId;
use domain::task::TaskId;
use domain::vocabulary::Word;

/// A time in which so many fail has one reason, and these are enough to see it.
const MAX_READ: i64 = 10_000;
const MAX_REASONS: i64 = 20;
const MAX_OLDEST: i64 = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    pub ready: Vec<ReadyTasks>,
    pub failures: Failures,
    pub stores: StoreAges,
    pub images: ImageTotals,
}

/// What failed within some hours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Failures {
    pub hours: i32,
    /// At most 10,000, the latest ones.
    pub tasks: i64,
    /// The most frequent first.
    pub reasons: Vec<FailureReason>,
}

/// Tasks of one role that failed for one reason; their texts may differ in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailureReason {
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    /// Of the last one.
    pub error_message: String,
    pub tasks: i64,
    pub stores: i64,
    pub last_failed_at: DateTime<Utc>,
    pub last_task_id: TaskId,
    /// The store of the last one.
    pub store_id: Option<StoreId>,
    pub store_name: Option<String>,
}

/// How old the menus of crawled stores are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreAges {
    pub crawled: i64,
    /// Their last complete crawl is at most a quarter older than the interval of their schedule.
    pub fresh: i64,
    /// No schedule with an interval crawls them.
    pub unscheduled: i64,
    /// In the last payloads, and how many the platform announced.
    pub products: i64,
    pub announced: i64,
    /// Those that are not fresh, the oldest first; at most 20.
    pub oldest: Vec<OldStore>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OldStore {
    pub id: StoreId,
    pub name: String,
    /// None: never.
    pub last_complete_at: Option<DateTime<Utc>>,
    pub interval_hours: f64,
}

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
