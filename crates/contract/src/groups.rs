//! Groups of stores.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::store::StoreId;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    pub name: String,
    /// Stores that are in it.
    pub stores: i64,
    /// Names of the schedules for this group.
    pub schedules: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GroupPage {
    pub groups: Vec<Group>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Stores to add to a group, and to remove from it.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GroupStores {
    #[schema(max_items = 10_000)]
    pub add: Vec<StoreId>,
    #[schema(max_items = 10_000)]
    pub remove: Vec<StoreId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct GroupChange {
    pub group: String,
    /// Stores that were not in it.
    pub added: u64,
    /// Stores that were in it.
    pub removed: u64,
    /// Stores that are in it now.
    pub stores: i64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupName {
    /// Letters, digits, hyphens and underscores.
    #[schema(min_length = 1, max_length = 40, pattern = "^[A-Za-z0-9_-]+$")]
    pub name: String,
}
