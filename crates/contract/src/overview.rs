//! The status summary of the overview page.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::images::ImageTotals;
use super::pauses::Pause;
use super::tasks::{ReadyTasks, TaskCounts, TaskView};
use super::verdict::Verdict;
use domain::proxy::{HealthCounts, RestingProxies};
use domain::store::{StoreId, StoreStatus};
use domain::task::TaskId;
use domain::task::role::Role;
use domain::vocabulary::Word;
use domain::worker::WorkerDocument;
use domain::worker::capacity::Capacity;

/// Read from one snapshot: the same thing has the same number in each part.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Overview {
    pub counts: TaskCounts,
    pub ready: Vec<ReadyTasks>,
    /// Capacity by role.
    pub capacity: Vec<Capacity>,
    /// Tasks that run, claimed ones last; the 8 longest-running.
    pub running: Vec<TaskView>,
    /// Each with the tasks that it holds now.
    pub workers: Vec<WorkerDocument>,
    pub failures: Failures,
    pub stores: StoreCounts,
    pub images: ImageTotals,
    pub proxies: HealthCounts,
    /// Proxies that are neither switched off nor benched everywhere.
    pub usable_proxies: i64,
    pub resting_proxies: RestingProxies,
    /// The pauses in force, the widest scope first.
    pub pauses: Vec<Pause>,
    /// The next run of an enabled schedule; null: none is enabled.
    pub next_run_at: Option<DateTime<Utc>>,
    pub now: DateTime<Utc>,
}

/// Failures within the requested hours. A failure is mended when its store was deleted, was crawled completely since,
/// or had a later task of the same role that completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Failures {
    pub hours: i32,
    /// Failed tasks that are not mended; of at most 10,000 failed ones, the latest.
    pub tasks: i64,
    /// The mended ones.
    pub mended: i64,
    /// Reasons of the failures that are not mended, the most frequent first.
    pub reasons: Vec<FailureReason>,
}

/// Tasks of one role that failed for one reason; their texts may differ in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailureReason {
    #[schema(value_type = Role)]
    pub role: Word<Role>,
    /// Error of the last one.
    pub error_message: String,
    pub tasks: i64,
    pub stores: i64,
    pub last_failed_at: DateTime<Utc>,
    pub last_task_id: TaskId,
    /// The store of the last one.
    pub store_id: Option<StoreId>,
    pub store_name: Option<String>,
}

/// Enabled stores. Each is counted in exactly one of `fresh`, `late`, `never_crawled`, `needs_menu_id`,
/// `empty_menu` and `held`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreCounts {
    /// All of them.
    pub enabled: i64,
    /// Their last complete crawl is at most a quarter older than the interval of their schedule.
    pub fresh: i64,
    pub late: i64,
    pub never_crawled: i64,
    /// Their id at the platform is not known yet.
    pub needs_menu_id: i64,
    /// Three crawls in a row found no product; the known products stay unchanged.
    pub empty_menu: i64,
    /// Their task waits for a host that takes no requests now.
    pub held: i64,
    /// Stores that no schedule with an interval crawls, in any state but late.
    pub unscheduled: i64,
    /// Number of products in the last payloads, and the number that the platform announced.
    pub products: i64,
    pub announced: i64,
    /// Stores that are not fresh, at most 20: first the ones that need a person, then the oldest.
    pub troubled: Vec<TroubledStore>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TroubledStore {
    pub id: StoreId,
    pub name: String,
    #[schema(value_type = StoreStatus)]
    pub crawl_status: Word<StoreStatus>,
    /// None: never.
    pub last_complete_at: Option<DateTime<Utc>>,
    /// None: no schedule with an interval crawls the store.
    pub interval_hours: Option<f64>,
}

/// Numbers beside the names of pages: how many entries each has, and how many are in trouble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Navigation {
    pub proxies: HealthCounts,
    /// Hosts whose breaker is not closed: they get no requests now, or a single one as a probe.
    pub hosts_on_hold: i64,
    /// Enabled ones.
    pub stores: i64,
    /// Stores that need a person: without a menu id, or with an empty menu.
    pub stores_in_need: i64,
    /// Stores that are late, or whose host is on hold.
    pub stores_delayed: i64,
    /// Products in the last payloads of enabled stores.
    pub products: i64,
    /// A demo's statistics and prices before this time are simulated; null without a demo.
    pub simulated_until: Option<DateTime<Utc>>,
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
    /// The state of the crawl in words.
    pub verdict: Verdict,
    #[serde(flatten)]
    pub overview: Overview,
    pub images_served: ImagesServed,
    /// Share of refused requests that opens a host's breaker (`politeness.breaker_share`); 0 = it never opens.
    pub breaker_share: f64,
}

/// Images that this process answered since it started, by where they came from.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ImagesServed {
    pub rendered: u64,
    /// Images from the cache, in memory or on disk.
    pub cached: u64,
    /// Images sent as they are stored.
    pub original: u64,
}

fn one() -> i32 {
    1
}
