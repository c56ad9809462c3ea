//! `/api/retailers`: stores of several platforms that are the same shop, proposals to join some, and what people decide.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, Body, Caller, Changes, Listing, NoParameters, Operator, PageJson, Path, Viewer};
use crate::stores::StorePath;
use contract::position::Position;
use contract::problem::Problem;
use contract::retailers::{
    DecidedRetailer, ImportedLicences, LicenceImport, Retailer, RetailerDecision, RetailerFilter, RetailerMatch,
    RetailerName, RetailerPage, RetailerProposalPage,
};
use db::retailers;
use db::retailers::RetailerError;
use domain::retailer::RetailerId;

#[derive(Deserialize, IntoParams)]
pub struct RetailerPath {
    /// The retailer's id
    id: RetailerId,
}

/// Lists retailers with their stores, by id. A store that is alone has no retailer.
#[utoipa::path(get, path = "/api/retailers", tag = "stores", responses((status = 200, body = RetailerPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<RetailerFilter, Position<RetailerId>>,
) -> Result<PageJson<RetailerPage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.map(|Position(id)| id);
    let mut retailers = retailers::list(&client, &filter, after, limit.with_next()).await?;
    let next = limit.next(&mut retailers, |last| last.id);
    Ok(PageJson::of(next, |next_cursor| RetailerPage { retailers, next_cursor }))
}

/// One retailer with its stores.
#[utoipa::path(get, path = "/api/retailers/{id}", tag = "stores", responses((status = 200, body = Retailer)))]
pub async fn show(
    caller: Caller<Viewer>,
    Path(RetailerPath { id }): Path<RetailerPath>,
) -> Result<Json<Retailer>, ApiError> {
    let retailer = retailers::get(&caller.client().await?, id).await?;
    retailer.map(Json).ok_or_else(|| RetailerError::Missing(id).into())
}

/// Gives a retailer another name.
#[utoipa::path(put, path = "/api/retailers/{id}", tag = "stores", responses((status = 200, body = Retailer)))]
pub async fn rename(
    changes: Changes<Operator>,
    Path(RetailerPath { id }): Path<RetailerPath>,
    Body(name): Body<RetailerName>,
) -> Result<Response, ApiError> {
    let name = name.check()?;
    let mut change = changes.begin().await?;
    retailers::rename(&change, id, name).await?;
    change.audit("retailers.rename", id, json!({ "name": name }));
    let retailer = retailers::get(&change, id).await?;
    change.answer(StatusCode::OK, &retailer.ok_or(RetailerError::Missing(id))?).await
}

/// Lists the pairs of stores that may be one retailer, the strongest first, with the evidence for and against it.
#[utoipa::path(get, path = "/api/retailer-proposals", tag = "stores",
               responses((status = 200, body = RetailerProposalPage)))]
pub async fn proposals(
    caller: Caller<Viewer>,
    Listing { limit, cursor, .. }: Listing<NoParameters, Position<i32>>,
) -> Result<PageJson<RetailerProposalPage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.map(|Position(rank)| rank);
    let mut proposals = retailers::proposals(&client, after, limit.with_next()).await?;
    let next = limit.next(&mut proposals, |last| last.rank);
    Ok(PageJson::of(next, |next_cursor| RetailerProposalPage { proposals, next_cursor }))
}

/// Says of two stores whether they are one retailer, whether that was proposed or not. Two that are have all stores of both their
/// retailers; two that are not stay apart in each later match.
#[utoipa::path(post, path = "/api/retailer-decisions", tag = "stores",
               responses((status = 200, body = DecidedRetailer), (status = 404, response = Problem),
                         (status = 409, response = Problem)))]
pub async fn decide(changes: Changes<Operator>, Body(decision): Body<RetailerDecision>) -> Result<Response, ApiError> {
    let pair = decision.check()?;
    let mut change = changes.begin().await?;
    let retailer = match decision.is_same {
        true => {
            let id = retailers::join(&change, pair).await?;
            retailers::get(&change, id).await?
        }
        false => {
            retailers::keep_apart(&change, pair).await?;
            None
        }
    };
    let target = format!("{} {}", pair[0], pair[1]);
    change.audit("retailers.decide", target, json!({ "is_same": decision.is_same }));
    change.answer(StatusCode::OK, &DecidedRetailer { retailer }).await
}

/// Takes a store out of its retailer. No later match joins it with the retailer's other stores.
#[utoipa::path(delete, path = "/api/stores/{id}/retailer", tag = "stores",
               responses((status = 204, description = "It has no retailer"), (status = 409, response = Problem)))]
pub async fn take_out(
    changes: Changes<Operator>,
    Path(StorePath { id }): Path<StorePath>,
) -> Result<StatusCode, ApiError> {
    let mut change = changes.begin().await?;
    let retailer = retailers::take_out(&change, id).await?;
    change.audit("retailers.take_out", id, json!({ "retailer": retailer }));
    change.no_content().await
}

/// Compares all stores: those that are surely one retailer are joined, and the others are proposed. Each refresh of the analytics does so,
/// too.
#[utoipa::path(post, path = "/api/retailers/match", tag = "stores", responses((status = 200, body = RetailerMatch)))]
pub async fn match_all(changes: Changes<Operator>) -> Result<Response, ApiError> {
    let mut change = changes.begin().await?;
    let matched = retailers::matching::match_stores(&change).await?;
    change.audit("retailers.match", "", json!(matched));
    change.answer(StatusCode::OK, &matched).await
}

/// Adds licences of a state's public register, or corrects them: the next match compares stores with them.
#[utoipa::path(post, path = "/api/licences/import", tag = "stores",
               responses((status = 200, body = ImportedLicences)))]
pub async fn import_licences(
    changes: Changes<Operator>,
    Body(import): Body<LicenceImport>,
) -> Result<Response, ApiError> {
    let (state, entries) = import.check()?;
    let mut change = changes.begin().await?;
    let imported = retailers::import_licences(&change, state, &entries).await?;
    change.audit("licences.import", state, json!(imported));
    change.answer(StatusCode::OK, &imported).await
}

impl From<RetailerError> for ApiError {
    fn from(error: RetailerError) -> Self {
        match error {
            RetailerError::Missing(id) => ApiError::NotFound(format!("retailer {id}")),
            RetailerError::MissingStore(id) => ApiError::NotFound(format!("store {id}")),
            RetailerError::NoRetailer(_) | RetailerError::Together { .. } => ApiError::Conflict(error.to_string()),
            RetailerError::Db(error) => error.into(),
        }
    }
}
