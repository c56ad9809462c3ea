//! `/api/quality`: stores whose data is not what it should be.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Viewer};
use super::cursor::Cursor;
use super::page::{Limit, Page, PageJson};
use super::query::Query;
use super::{ApiError, ApiState};
use crate::db::quality::{self, Finding, FindingFilter, QualityCount};
use crate::domain::quality::QualityKind;
use crate::domain::store::StoreId;

/// Which findings to list; a parameter that is absent filters nothing.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct QualityQuery {
    kind: Option<QualityKind>,
    /// The store's id.
    dispensary_id: Option<StoreId>,
    #[serde(default)]
    #[param(inline)]
    limit: Limit,
    #[param(inline)]
    cursor: Option<Cursor>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct QualityPage {
    /// Stores by kind, all of them.
    pub counts: Vec<QualityCount>,
    pub findings: Vec<Finding>,
    /// For the next page; null on the last.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

/// Lists stores whose data is not what it should be, those that were found last first. Looked at once a minute.
#[utoipa::path(get, path = "/api/quality", tag = "stores", params(QualityQuery), responses((status = 200, body = QualityPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(QualityQuery { kind, dispensary_id, limit, cursor }): Query<QualityQuery>,
) -> Result<PageJson<QualityPage>, ApiError> {
    let filter = FindingFilter { kind, store: dispensary_id, below: cursor.map(|Cursor(id)| id) };
    let client = api.db.api_client().await?;
    let counts = quality::counts(&client).await?;
    let page = Page::of(quality::list(&client, filter, limit.with_next()).await?, limit, |finding| finding.id);
    Ok(page.json(|findings, next_cursor| QualityPage { counts, findings, next_cursor }))
}
