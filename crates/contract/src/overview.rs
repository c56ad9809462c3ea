//! The status summary of the overview page.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::images::ImageTotals;
use super::tasks::ReadyTasks;
use domain::proxy::HealthCounts;
use domain::role::Role;
use domain::store::StoreId;
use domain::task::TaskId;
use domain::vocabulary::Word;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    pub ready: Vec<ReadyTasks>,
    pub failures: Failures,
    pub stores: StoreAges,
    pub images: ImageTotals,
    pub proxies: HealthCounts,
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

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OverviewQuery {
    /// How far back failures are counted.
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 24, default = 1)]
    pub hours: i32,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OverviewAnswer {
    #[serde(flatten)]
    pub overview: Overview,
    pub images_served: ImagesServed,
}

/// Images that this process answered since it started, by where they came from.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImagesServed {
    pub rendered: u64,
    /// From the cache, in memory or on disk.
    pub cached: u64,
    /// As they are stored.
    pub original: u64,
}

fn one() -> i32 {
    1
}
