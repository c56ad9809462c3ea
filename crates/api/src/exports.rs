//! `/api/export/{dataset}`: whole tables as files, streamed.
//!
//! The first rows are read before the answer begins: so a database that is not there is a 503, not a broken file. Afterwards
//! a fault ends the answer without its last piece, so that no client takes a part of a file for the whole.

mod pieces;
mod run;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, TRAILER};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::IntoParams;

use super::stores::require_store;
use super::{ApiError, ApiState, Caller, MAX_EXPORTS, Path, Query, Viewer};
use contract::exports::{Dataset, ExportQuery, ROWS_TRAILER};
use contract::problem::Problem;
use db::products::search;
use domain::vocabulary;
use export::{Encoder, ExportError};
use run::Export;

#[derive(Deserialize, IntoParams)]
pub struct DatasetPath {
    /// Content of the file
    #[param(inline, value_type = Dataset)]
    dataset: String,
}

/// A dataset as a file of CSV, JSON lines or Parquet, in the order of stores, products, options and times.
///
/// Prices are cents, prices by unit millicents, and times UTC. A filter that the dataset does not have is refused. The trailer
/// `x-drover-rows` has the number of rows. An answer that breaks off is not a whole file.
#[utoipa::path(get, path = "/api/export/{dataset}", tag = "products",
               responses((status = 200, content((String = "text/csv"), (String = "application/x-ndjson"),
                                                (Vec<u8> = "application/vnd.apache.parquet"))),
                         (status = 503, response = Problem)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(DatasetPath { dataset }): Path<DatasetPath>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let dataset = named(&dataset)?;
    query.check(dataset)?;
    let format = query.format.unwrap_or_default();
    let columns = query.columns_of(dataset)?;
    let encoder = Encoder::new(format, &columns)?;
    let busy = || ApiError::Busy(format!("{MAX_EXPORTS} exports run already: try again when one has ended"));
    let place = api.exports.clone().try_acquire_owned().map_err(|_| busy())?;
    check_in_database(&api, dataset, &query).await?;
    let pieces = Export::new(api, dataset, query, columns, encoder).begin(place).await?;
    let file = format!("attachment; filename=\"{dataset}.{}\"", format.extension());
    let head = [(CONTENT_TYPE, format.content_type()), (CONTENT_DISPOSITION, file.as_str()), (TRAILER, ROWS_TRAILER)];
    Ok((head, Body::new(pieces)).into_response())
}

/// Checks that need the database: whether the store exists, and whether the search finds all products that have the words.
async fn check_in_database(api: &ApiState, dataset: Dataset, query: &ExportQuery) -> Result<(), ApiError> {
    if let Some(store) = query.store {
        require_store(&api.db.api_client().await?, store).await?;
    }
    let Some(question) = query.search().filter(|_| dataset == Dataset::Products) else { return Ok(()) };
    match search::search(&api.db.api_client().await?, &question, 1).await?.truncated {
        true => {
            Err(ApiError::bad("q", "too many products have these words: add a word, a store, a state or a category"))
        }
        false => Ok(()),
    }
}

fn named(dataset: &str) -> Result<Dataset, ApiError> {
    vocabulary::find(dataset).ok_or_else(|| {
        let known = vocabulary::words::<Dataset>();
        ApiError::bad("dataset", format!("unknown dataset '{dataset}': the datasets are {known}"))
    })
}

impl From<ExportError> for ApiError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::NoParquet => ApiError::bad("format", error),
            other => ApiError::Internal(other.to_string()),
        }
    }
}
