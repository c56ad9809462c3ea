//! `/api/analytics/unit-prices` and `/api/analytics/price-changes`: prices that are compared, as of the last refresh
//! of analytics.

use axum::Json;

use super::{ApiError, Caller, Listing, PageJson, Query, Viewer};
use contract::checks::at_least_0;
use contract::position::Position;
use contract::prices::{PriceChangeQuestion, PriceDifferences, UnitPriceCursor, UnitPricePage, UnitPriceQuestion};
use db::analytics::{self, MarketPage, price_changes};

/// Prices by gram, millilitre or milligram of THC of what is in stock: by category, brand, state or week.
///
/// Rows are those on most menus first, or the newest week first. Menus older than seven days do not count.
#[utoipa::path(get, path = "/api/analytics/unit-prices", tag = "analytics",
               responses((status = 200, body = UnitPricePage)))]
pub async fn unit_prices(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<UnitPriceQuestion, Position<UnitPriceCursor>>,
) -> Result<PageJson<UnitPricePage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: prices, next, as_of } =
        analytics::unit_prices(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| UnitPricePage { prices, next_cursor, as_of }))
}

/// Options whose price differs from that of another time, the largest difference first.
///
/// A price that went and came back since then is none. The 1,500 largest changes since then are compared; a filter
/// narrows them.
#[utoipa::path(get, path = "/api/analytics/price-changes", tag = "analytics",
               responses((status = 200, body = PriceDifferences)))]
pub async fn price_changes(
    caller: Caller<Viewer>,
    Query(question): Query<PriceChangeQuestion>,
) -> Result<Json<PriceDifferences>, ApiError> {
    at_least_0("max_unit_price", question.max_unit_price)?;
    Ok(Json(price_changes::price_changes(&caller.client().await?, &question).await?))
}
