//! `/api/proxies`: the table of proxies, and imports into it. Passwords come in and never go out, not even in
//! an error.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::access::{Admin, Caller, Changes, Viewer};
use super::body::Body;
use super::cursor::Cursor;
use super::error::Problem;
use super::listing::Listing;
use super::page::{Page, PageJson};
use super::path::Path;
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState, geo};
use crate::proxy_draft::{self, ProxyDraft};
use db::proxies::{self, ImportCounts, ProxyFilter, ProxyListing};
use db::proxy_requests::{self, Added, ProxyChange};
use domain::proxy::{ProxyEntry, ProxyId, ProxyProtocol};

const MAX_IMPORTED: usize = 1_000;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProxyPage {
    pub proxies: Vec<ProxyListing>,
    /// For the next page; null on the last.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

#[derive(Deserialize)]
pub struct ProxyPath {
    pub(super) id: ProxyId,
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProxy {
    /// `http`, where it is not given.
    pub protocol: Option<ProxyProtocol>,
    #[schema(min_length = 1, max_length = 253)]
    pub host: String,
    #[schema(minimum = 1, maximum = 65535)]
    pub port: u16,
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub username: Option<String>,
    #[serde(default, deserialize_with = "secret")]
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", write_only)]
    pub password: Option<String>,
    /// A US state, such as `AZ`.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub state_code: Option<String>,
    /// An IANA timezone, such as `America/Phoenix`.
    #[schema(max_length = 64, pattern = "^[A-Za-z0-9/_+-]*$")]
    pub timezone: Option<String>,
}

/// What to change; a field that is absent or null stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangedProxy {
    /// Switches it on or off; either way its cooldown is over.
    is_active: Option<bool>,
    #[serde(default, deserialize_with = "secret")]
    #[schema(max_length = 255, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", write_only)]
    password: Option<String>,
    /// Empty removes it.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    state_code: Option<String>,
    /// Empty removes it.
    #[schema(max_length = 64, pattern = "^[A-Za-z0-9/_+-]*$")]
    timezone: Option<String>,
}

/// A proxy by its fields, or as a text: `host:port`, `host:port:user:password` or a URL.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ImportedProxy {
    Text(String),
    Fields(NewProxy),
}

#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProxyImport {
    #[schema(min_items = 1, max_items = 1000)]
    pub proxies: Vec<ImportedProxy>,
}

/// What became of an import.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    #[serde(flatten)]
    pub counts: ImportCounts,
    /// Those without a state that got the one in which their address is.
    pub located: usize,
}

/// Lists the proxies, with how each has behaved.
#[utoipa::path(get, path = "/api/proxies", tag = "proxies", params(Listing<ProxyFilter>), responses((status = 200, body = ProxyPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<ProxyFilter>,
) -> Result<PageJson<ProxyPage>, ApiError> {
    let filter = ProxyFilter { above: cursor.map(|Cursor(id)| id), ..filter };
    let client = api.db.api_client().await?;
    let page = Page::of(proxies::list(&client, &filter, api.budgets, limit.with_next()).await?, limit, |p| p.id);
    Ok(page.json(|proxies, next_cursor| ProxyPage { proxies, next_cursor }))
}

/// Shows one proxy.
#[utoipa::path(get, path = "/api/proxies/{id}", tag = "proxies", params(("id" = i64, Path, description = "The proxy's id")),
               responses((status = 200, body = ProxyListing), (status = 404, response = Problem)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
    _: Query<NoParameters>,
) -> Result<Json<ProxyListing>, ApiError> {
    Ok(Json(proxies::get(&api.db.api_client().await?, id, api.budgets).await?))
}

/// Adds a proxy.
#[utoipa::path(post, path = "/api/proxies", tag = "proxies", request_body = NewProxy,
               responses((status = 201, body = ProxyListing), (status = 409, response = Problem)))]
pub async fn create(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    _: Query<NoParameters>,
    Body(new): Body<NewProxy>,
) -> Result<Response, ApiError> {
    let mut entry = new.check().map_err(|faults| ApiError::bad("proxy", faults.join("; ")))?;
    geo::locate(&api.geo, std::slice::from_mut(&mut entry)).await;
    let mut change = changes.begin(&api).await?;
    match proxy_requests::add(&change, &entry, &api.keys, api.budgets).await? {
        Added::Known(id) => Err(ApiError::Conflict(format!("proxy {id} has this address and user already"))),
        Added::New(proxy) => {
            change.audit("proxies.create", proxy.id, json!({"host": proxy.host, "port": proxy.port}));
            change.created(format!("/api/proxies/{}", proxy.id), &*proxy).await
        }
    }
}

/// Changes a proxy's password, place or switch.
#[utoipa::path(put, path = "/api/proxies/{id}", tag = "proxies", params(("id" = i64, Path, description = "The proxy's id")),
               request_body = Option<ChangedProxy>,
               responses((status = 200, body = ProxyListing), (status = 404, response = Problem)))]
