//! `/api/products`: finds products in all stores, shows one with its options, and what it cost over time.

use axum::Json;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ApiError, Caller, Consumer, Listing, PageJson, Path, Query};
use contract::checks::at_least_0;
use contract::position::Position;
use contract::products::{
    FoundPage, HistoryQuery, OptionHistory, ProductDetail, ProductHistory, ProductQuestion, SearchCursor, SearchSort,
};
use db::products::series::{OptionKey, SeriesRange};
use db::{products, schema};
use domain::menu::product::ProductId;

const DEFAULT_POINTS: usize = 500;
/// How far a history goes back that is asked for without a beginning.
const DEFAULT_DAYS: i64 = 90;

#[derive(Deserialize, IntoParams)]
pub struct ProductPath {
    /// The product's id
    pub id: ProductId,
}

/// Finds products of all stores, by words of their names and brands or by filters alone.
#[utoipa::path(get, path = "/api/products/search", tag = "products", responses((status = 200, body = FoundPage)))]
pub async fn search(
    caller: Caller<Consumer>,
    Listing { filter, limit, cursor }: Listing<ProductQuestion, Position<SearchCursor>>,
) -> Result<PageJson<FoundPage, String>, ApiError> {
    if filter.q.is_none() && filter.sort == Some(SearchSort::Relevance) {
        return Err(ApiError::bad("sort", "relevance needs q, the words to look for"));
    }
    at_least_0("max_unit_price", filter.max_unit_price)?;
    let question = ProductQuestion { after: cursor.map(|Position(cursor)| cursor), ..filter };
    let found = products::search::search(&caller.client().await?, &question, limit.rows()).await?;
    Ok(PageJson::of(found.next, |next_cursor| FoundPage {
        products: found.products,
        next_cursor,
        r#match: found.by,
        forgives_spelling: found.forgives_spelling,
        truncated: found.truncated,
        stores_waiting: found.stores_waiting,
    }))
}

/// One product with its specials, attributes and options.
#[utoipa::path(get, path = "/api/products/{id}", tag = "products", responses((status = 200, body = ProductDetail)))]
pub async fn show(
    caller: Caller<Consumer>,
    Path(ProductPath { id }): Path<ProductPath>,
) -> Result<Json<ProductDetail>, ApiError> {
    let product = products::views::detail(&caller.client().await?, id).await?;
    product.map(Json).ok_or_else(|| ApiError::NotFound(format!("product {id}")))
}

/// A product's price and stock over time, and those of one of its options.
#[utoipa::path(get, path = "/api/products/{id}/history", tag = "products",
               responses((status = 200, body = ProductHistory)))]
pub async fn history(
    caller: Caller<Consumer>,
    Path(ProductPath { id }): Path<ProductPath>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<ProductHistory>, ApiError> {
    let nth = i16::try_from(query.nth).ok().filter(|nth| *nth >= 0);
    let nth = nth.ok_or_else(|| ApiError::bad("nth", format!("{} is out of range (0 to 32767)", query.nth)))?;
    let client = caller.client().await?;
    if products::views::detail(&client, id).await?.is_none() {
        return Err(ApiError::NotFound(format!("product {id}")));
    }
    let range = range(&query, schema::server_info::read(&client).await?.now)?;
    let series = products::series::of_product(&client, id, &range).await?;
    let option = match query.option {
        None => None,
        Some(label) => {
            let key = OptionKey { label, nth };
            let series = products::series::of_option(&client, id, &key, &range).await?;
            let OptionKey { label: option_label, nth } = key;
            let (points, rows, truncated) = (series.points, series.rows, series.truncated);
            Some(OptionHistory { option_label, nth, points, rows, truncated })
        }
    };
    Ok(Json(ProductHistory {
        product_id: id,
        from: range.from,
        to: range.to,
        points: series.points,
        rows: series.rows,
        truncated: series.truncated,
        option,
    }))
}

fn range(query: &HistoryQuery, now: DateTime<Utc>) -> Result<SeriesRange, ApiError> {
    let to = query.to.unwrap_or(now);
    let from = query.from.or_else(|| to.checked_sub_signed(TimeDelta::days(DEFAULT_DAYS)));
    let from = from.ok_or_else(|| ApiError::bad("to", "too early"))?;
    if from >= to {
        return Err(ApiError::bad("from", "must be before the end of the time span"));
    }
    Ok(SeriesRange { from, to, points: query.points.unwrap_or(DEFAULT_POINTS) })
}
