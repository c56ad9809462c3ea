//! `/api/stores`: stores with their crawl state, their changes, and what each sells now.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{
    Admin, ApiError, ApiState, Body, Caller, Change, Changes, Consumer, Listing, Operator, PageJson, Path, Query,
};
use crate::store_draft::checked_change;
use contract::position::Position;
use contract::problem::Problem;
use contract::products::{ProductCursor, ProductFilter, ProductList};
use contract::stores::{
    ChangedStore, DeletedStore, StoreChange, StoreCursor, StoreDeletion, StoreFilter, StorePage, StoreView,
};
use db::products::views::ProductPage;
use db::stores::requests::{Changed, StoreChangeError};
use db::stores::views::StoreViews;
use db::{Client, DbError, products, stores};
use domain::access::AccessRole;
use domain::store::StoreId;

#[derive(Deserialize, IntoParams)]
pub struct StorePath {
    /// The store's id
    pub id: StoreId,
}

/// Lists stores with their crawl state, and says how many match.
#[utoipa::path(get, path = "/api/stores", tag = "stores", responses((status = 200, body = StorePage)))]
pub async fn list(
    caller: Caller<Consumer>,
    Listing { filter, limit, cursor }: Listing<StoreFilter, Position<StoreCursor>>,
) -> Result<PageJson<StorePage, String>, ApiError> {
    let filter = StoreFilter { after: cursor.map(|Position(cursor)| cursor), ..filter };
    let client = caller.client().await?;
    let StoreViews { stores, total, next } = stores::views::list(&client, &filter, limit.rows()).await?;
    let stores = stores.into_iter().map(|store| shown_to(caller.principal.role, store)).collect();
    Ok(PageJson::of(next, |next_cursor| StorePage { stores, total, next_cursor }))
}

/// One store with its crawl state.
#[utoipa::path(get, path = "/api/stores/{id}", tag = "stores", responses((status = 200, body = StoreView)))]
pub async fn show(
    caller: Caller<Consumer>,
    Path(StorePath { id }): Path<StorePath>,
) -> Result<Json<StoreView>, ApiError> {
    let store = find(&caller.client().await?, id).await?;
    Ok(Json(shown_to(caller.principal.role, store)))
}

/// Changes a store: whether it is crawled, its name, its slug, its menu's URL, its id at the platform or its place. Its
/// open tasks for another address or id are cancelled, and the one that follows is queued.
#[utoipa::path(put, path = "/api/stores/{id}", tag = "stores",
               responses((status = 200, body = ChangedStore), (status = 409, response = Problem)))]
pub async fn set(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(StorePath { id }): Path<StorePath>,
    Body(wanted): Body<StoreChange>,
) -> Result<Response, ApiError> {
    let wanted = checked_change(wanted).map_err(ApiError::BadFields)?;
    let mut change = changes.begin().await?;
    let Changed { is_rewritten, notice } = stores::requests::change(&change, id, &wanted, &*api.menu_urls).await?;
    let store = find(&change, id).await?;
    change.audit("stores.set", id, json!({ "change": wanted, "changed": is_rewritten }));
    change.answer(StatusCode::OK, &ChangedStore { store, notice }).await
}

/// Accepts that a store sells nothing: the next crawl keeps its empty menu. The products that it had are sold out after three crawls.
#[utoipa::path(post, path = "/api/stores/{id}/accept-empty", tag = "stores",
               responses((status = 200, body = StoreView), (status = 409, response = Problem)))]
pub async fn accept_empty(
    changes: Changes<Operator>,
    Path(StorePath { id }): Path<StorePath>,
) -> Result<Response, ApiError> {
    let change = changes.begin().await?;
    let had_one = stores::accept_empty(&change, id).await?;
    let nothing = format!("the latest crawls of store {id} found no empty menu");
    accepted(change, id, "stores.accept_empty", had_one, &nothing).await
}

