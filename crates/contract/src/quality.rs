//! Stores with faulty data.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::cursor::Cursor;
use domain::store::StoreId;
use domain::store::quality::QualityKind;
use domain::vocabulary::Word;

/// A fault in a store's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    pub id: i64,
    pub dispensary_id: StoreId,
    pub dispensary_name: String,
    #[schema(value_type = QualityKind)]
    pub kind: Word<QualityKind>,
    /// A sentence for people.
    pub detail: String,
    pub since: DateTime<Utc>,
    /// Time when the check last found it.
    pub seen_at: DateTime<Utc>,
}

/// Filter of findings; a field that is None does not filter.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FindingFilter {
    pub kind: Option<QualityKind>,
    /// The store's id.
    pub dispensary_id: Option<StoreId>,
    /// Ids below this one.
    #[serde(skip)]
    pub below: Option<i64>,
}

/// Stores by one kind of fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QualityCount {
    #[schema(value_type = QualityKind)]
    pub kind: Word<QualityKind>,
    pub stores: i64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct QualityPage {
    /// Number of stores by kind of fault.
    pub counts: Vec<QualityCount>,
    pub findings: Vec<Finding>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}
