//! Kinds of what retention removes.

use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Display, IntoStaticStr, VariantArray, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RetentionKind {
    /// Ended tasks with their runs, counts by minute, the audit.
    EndedWork,
    /// Payloads with their files, snapshots, history of variants.
    CrawledData,
}
