//! `/api/stores/import`: adds stores, which are crawled from then on.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::batch::checked;
use super::{ApiError, ApiState, BatchBody, Changes, Operator};
use crate::store_draft::{StoreDraft, bad_host};
use contract::problem::Problem;
use contract::stores::{ImportedStores, MAX_IMPORTED, StoreFields, StoreImport};
use db::{DbError, stores};
use domain::store::NewStore;

/// Adds stores, and adds known stores to the groups that are named beside them: all of them, or none.
#[utoipa::path(post, path = "/api/stores/import", tag = "stores",
               responses((status = 200, body = ImportedStores), (status = 409, response = Problem)))]
pub async fn import(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    BatchBody { value: StoreImport { stores, dry_run }, .. }: BatchBody<StoreImport>,
) -> Result<Response, ApiError> {
    if !(1..=MAX_IMPORTED).contains(&stores.len()) {
        return Err(ApiError::bad("stores", format!("must hold 1 to {MAX_IMPORTED} stores")));
    }
    let stores = checked("stores", stores, |_, store| imported(store, &api))?;
    if dry_run {
        return Ok(Json(ImportedStores::default()).into_response());
    }
    let mut change = changes.begin().await?;
    let key = |platform, menu_url: &str| api.menu_urls.key(platform, menu_url);
    let answer = stores::requests::import(&change, &stores, &key).await.map_err(|error| match error {
        DbError::Contention(_) | DbError::Conflict { .. } => {
            ApiError::Conflict("another import or a discovery adds one of these stores now; try again".to_owned())
        }
        other => other.into(),
    })?;
    let (added, known) = (answer.imported.len(), answer.known.len());
    change.audit("stores.import", stores.len(), json!({"added": added, "known": known}));
    change.answer(StatusCode::OK, &answer).await
}

fn imported(fields: StoreFields, api: &ApiState) -> Result<NewStore, Vec<String>> {
    let store = StoreDraft::from(fields).check(&*api.menu_urls)?;
    match bad_host(&store, &api.allowed_hosts, &*api.menu_urls) {
        Some(fault) => Err(vec![fault]),
        None => Ok(store),
    }
}

impl From<StoreFields> for StoreDraft {
    fn from(fields: StoreFields) -> Self {
        StoreDraft {
            name: fields.name,
            platform: fields.platform.map(|platform| platform.name().to_owned()).unwrap_or_default(),
            platform_dispensary_id: fields.platform_dispensary_id,
            slug: fields.slug,
            menu_url: fields.menu_url,
            api_host: fields.api_host,
            api_path: fields.api_path,
            city: fields.city,
            state: fields.state,
            timezone: fields.timezone,
            groups: Some(fields.groups.join(";")),
        }
    }
}
