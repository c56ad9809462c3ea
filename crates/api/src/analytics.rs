//! `/api/analytics`: market data, as of the last refresh of analytics.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Viewer};
use super::listing::Listing;
use super::page::PageJson;
use super::position::Position;
use super::{ApiError, ApiState};
use db::analytics::{
    self, BrandCursor, BrandPresence, CategoryCursor, CategoryShare, DayCursor, MarketFilter, MarketPage, PriceDay,
    StoreSummary,
};
use domain::store::StoreId;
use domain::{span, state_code};

/// Which prices to look at; a parameter that is absent filters nothing.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PriceQuery {
    /// Two letters, in any case.
    #[serde(deserialize_with = "state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    state: Option<String>,
    /// Its id.
    store: Option<StoreId>,
    /// In any letter case.
    brand: Option<String>,
    /// In any letter case.
    category: Option<String>,
    /// By default the last 30 days, at most 90 days back.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    to: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StoreSummaryPage {
    pub stores: Vec<StoreSummary>,
    /// For the next page; null on the last.
    pub next_cursor: Option<String>,
    /// When it was brought up to date; null where it never was.
    pub as_of: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct BrandPresencePage {
    pub brands: Vec<BrandPresence>,
    pub next_cursor: Option<String>,
    pub as_of: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct CategoryMixPage {
    pub categories: Vec<CategoryShare>,
    pub next_cursor: Option<String>,
    pub as_of: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PriceTrendPage {
    pub days: Vec<PriceDay>,
    pub next_cursor: Option<String>,
    pub as_of: Option<DateTime<Utc>>,
}

/// What each store sells, in the order of their ids.
#[utoipa::path(get, path = "/api/analytics/store-summary", tag = "analytics", params(Listing<MarketFilter, Position<StoreId>>),
               responses((status = 200, body = StoreSummaryPage)))]
pub async fn store_summary(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<StoreId>>,
) -> Result<PageJson<StoreSummaryPage, String>, ApiError> {
    let client = api.db.api_client().await?;
    let after = cursor.map(|Position(id)| id);
    let MarketPage { rows: stores, next, as_of } =
        analytics::store_summary(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| StoreSummaryPage { stores, next_cursor, as_of }))
}

/// Brands by state, those that most stores have in stock first.
#[utoipa::path(get, path = "/api/analytics/brand-presence", tag = "analytics", params(Listing<MarketFilter, Position<BrandCursor>>),
               responses((status = 200, body = BrandPresencePage)))]
pub async fn brand_presence(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<BrandCursor>>,
) -> Result<PageJson<BrandPresencePage, String>, ApiError> {
    let client = api.db.api_client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: brands, next, as_of } =
        analytics::brand_presence(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| BrandPresencePage { brands, next_cursor, as_of }))
}

/// Categories with their share of what is in stock, the largest first.
#[utoipa::path(get, path = "/api/analytics/category-mix", tag = "analytics", params(Listing<MarketFilter, Position<CategoryCursor>>),
               responses((status = 200, body = CategoryMixPage)))]
pub async fn category_mix(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<MarketFilter, Position<CategoryCursor>>,
) -> Result<PageJson<CategoryMixPage, String>, ApiError> {
    let client = api.db.api_client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: categories, next, as_of } =
        analytics::category_mix(&client, &filter, after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| CategoryMixPage { categories, next_cursor, as_of }))
}

/// Prices day by day and category by category, the first day first.
#[utoipa::path(get, path = "/api/analytics/price-trend", tag = "analytics", params(Listing<PriceQuery, Position<DayCursor>>),
               responses((status = 200, body = PriceTrendPage)))]
pub async fn price_trend(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<PriceQuery, Position<DayCursor>>,
) -> Result<PageJson<PriceTrendPage, String>, ApiError> {
    let PriceQuery { state, store, brand, category, from, to } = filter;
    let filter = MarketFilter { state, store, brand, from, to };
    let client = api.db.api_client().await?;
    let after = cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: days, next, as_of } =
        analytics::price_trend(&client, &filter, category.as_deref(), after, limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| PriceTrendPage { days, next_cursor, as_of }))
}
