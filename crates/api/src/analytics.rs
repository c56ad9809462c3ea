//! `/api/analytics`: market data, as of the last refresh of analytics.

use super::{ApiError, Caller, Listing, PageJson, Viewer};
use contract::analytics::{
    BrandCursor, BrandPresencePage, CategoryCursor, CategoryMixPage, DayCursor, MarketFilter, PriceQuery,
    PriceTrendPage, StoreSummaryPage,
};
use contract::position::Position;
use db::analytics::{self, MarketPage};
use domain::store::StoreId;

/// Products of each store, in the order of their ids.
#[utoipa::path(get, path = "/api/analytics/store-summary", tag = "analytics",
               responses((status = 200, body = StoreSummaryPage)))]
pub async fn store_summary(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<StoreId>>,
) -> Result<PageJson<StoreSummaryPage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.map(|Position(id)| id);
    let MarketPage { rows: stores, next, as_of } =
        analytics::store_summary(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| StoreSummaryPage { stores, next_cursor, as_of }))
}

/// Brands by state; brands that most stores have in stock come first.
#[utoipa::path(get, path = "/api/analytics/brand-presence", tag = "analytics",
               responses((status = 200, body = BrandPresencePage)))]
pub async fn brand_presence(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<BrandCursor>>,
) -> Result<PageJson<BrandPresencePage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: brands, next, as_of } =
        analytics::brand_presence(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| BrandPresencePage { brands, next_cursor, as_of }))
}

/// Categories with their share of what is in stock, the largest first.
#[utoipa::path(get, path = "/api/analytics/category-mix", tag = "analytics",
               responses((status = 200, body = CategoryMixPage)))]
pub async fn category_mix(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<CategoryCursor>>,
) -> Result<PageJson<CategoryMixPage, String>, ApiError> {
    let client = caller.client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: categories, next, as_of } =
        analytics::category_mix(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| CategoryMixPage { categories, next_cursor, as_of }))
}

/// Prices day by day and category by category, the first day first.
#[utoipa::path(get, path = "/api/analytics/price-trend", tag = "analytics",
               responses((status = 200, body = PriceTrendPage)))]
pub async fn price_trend(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<PriceQuery, Position<DayCursor>>,
) -> Result<PageJson<PriceTrendPage, String>, ApiError> {
    let PriceQuery { state, store, brand, category, from, to } = filter;
    let filter = MarketFilter { state, store, brand, from, to };
    let client = caller.client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: days, next, as_of } =
        analytics::price_trend(&client, &filter, category.as_deref(), after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| PriceTrendPage { days, next_cursor, as_of }))
}
