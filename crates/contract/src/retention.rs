//! The latest removals of old rows and files.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::retention::RetentionKind;
use domain::vocabulary::Word;

/// The latest run of a kind, of any process.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LastRetentionRun {
    #[schema(value_type = RetentionKind)]
    pub kind: Word<RetentionKind>,
    pub ran_at: DateTime<Utc>,
    /// Rows, files and partitions.
    pub removed: i64,
}
