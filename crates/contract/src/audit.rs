//! Changes by request with their callers, and their filters.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::age_sort::AgeSort;
use super::cursor::Cursor;
use domain::access::TokenId;
use domain::span;

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    pub id: i64,
    pub at: DateTime<Utc>,
    /// The token's name; `local` without one, `command line` for a command on the database itself.
    pub who: String,
    pub token_id: Option<TokenId>,
    pub address: Option<String>,
    /// Same id as in the answer's `X-Request-Id` and in the log.
    pub request_id: String,
    /// The resource and the action, such as `tasks.create`.
    pub action: String,
    /// The resource's id or name.
    pub target: String,
    pub detail: Value,
}

/// Filter of audit rows; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditFilter {
    /// A token's name, `local` or `command line`.
    pub who: Option<String>,
    /// The resource and the action, such as `tasks.create`.
    pub action: Option<String>,
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// End of the time range, exclusive.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    #[param(inline)]
    pub sort: AgeSort,
    /// The last row of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<i64>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    pub audit: Vec<AuditRow>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}
