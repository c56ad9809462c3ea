//! What is known of a payload: a raw upstream answer kept gzipped, and its row in `raw_crawl_payloads`.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::dispensary::{DispensaryId, Platform};
use super::task::TaskId;

pub type PayloadId = i64;

/// A row to be written. The file at `storage_path` is durable before this exists.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPayload {
    pub task_id: TaskId,
    pub dispensary_id: DispensaryId,
    pub platform: Platform,
    /// Relative to the storage root, beginning `payloads/`.
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    /// Distinct provider ids in it.
    pub product_count: i32,
    /// What upstream said there is.
    pub total_count: i32,
    /// product_count / total_count, 0…1.
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}

/// A row as read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Payload {
    pub id: PayloadId,
    pub task_id: Option<TaskId>,
    pub dispensary_id: DispensaryId,
    pub platform: Platform,
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    pub product_count: i32,
    pub total_count: i32,
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}
