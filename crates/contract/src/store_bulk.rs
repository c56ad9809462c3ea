//! One action on many stores: the request with all checks of it that need no database, and its answer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::{BadField, bad};
use super::stores::StoreFilter;
use domain::store;
use domain::store::{Platform, StoreId, StoreStatus};
use domain::vocabulary::vocabulary;

/// Maximum number of stores that one request changes, and of ids in it.
pub const MAX_STORES: usize = 10_000;

vocabulary! {
    pub enum StoreAction {
        /// Makes a task that fetches the menu, before the tasks of schedules.
        Crawl,
        Enable,
        Disable,
        AddToGroup,
        RemoveFromGroup,
    }
}

/// The fields of `POST /api/stores/bulk`: `filter` or `ids`, not both.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreBulkRequest {
    pub action: StoreAction,
    /// Selection of stores; without a property: every store.
    #[serde(default)]
    pub filter: Option<StoreSelection>,
    #[serde(default)]
    #[schema(min_items = 1, max_items = 10_000)]
    pub ids: Option<Vec<StoreId>>,
    /// Name of the group, for `add_to_group` and `remove_from_group`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 40, pattern = "^[A-Za-z0-9_-]+$")]
    pub group: Option<String>,
    /// Only counts.
    #[serde(default)]
    pub dry_run: bool,
}

/// The stores that a change is for; a field that is None does not filter. It has the names of the parameters of `GET /api/stores`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSelection {
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, pattern = "^[A-Za-z]{2}$", example = "AZ")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crawl_status: Option<StoreStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1)]
    pub q: Option<String>,
}

/// Counts of a [`StoreBulkRequest`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StoreBulkAnswer {
    pub matched: i64,
    /// Matching stores that the action can change. A crawl needs an enabled store with a menu id.
    pub eligible: i64,
    /// Stores that were changed, or got a task; 0 where they were only counted.
    pub done: usize,
    /// Stores whose task waited already, and goes first now. The tasks of the others that are neither ran already, or
    /// waited with the same priority.
    pub raised: usize,
}

impl StoreBulkRequest {
    /// Returns the name of the group, for the actions that have one.
    pub fn check(&self) -> Result<Option<String>, BadField> {
        match (&self.filter, &self.ids) {
            (Some(_), Some(_)) => return Err(bad("ids", "give either ids or a filter")),
            (None, None) => return Err(bad("filter", "missing: name the stores by a filter, or by their ids")),
            (Some(StoreSelection { q: Some(text), .. }), None) if text.is_empty() => {
                return Err(bad("filter.q", "an empty text matches every store: leave it out"));
            }
            (None, Some(ids)) if !(1..=MAX_STORES).contains(&ids.len()) => {
                return Err(bad("ids", format!("{} ids; 1 to {MAX_STORES} are allowed", ids.len())));
            }
            _ => {}
        }
        let has_group = matches!(self.action, StoreAction::AddToGroup | StoreAction::RemoveFromGroup);
        match &self.group {
            Some(name) if has_group => store::group::name(name).map(Some).map_err(|fault| bad("group", fault)),
            None if has_group => Err(bad("group", format!("missing: {} needs one", self.action))),
            Some(_) => Err(bad("group", format!("leave it out: {} does not take it", self.action))),
            None => Ok(None),
        }
    }
}

impl From<StoreSelection> for StoreFilter {
    fn from(selection: StoreSelection) -> StoreFilter {
        let StoreSelection { state, platform, group, crawl_enabled, crawl_status, q } = selection;
        StoreFilter { state, platform, group, crawl_enabled, crawl_status, q, ..StoreFilter::default() }
    }
}
