//! `/api/stores/import`: adds stores, which are crawled from then on.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::access::{Changes, Operator};
use super::body::BatchBody;
use super::error::Problem;
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState};
use crate::store_draft::{StoreDraft, private_host};
use db::DbError;
use db::store_requests::{self, ImportedStores};
use db::stores::NewStore;
use domain::store::Platform;

/// Stores of one request.
pub const MAX_IMPORTED: usize = 1_000;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreImport {
    #[schema(min_items = 1, max_items = 1000)]
    pub stores: Vec<StoreFields>,
}

/// A store by what is known of it: at least one of the platform's id, the slug and the menu's URL.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreFields {
    #[schema(min_length = 1, max_length = 500)]
    pub name: String,
    /// `dutchie`, where it is not given.
    pub platform: Option<Platform>,
    /// The store's id at the platform.
    #[schema(max_length = 500)]
    pub platform_dispensary_id: Option<String>,
    /// The last part of its menu's URL.
    #[schema(max_length = 500)]
    pub slug: Option<String>,
    /// From which the platform's id is looked up.
    #[schema(max_length = 500)]
    pub menu_url: Option<String>,
    /// The host of its API, when it is not the platform's.
    pub api_host: Option<String>,
    /// The path of its API, when it is not the platform's.
    #[schema(max_length = 500)]
    pub api_path: Option<String>,
    #[schema(max_length = 500)]
    pub city: Option<String>,
    /// Two letters, such as `AZ`.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub state: Option<String>,
    /// An IANA timezone, such as `America/Phoenix`.
    #[schema(max_length = 500)]
    pub timezone: Option<String>,
    /// Names of letters, digits, hyphens and underscores.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub groups: Vec<String>,
}

/// Adds stores, and puts those that are known into the groups that are named beside them: all of them, or none.
#[utoipa::path(post, path = "/api/stores/import", tag = "stores", request_body = StoreImport,
               responses((status = 200, body = ImportedStores), (status = 409, response = Problem)))]
pub async fn import(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    _: Query<NoParameters>,
    BatchBody { value: StoreImport { stores }, .. }: BatchBody<StoreImport>,
) -> Result<Response, ApiError> {
    if !(1..=MAX_IMPORTED).contains(&stores.len()) {
        return Err(ApiError::bad("stores", format!("must hold 1 to {MAX_IMPORTED} stores")));
    }
    let stores = checked(stores, &api.allowed_hosts)?;
    let mut change = changes.begin(&api).await?;
    let answer = store_requests::import(&change, &stores).await.map_err(|error| match error {
        DbError::Contention(_) | DbError::Conflict { .. } => {
            ApiError::Conflict("another import or a discovery adds one of these stores now; try again".to_owned())
        }
        other => other.into(),
    })?;
    let (added, known) = (answer.imported.len(), answer.known.len());
    change.audit("stores.import", stores.len(), json!({"added": added, "known": known}));
    change.answer(StatusCode::OK, &answer).await
}

/// The stores, or every fault with its place.
fn checked(given: Vec<StoreFields>, allowed_hosts: &[String]) -> Result<Vec<NewStore>, ApiError> {
    let (mut stores, mut faults): (Vec<NewStore>, Vec<(String, String)>) = Default::default();
    for (n, fields) in given.into_iter().enumerate() {
        let store = StoreDraft::from(fields).check();
        let store = store.and_then(|store| match private_host(&store, allowed_hosts) {
            Some(fault) => Err(vec![fault]),
            None => Ok(store),
        });
        match store {
            Ok(store) => stores.push(store),
            Err(found) => faults.extend(found.into_iter().map(|fault| (format!("stores[{n}]"), fault))),
        }
    }
    if faults.is_empty() { Ok(stores) } else { Err(ApiError::BadFields(faults)) }
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

impl From<NewStore> for StoreFields {
    fn from(store: NewStore) -> Self {
        StoreFields {
            name: store.name,
            platform: Some(store.platform),
            platform_dispensary_id: store.platform_dispensary_id,
            slug: store.slug,
            menu_url: store.menu_url,
            api_host: store.api_host,
            api_path: store.api_path,
            city: store.city,
            state: store.state,
            timezone: store.timezone,
            groups: store.groups,
        }
    }
}
