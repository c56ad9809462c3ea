//! Payloads and their filters.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::age_sort::AgeSort;
use domain::menu::stock::PayloadPosition;
use domain::payload::PayloadId;
use domain::span;
use domain::store::{Platform, StoreId};
use domain::task::TaskId;
use domain::vocabulary::Word;

/// Filter of payloads; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PayloadFilter {
    pub dispensary_id: Option<StoreId>,
    pub platform: Option<Platform>,
    /// Fetched then or later.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Fetched before.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Order by the time of the fetch.
    #[param(inline)]
    pub sort: AgeSort,
    /// The last one of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<PayloadPosition>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PayloadView {
    pub id: PayloadId,
    pub task_id: Option<TaskId>,
    pub dispensary_id: StoreId,
    pub dispensary_name: Option<String>,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub storage_path: String,
    pub sha256: String,
    /// Size of the file.
    pub bytes: i64,
    pub product_count: i32,
    pub total_count: i32,
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}

/// Filter of a store's payloads.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OfStoreQuery {
    #[serde(default, deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Order by the time of the fetch.
    #[serde(default)]
    #[param(inline)]
    pub sort: AgeSort,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DataQuery {
    /// The file as it is kept: gzip, in several members.
    #[serde(default)]
    pub raw: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DiffQuery {
    /// A payload of the store; by default the one before `to`.
    pub from: Option<PayloadId>,
    /// A payload of the store; by default its latest.
    pub to: Option<PayloadId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PayloadPage {
    pub payloads: Vec<PayloadView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A payload and what it holds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PayloadWithData {
    pub payload: PayloadView,
    #[schema(value_type = Object)]
    pub data: serde_json::Value,
}

impl PayloadView {
    /// Beginning of the next page.
    pub fn position(&self) -> PayloadPosition {
        PayloadPosition { fetched_at: self.fetched_at, id: self.id }
    }
}
