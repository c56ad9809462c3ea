//! A worker as others see it: the heartbeat document that the registry keeps and the API shows.

pub mod capacity;
pub mod pod;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::task::TaskId;
use super::vocabulary::vocabulary;

vocabulary! {
    pub enum WorkerStatus {
        Active,
        BackingOff,
        Paused,
        Draining,
        Offline,
    }
}

vocabulary! {
    /// Command from a person to a worker, as a row of `worker_commands`.
    pub enum WorkerCommand {
        Decommission,
        Pause,
        Resume,
    }
}

/// Memory in MiB, CPU time in milliseconds since the process began, shares in percent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Resources {
    /// Heap in use by the process; its resident memory where the heap is unknown.
    pub memory_mb: u64,
    /// The limit of its container, else the memory of the machine.
    pub memory_total_mb: u64,
    /// Resident memory of the process.
    pub memory_rss_mb: u64,
    /// Share of `memory_total_mb` that the container or the machine uses: the figure that back-off compares, and not a share of `memory_mb`.
    pub memory_percent: f64,
    pub cpu_user_ms: u64,
    pub cpu_system_ms: u64,
    pub cpu_percent: f64,
    pub is_backing_off: bool,
    pub backoff_reason: Option<String>,
}

/// The heartbeat document, with what the registry knows beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerDocument {
    pub worker_id: String,
    pub current_task_id: Option<TaskId>,
    pub current_task_ids: Vec<TaskId>,
    pub active_task_count: usize,
    pub max_concurrent_tasks: usize,
    pub status: WorkerStatus,
    pub resources: Resources,
    pub friendly_name: String,
    pub pod: String,
    pub role: String,
    pub roles: Vec<String>,
    /// Set by the database.
    pub last_heartbeat_at: Option<DateTime<Utc>>,
    /// Start of its process, by the database's clock.
    pub started_at: Option<DateTime<Utc>>,
}
