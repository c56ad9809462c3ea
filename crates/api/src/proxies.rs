//! `/api/proxies`: the table of proxies, and imports into it. Passwords come in and never go out, not even in
//! an error.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::batch::checked;
use super::{Admin, ApiError, ApiState, Body, Caller, Changes, Listing, Page, PageJson, Path, Viewer, geo};
use crate::proxy_draft::{self, ProxyDraft};
use contract::cursor::Cursor;
use contract::problem::Problem;
use contract::proxies::{
    ChangedProxy, Imported, ImportedProxy, NewProxy, ProxyFilter, ProxyImport, ProxyListing, ProxyPage,
};
use db::proxies;
use db::proxies::requests::{AddResult, ProxyChange};
use domain::proxy::{ProxyEntry, ProxyId, address};

const MAX_IMPORTED: usize = 1_000;

#[derive(Deserialize, IntoParams)]
pub struct ProxyPath {
    /// The proxy's id
    pub(super) id: ProxyId,
}

/// Lists the proxies, with how each has behaved.
#[utoipa::path(get, path = "/api/proxies", tag = "proxies", responses((status = 200, body = ProxyPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<ProxyFilter>,
) -> Result<PageJson<ProxyPage>, ApiError> {
    let filter = ProxyFilter { above: cursor.map(|Cursor(id)| id), ..filter };
    let client = api.db.api_client().await?;
    let budgets = api.budgets();
    let page = Page::of(proxies::list(&client, &filter, budgets, limit.with_next()).await?, limit, |p| p.id);
    let resting = proxies::resting(&client, budgets).await?;
    Ok(page.json(|proxies, next_cursor| ProxyPage { proxies, resting, next_cursor }))
}

/// Shows one proxy.
#[utoipa::path(get, path = "/api/proxies/{id}", tag = "proxies", responses((status = 200, body = ProxyListing)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
) -> Result<Json<ProxyListing>, ApiError> {
    Ok(Json(proxies::get(&api.db.api_client().await?, id, api.budgets()).await?))
}

/// Adds a proxy.
#[utoipa::path(post, path = "/api/proxies", tag = "proxies",
               responses((status = 201, body = ProxyListing), (status = 409, response = Problem)))]
pub async fn create(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Body(new): Body<NewProxy>,
) -> Result<Response, ApiError> {
    let mut entry = entry_of(new).map_err(|faults| ApiError::bad("proxy", faults.join("; ")))?;
    geo::locate(&api.geo, std::slice::from_mut(&mut entry)).await;
    let mut change = changes.begin().await?;
    match proxies::requests::add(&change, &entry, &api.keys, api.budgets()).await? {
        AddResult::Known(id) => Err(ApiError::Conflict(format!("proxy {id} has this address and user already"))),
        AddResult::New(proxy) => {
            change.audit("proxies.create", proxy.id, json!({"address": address_of(&proxy)}));
            change.created(format!("/api/proxies/{}", proxy.id), &*proxy).await
        }
    }
}

/// Changes a proxy's password, place or switch.
#[utoipa::path(put, path = "/api/proxies/{id}", tag = "proxies", responses((status = 200, body = ProxyListing)))]
pub async fn update(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
    Body(ChangedProxy { is_active, password, state_code, timezone }): Body<ChangedProxy>,
) -> Result<Response, ApiError> {
    let state_code = state_code.map(|code| code.to_ascii_uppercase());
    check("password", password.as_deref(), proxy_draft::check_password)?;
    check("state_code", state_code.as_deref(), proxy_draft::check_state)?;
    check("timezone", timezone.as_deref(), proxy_draft::check_timezone)?;
    let detail =
        json!({"is_active": is_active, "password": password.is_some(), "state_code": state_code, "timezone": timezone});
    let wanted = ProxyChange { is_active, password, state_code, timezone };
    let mut change = changes.begin().await?;
    let changed = proxies::requests::change(&change, id, &wanted, &api.keys, api.budgets()).await?;
    change.audit("proxies.update", id, json!({"address": address_of(&changed), "change": detail}));
    change.answer(StatusCode::OK, &changed).await
}

/// Removes a proxy. To keep it unused, switch it off instead.
#[utoipa::path(delete, path = "/api/proxies/{id}", tag = "proxies", responses((status = 204, description = "Removed")))]
pub async fn remove(changes: Changes<Admin>, Path(ProxyPath { id }): Path<ProxyPath>) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    let removed = proxies::requests::remove(&change, id).await?;
    change.audit("proxies.delete", id, json!({"address": address_of(&removed)}));
    change.no_content().await
}

/// Adds proxies, and changes the password and place of known ones: all of them, or none.
#[utoipa::path(post, path = "/api/proxies/import", tag = "proxies", responses((status = 200, body = Imported)))]
pub async fn import(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Body(ProxyImport { proxies: given, dry_run }): Body<ProxyImport>,
) -> Result<Response, ApiError> {
    if !(1..=MAX_IMPORTED).contains(&given.len()) {
        return Err(ApiError::bad("proxies", format!("must hold 1 to {MAX_IMPORTED} proxies")));
    }
    let mut entries = entries(given)?;
    if dry_run {
        return Ok(Json(Imported::default()).into_response());
    }
    let located = geo::locate(&api.geo, &mut entries).await;
    let mut change = changes.begin().await?;
    let counts = proxies::import_into(&change, &entries, &api.keys).await?;
    change.audit("proxies.import", entries.len(), json!(counts));
    change.answer(StatusCode::OK, &Imported { counts, located }).await
}

/// Address by which people know the proxy: an id says nothing once the proxy is removed.
fn address_of(proxy: &ProxyListing) -> String {
    address(&proxy.protocol, &proxy.host, proxy.port)
}

/// The entries, each of another proxy, or every fault with its place.
fn entries(given: Vec<ImportedProxy>) -> Result<Vec<ProxyEntry>, ApiError> {
    let mut first_places = std::collections::HashMap::new();
    checked("proxies", given, |n, proxy| {
        let entry = imported(proxy)?;
        let key = (entry.protocol, entry.host.clone(), entry.port, entry.username.clone());
        match first_places.insert(key, n) {
            Some(first) => Err(vec![format!("is the same proxy as proxies[{first}]")]),
            None => Ok(entry),
        }
    })
}

fn imported(proxy: ImportedProxy) -> Result<ProxyEntry, Vec<String>> {
    match proxy {
        ImportedProxy::Text(text) => ProxyDraft::from_text(text.trim()).map_err(|fault| vec![fault])?.check(),
        ImportedProxy::Fields(fields) => entry_of(fields),
    }
}

/// The entry, or everything that is wrong with it.
fn entry_of(new: NewProxy) -> Result<ProxyEntry, Vec<String>> {
    let draft = ProxyDraft {
        protocol: new.protocol.map(|protocol| protocol.name().to_owned()).unwrap_or_default(),
        host: new.host,
        port: new.port.to_string(),
        username: new.username.unwrap_or_default(),
        password: new.password.unwrap_or_default(),
        state_code: new.state_code.unwrap_or_default(),
        timezone: new.timezone.unwrap_or_default(),
    };
    draft.check()
}

fn check(field: &str, given: Option<&str>, rule: impl Fn(&str) -> Result<(), String>) -> Result<(), ApiError> {
    given.map_or(Ok(()), rule).map_err(|fault| ApiError::bad(field, fault))
}
