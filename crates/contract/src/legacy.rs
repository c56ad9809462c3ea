//! The move from the older schema.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tasks::Counts;
use domain::legacy::{LegacyMove, LegacyTables};
use domain::store::state_code::StateCode;

/// Whether the database holds tables of the older schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Legacy {
    Present,
    Absent,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LegacyStatus {
    pub legacy: Legacy,
    #[serde(flatten)]
    pub tables: LegacyTables,
    /// Counts of the new queue.
    pub queue: Counts,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LegacyCount {
    pub legacy: Legacy,
    pub count: i32,
    /// Why it is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct LegacyReport {
    pub legacy: Legacy,
    #[serde(flatten)]
    pub done: LegacyMove,
    /// Why parts of it are 0.
    pub notes: Vec<String>,
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LegacyStores {
    /// Only the stores of this state.
    #[schema(value_type = Option<String>, pattern = "^[A-Za-z]{2}$")]
    pub state_code: Option<StateCode>,
}