/// Accepts a mass change that was suspicious: the next discovery that closes the store along with most stores of its
/// state, or the next menu that puts most of its products out of stock, is believed.
#[utoipa::path(post, path = "/api/stores/{id}/accept", tag = "stores",
               responses((status = 200, body = StoreView), (status = 409, response = Problem)))]
pub async fn accept(changes: Changes<Operator>, Path(StorePath { id }): Path<StorePath>) -> Result<Response, ApiError> {
    let change = changes.begin().await?;
    let had_one = db::stores::switches::accept(&change, id).await?;
    accepted(change, id, "stores.accept", had_one, &format!("no answer about store {id} is suspicious")).await
}

/// `had_one`: the store had such an answer, which is accepted now; else `nothing` says what it lacks.
async fn accepted(
    mut change: Change,
    id: StoreId,
    action: &'static str,
    had_one: bool,
    nothing: &str,
) -> Result<Response, ApiError> {
    let store = find(&change, id).await?;
    if !had_one {
        return Err(ApiError::Conflict(format!("{nothing}: there is nothing to accept")));
    }
    change.audit(action, id, json!({}));
    change.answer(StatusCode::OK, &store).await
}

/// Deletes a store, with `with_products` also its products and payloads. Its open tasks are cancelled. To keep its products, disable it.
#[utoipa::path(delete, path = "/api/stores/{id}", tag = "stores",
               responses((status = 200, body = DeletedStore), (status = 409, response = Problem)))]
pub async fn remove(
    changes: Changes<Admin>,
    Path(StorePath { id }): Path<StorePath>,
    Query(StoreDeletion { with_products }): Query<StoreDeletion>,
) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let deleted = stores::requests::delete(&change, id, with_products).await?;
    change.audit("stores.delete", id, json!({ "name": deleted.name, "products": deleted.products }));
    change.answer(StatusCode::OK, &deleted).await
}

/// Lists what a store sells now.
#[utoipa::path(get, path = "/api/stores/{id}/products", tag = "stores", responses((status = 200, body = ProductList)))]
pub async fn products(
    caller: Caller<Consumer>,
    Path(StorePath { id }): Path<StorePath>,
    Listing { filter, limit, cursor }: Listing<ProductFilter, Position<ProductCursor>>,
) -> Result<PageJson<ProductList, String>, ApiError> {
    let filter = ProductFilter { after: cursor.map(|Position(cursor)| cursor), ..filter };
    let client = caller.client().await?;
    require_store(&client, id).await?;
    let ProductPage { products, next } = products::views::of_store(&client, id, &filter, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| ProductList { products, next_cursor }))
}

async fn find(client: &Client, id: StoreId) -> Result<StoreView, ApiError> {
    stores::views::get(client, id).await?.ok_or_else(|| ApiError::NotFound(format!("store {id}")))
}

/// A public price site learns nothing of how stores are crawled.
fn shown_to(role: AccessRole, store: StoreView) -> StoreView {
    match role {
        AccessRole::Consumer => StoreView {
            platform_dispensary_id: None,
            email: None,
            former_menus: Vec::new(),
            groups: Vec::new(),
            disabled_reason: None,
            empty_menus: 0,
            suspicious: Vec::new(),
            lookup_task_id: None,
            lookup_error: None,
            lookup_next_at: None,
            last_payload_id: None,
            last_coverage: None,
            ..store
        },
        _ => store,
    }
}

pub async fn require_store(client: &Client, id: StoreId) -> Result<(), ApiError> {
    match stores::get(client, id).await? {
        Some(_) => Ok(()),
        None => Err(ApiError::NotFound(format!("store {id}"))),
    }
}

impl From<StoreChangeError> for ApiError {
    fn from(error: StoreChangeError) -> Self {
        match error {
            StoreChangeError::Db(DbError::Conflict { .. }) => {
                ApiError::Conflict("another request or a discovery adds a store with this id now; try again".to_owned())
            }
            StoreChangeError::Db(error) => error.into(),
            StoreChangeError::MenuUrl(fault) => ApiError::bad("menu_url", fault),
            refused => ApiError::Conflict(refused.to_string()),
        }
    }
}
