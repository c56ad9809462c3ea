//! `/api/audit`: who changed what by request.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Viewer};
use super::cursor::Cursor;
use super::page::{Limit, Page, PageJson};
use super::query::{self, Query};
use super::{ApiError, ApiState};
use crate::db::audit_log::{self, AuditFilter, AuditRow};

/// Which rows to list; a parameter that is absent filters nothing.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// A token's name, `local` or `command line`.
    who: Option<String>,
    /// The resource and what was done with it, such as `tasks.create`.
    action: Option<String>,
    #[serde(default, deserialize_with = "query::beginning")]
    #[param(schema_with = query::time_or_day)]
    from: Option<DateTime<Utc>>,
    /// Before this time.
    #[serde(default, deserialize_with = "query::end")]
    #[param(schema_with = query::time_or_day)]
    to: Option<DateTime<Utc>>,
    #[serde(default)]
    #[param(inline)]
    limit: Limit,
    #[param(inline)]
    cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct AuditPage {
    pub audit: Vec<AuditRow>,
    /// For the next page; null on the last.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

/// Lists who changed what, newest first.
#[utoipa::path(get, path = "/api/audit", tag = "access", params(ListQuery), responses((status = 200, body = AuditPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(ListQuery { who, action, from, to, limit, cursor }): Query<ListQuery>,
) -> Result<PageJson<AuditPage>, ApiError> {
    let client = api.db.api_client().await?;
    let filter = AuditFilter { who, action, from, to, below: cursor.map(|Cursor(id)| id) };
    let page = Page::of(audit_log::list(&client, &filter, limit.with_next()).await?, limit, |row| row.id);
    Ok(page.json(|audit, next_cursor| AuditPage { audit, next_cursor }))
}
