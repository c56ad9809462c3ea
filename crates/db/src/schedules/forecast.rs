//! The facts of a forecast of capacity: schedules, measured runs, slots, stores by host, proxies. Reads only.
//!
//! Rows may hold words that this program does not know, such as a newer role or a cron line written by hand:
//! they are left out.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use strum::VariantArray;
use tokio_postgres::Row;

use crate::statements::{FromRow, read_all, rows, sql};
use crate::{Client, DbError};
use domain::schedule::forecast::{RunCost, ScheduledRuns, WorkerSlots};
use domain::schedule::{Recurrence, RecurrenceColumns};
use domain::task::role::Role;

/// Number of tasks over which requests are averaged.
const MAX_LATEST: i64 = 5_000;

/// Crawlable stores of a platform that are asked at the same host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostStores {
    pub platform: String,
    /// None: the platform's own host.
    pub api_host: Option<String>,
    pub stores: i64,
    /// Stores among these that are paused themselves.
    pub paused: i64,
}

/// Proxies in use, and the processes that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyUsers {
    pub proxies: i64,
    pub processes: i64,
}

struct ScheduleRow {
    role: String,
    interval_hours: Option<f64>,
    cron: Option<String>,
    time_zone: Option<String>,
    now: DateTime<Utc>,
    stores: Option<i64>,
}

struct SlotsRow {
    roles: Vec<String>,
    slots: i64,
    paused: i64,
}

/// The enabled schedules.
pub async fn schedules(client: &Client) -> Result<Vec<ScheduledRuns>, DbError> {
    let per_store: Vec<&str> = Role::VARIANTS.iter().filter(|role| role.per_store()).map(|role| role.name()).collect();
    let rows = client.query(sql!("schedules/forecast/schedules.sql"), &[&per_store]).await?;
    Ok(read_all::<ScheduleRow>(&rows)?.into_iter().filter_map(ScheduleRow::runs).collect())
}

/// Means of the completed runs of a day, by role.
pub async fn costs(client: &Client) -> Result<BTreeMap<Role, RunCost>, DbError> {
    let rows = client.query(sql!("schedules/forecast/costs.sql"), &[&MAX_LATEST]).await?;
    let mut costs = BTreeMap::new();
    for row in &rows {
        if let Ok(role) = row.try_get::<_, &str>("role")?.parse() {
            costs.insert(role, RunCost::from_row(row)?);
        }
    }
    Ok(costs)
}

/// Slots of the workers that claim tasks, or will after a pause.
pub async fn workers(client: &Client) -> Result<Vec<WorkerSlots>, DbError> {
    let rows = client.query(sql!("schedules/forecast/workers.sql"), &[]).await?;
    Ok(read_all::<SlotsRow>(&rows)?.into_iter().map(WorkerSlots::from).collect())
}

pub async fn stores_by_host(client: &Client) -> Result<Vec<HostStores>, DbError> {
    read_all(&client.query(sql!("schedules/forecast/stores.sql"), &[]).await?)
}

pub async fn proxy_users(client: &Client) -> Result<ProxyUsers, DbError> {
    ProxyUsers::from_row(&client.query_one(sql!("schedules/forecast/proxies.sql"), &[]).await?)
}

/// Seconds that an answer of the host usually takes; None: it has not answered.
pub async fn seconds_per_request(client: &Client, host: &str) -> Result<Option<f64>, DbError> {
    let row = client.query_opt(sql!("schedules/forecast/latency.sql"), &[&host]).await?;
    let latency_ms: Option<f64> = row.map_or(Ok(None), |row: Row| row.try_get("latency_ms"))?;
    Ok(latency_ms.map(|ms| ms / 1000.0))
}

impl ScheduleRow {
    fn runs(self) -> Option<ScheduledRuns> {
        let recurrence = Recurrence::of_columns(RecurrenceColumns {
            interval_hours: self.interval_hours,
            cron: self.cron.as_deref(),
            time_zone: self.time_zone.as_deref(),
        })?;
        let times_per_hour = recurrence.times_per_hour(self.now).ok()?;
        Some(ScheduledRuns { role: self.role.parse().ok()?, stores: self.stores, times_per_hour })
    }
}

impl From<SlotsRow> for WorkerSlots {
    fn from(row: SlotsRow) -> WorkerSlots {
        let roles = row.roles.iter().filter_map(|role| role.parse().ok()).collect();
        WorkerSlots { roles, slots: row.slots, paused: row.paused }
    }
}

rows! {
    ScheduleRow { role, interval_hours, cron, time_zone, now, stores }
    SlotsRow { roles, slots, paused }
    RunCost { seconds, runs, requests }
    HostStores { platform, api_host, stores, paused }
    ProxyUsers { proxies, processes }
}
