//! `/api/payloads`: fetched payloads, their data, and the changes from one payload to another.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::stores::{StorePath, require_store};
use super::{ApiError, ApiState, Caller, IfNoneMatch, Listing, PageJson, Path, Query, Viewer};
use contract::limit::Limit;
use contract::payloads::{
    DataQuery, DiffQuery, OfStoreQuery, PayloadFilter, PayloadPage, PayloadView, PayloadWithData,
};
use contract::position::Position;
use contract::problem::Problem;
use db::{DbError, payloads};
use domain::menu::stock::PayloadPosition;
use domain::payload::PayloadId;
use domain::payload::diff::PayloadDiff;
use storage::{PayloadForm, SurroundingText};

/// A payload never changes.
const IMMUTABLE: &str = "private, max-age=31536000, immutable";

#[derive(Deserialize, IntoParams)]
pub struct PayloadPath {
    /// The payload's id
    id: PayloadId,
}

/// Lists payloads, the latest fetch first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/payloads", tag = "payloads", responses((status = 200, body = PayloadPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<PayloadFilter, Position<PayloadPosition>>,
) -> Result<PageJson<PayloadPage, String>, ApiError> {
    page(&api, PayloadFilter { after: cursor.map(|Position(after)| after), ..filter }, limit).await
}

/// Lists a store's payloads, the latest fetch first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/payloads/store/{id}", tag = "payloads", responses((status = 200, body = PayloadPage)))]
pub async fn of_store(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(StorePath { id }): Path<StorePath>,
    Listing { filter, limit, cursor }: Listing<OfStoreQuery, Position<PayloadPosition>>,
) -> Result<PageJson<PayloadPage, String>, ApiError> {
    let OfStoreQuery { from, to, sort } = filter;
    require_store(&api.db.api_client().await?, id).await?;
    let after = cursor.map(|Position(after)| after);
    page(&api, PayloadFilter { dispensary_id: Some(id), platform: None, from, to, sort, after }, limit).await
}

/// One payload.
#[utoipa::path(get, path = "/api/payloads/{id}", tag = "payloads", responses((status = 200, body = PayloadView)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(PayloadPath { id }): Path<PayloadPath>,
) -> Result<Json<PayloadView>, ApiError> {
    Ok(Json(find(&api, id).await?))
}

/// Content of a payload: the platform's answers in one JSON document.
#[utoipa::path(get, path = "/api/payloads/{id}/data", tag = "payloads",
               responses((status = 200, content((Object = "application/json"), (Vec<u8> = "application/gzip"))),
                         (status = 304, description = "Not modified"), (status = 410, response = Problem),
                         (status = 422, response = Problem)))]
pub async fn data(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(PayloadPath { id }): Path<PayloadPath>,
    Query(DataQuery { raw }): Query<DataQuery>,
    known: IfNoneMatch,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let payload = find(&api, id).await?;
    let form = form(raw, &headers);
    let tag = format!("\"{}-{}\"", payload.sha256, form.name());
    if known.holds(&tag) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let mut response = stream(&api, &payload, form, SurroundingText::default()).await?;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// A store's latest payload, with what it holds.
#[utoipa::path(get, path = "/api/payloads/store/{id}/latest", tag = "payloads",
               responses((status = 200, body = PayloadWithData), (status = 410, response = Problem),
                         (status = 422, response = Problem)))]
pub async fn latest(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(StorePath { id }): Path<StorePath>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let newest = payloads::latest(&api.db.api_client().await?, id).await?;
    let newest = newest.ok_or_else(|| ApiError::NotFound(format!("a payload of store {id}")))?;
    let payload = find(&api, newest.id).await?;
    let head = serde_json::to_string(&payload).map_err(ApiError::no_json)?;
    let around = SurroundingText { before: format!("{{\"payload\":{head},\"data\":"), after: "}".to_owned() };
    stream(&api, &payload, form(false, &headers), around).await
}

/// Changes from one payload of a store to another: products, prices, stock and options.
#[utoipa::path(get, path = "/api/payloads/store/{id}/diff", tag = "payloads",
               responses((status = 200, body = PayloadDiff), (status = 410, response = Problem),
                         (status = 422, response = Problem)))]
pub async fn diff(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(StorePath { id }): Path<StorePath>,
    Query(DiffQuery { from, to }): Query<DiffQuery>,
) -> Result<Json<PayloadDiff>, ApiError> {
    let (from, to) = payloads::views::to_compare(&api.db.api_client().await?, id, from, to).await?;
    let files = api.files.open(&api.db).await?;
    Ok(Json(files.diff(&from, &to, api.files.normalise).await?))
}

async fn page(api: &ApiState, filter: PayloadFilter, limit: Limit) -> Result<PageJson<PayloadPage, String>, ApiError> {
    let mut payloads = payloads::views::list(&api.db.api_client().await?, &filter, limit.with_next()).await?;
    let next = limit.next(&mut payloads, PayloadView::position);
    Ok(PageJson::of(next, |next_cursor| PayloadPage { payloads, next_cursor }))
}

async fn find(api: &ApiState, id: PayloadId) -> Result<PayloadView, ApiError> {
    let payload = payloads::views::get(&api.db.api_client().await?, id).await?;
    payload.ok_or_else(|| DbError::Missing(format!("payload {id}")).into())
}

fn form(raw: bool, headers: &HeaderMap) -> PayloadForm {
    match raw {
        true => PayloadForm::File,
        false if accepts_gzip(headers) => PayloadForm::Gzip,
        false => PayloadForm::Json,
    }
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = accepted.flat_map(|value| value.split(',')).map(|coding| coding.replace(' ', ""));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(";q=").unwrap_or((&coding, "1"));
        ["gzip", "x-gzip", "*"].contains(&name) && !quality.trim_matches(['0', '.']).is_empty()
    })
}

async fn stream(
    api: &ApiState,
    payload: &PayloadView,
    form: PayloadForm,
    around: SurroundingText,
) -> Result<Response, ApiError> {
    let files = api.files.open(&api.db).await?;
    let data = files.open(&payload.storage_path, &payload.sha256, form, around).await?;
    let media = if form == PayloadForm::File { "application/gzip" } else { "application/json" };
    let mut response =
        ([(header::CONTENT_TYPE, media), (header::VARY, "accept-encoding")], Body::from_stream(data.parts))
            .into_response();
    if form == PayloadForm::Gzip {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(bytes) = data.bytes {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(None, false)]
    #[case::gzip(Some("gzip"), true)]
    #[case::among_others(Some("br;q=1.0, gzip;q=0.8"), true)]
    #[case::any(Some("*"), true)]
    #[case::refused(Some("gzip;q=0"), false)]
    #[case::refused_at_length(Some("gzip; q=0.000, br"), false)]
    #[case::another(Some("br, identity"), false)]
    fn gzip_is_sent_to_those_who_take_it(#[case] header: Option<&'static str>, #[case] expected: bool) {
        let given = header.map(|value| (header::ACCEPT_ENCODING, HeaderValue::from_static(value)));
        assert_eq!(accepts_gzip(&given.into_iter().collect()), expected);
    }
}