pub async fn update(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
    _: Query<NoParameters>,
    Body(ChangedProxy { is_active, password, state_code, timezone }): Body<ChangedProxy>,
) -> Result<Response, ApiError> {
    let state_code = state_code.map(|code| code.to_ascii_uppercase());
    check("password", password.as_deref(), proxy_draft::check_password)?;
    check("state_code", state_code.as_deref(), proxy_draft::check_state)?;
    check("timezone", timezone.as_deref(), proxy_draft::check_timezone)?;
    let detail =
        json!({"is_active": is_active, "password": password.is_some(), "state_code": state_code, "timezone": timezone});
    let wanted = ProxyChange { is_active, password, state_code, timezone };
    let mut change = changes.begin(&api).await?;
    let changed = proxy_requests::change(&change, id, &wanted, &api.keys, api.budgets).await?;
    change.audit("proxies.update", id, detail);
    change.answer(StatusCode::OK, &changed).await
}

/// Removes a proxy. To keep it unused, switch it off instead.
#[utoipa::path(delete, path = "/api/proxies/{id}", tag = "proxies", params(("id" = i64, Path, description = "The proxy's id")),
               responses((status = 204, description = "Removed"), (status = 404, response = Problem)))]
pub async fn remove(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Path(ProxyPath { id }): Path<ProxyPath>,
    _: Query<NoParameters>,
) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin(&api).await?;
    proxy_requests::remove(&change, id).await?;
    change.audit("proxies.delete", id, json!({}));
    change.no_content().await
}

/// Adds proxies, and changes the password and place of those that are there: all of them, or none.
#[utoipa::path(post, path = "/api/proxies/import", tag = "proxies", request_body = ProxyImport,
               responses((status = 200, body = Imported)))]
pub async fn import(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    _: Query<NoParameters>,
    Body(ProxyImport { proxies: given }): Body<ProxyImport>,
) -> Result<Response, ApiError> {
    if !(1..=MAX_IMPORTED).contains(&given.len()) {
        return Err(ApiError::bad("proxies", format!("must hold 1 to {MAX_IMPORTED} proxies")));
    }
    let mut entries = checked(given)?;
    let located = geo::locate(&api.geo, &mut entries).await;
    let mut change = changes.begin(&api).await?;
    let counts = proxies::import_into(&change, &entries, &api.keys).await?;
    change.audit("proxies.import", entries.len(), json!(counts));
    change.answer(StatusCode::OK, &Imported { counts, located }).await
}

/// The entries, or every fault with its place.
fn checked(given: Vec<ImportedProxy>) -> Result<Vec<ProxyEntry>, ApiError> {
    let (mut entries, mut faults): (Vec<ProxyEntry>, Vec<(String, String)>) = Default::default();
    let mut first_places = std::collections::HashMap::new();
    for (n, proxy) in given.into_iter().enumerate() {
        let place = format!("proxies[{n}]");
        match proxy.check() {
            Err(found) => faults.extend(found.into_iter().map(|fault| (place.clone(), fault))),
            Ok(entry) => {
                let key = (entry.protocol, entry.host.clone(), entry.port, entry.username.clone());
                match first_places.insert(key, n) {
                    Some(first) => faults.push((place, format!("is the same proxy as proxies[{first}]"))),
                    None => entries.push(entry),
                }
            }
        }
    }
    if faults.is_empty() { Ok(entries) } else { Err(ApiError::BadFields(faults)) }
}

impl ImportedProxy {
    fn check(self) -> Result<ProxyEntry, Vec<String>> {
        match self {
            ImportedProxy::Text(text) => ProxyDraft::from_text(text.trim()).map_err(|fault| vec![fault])?.check(),
            ImportedProxy::Fields(fields) => fields.check(),
        }
    }
}

impl NewProxy {
    fn check(self) -> Result<ProxyEntry, Vec<String>> {
        let draft = ProxyDraft {
            protocol: self.protocol.map(|protocol| protocol.name().to_owned()).unwrap_or_default(),
            host: self.host,
            port: self.port.to_string(),
            username: self.username.unwrap_or_default(),
            password: self.password.unwrap_or_default(),
            state_code: self.state_code.unwrap_or_default(),
            timezone: self.timezone.unwrap_or_default(),
        };
        draft.check()
    }
}

impl From<ProxyEntry> for NewProxy {
    fn from(entry: ProxyEntry) -> Self {
        let ProxyEntry { protocol, host, port, username, password, state_code, timezone } = entry;
        NewProxy { protocol: Some(protocol), host, port, username, password, state_code, timezone }
    }
}

fn check(field: &str, given: Option<&str>, rule: impl Fn(&str) -> Result<(), String>) -> Result<(), ApiError> {
    given.map_or(Ok(()), rule).map_err(|fault| ApiError::bad(field, fault))
}

/// A text that no error repeats.
fn secret<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Option::<String>::deserialize(input).map_err(|_| D::Error::custom("expected a text"))
}
