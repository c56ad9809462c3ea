//! `/api/analytics`: what the market sells, as of the last refresh of analytics.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Viewer};
use super::page::{Limit, PageJson};
use super::position::Position;
use super::query::{self, Query};
use super::{ApiError, ApiState};
use crate::db::analytics::{
    self, BrandCursor, BrandPresence, CategoryCursor, CategoryShare, DayCursor, MarketFilter, MarketPage, PriceDay,
    StoreSummary,
};
use crate::domain::store::StoreId;

/// What to look at; a parameter that is absent filters nothing.
macro_rules! market_query {
    ($name:ident, $cursor:ty $(, $extra:ident)?) => {
        #[derive(Debug, Deserialize, IntoParams)]
        #[serde(deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub struct $name {
            #[serde(default, deserialize_with = "query::state_code")]
            #[param(value_type = Option<String>, example = "AZ")]
            state: Option<String>,
            /// Its id.
            store: Option<StoreId>,
            /// In any letter case.
            brand: Option<String>,
            $(
                /// In any letter case.
                $extra: Option<String>,
            )?
            /// Of prices: their time, by default the last 30 days, at most 90 days back. Else: stores whose last crawl was in it.
            #[serde(default, deserialize_with = "query::beginning")]
            #[param(schema_with = query::time_or_day)]
            from: Option<DateTime<Utc>>,
            /// Exclusive, but for a day, which is part of it.
            #[serde(default, deserialize_with = "query::end")]
            #[param(schema_with = query::time_or_day)]
            to: Option<DateTime<Utc>>,
            #[serde(default)]
            #[param(inline)]
            limit: Limit,
            #[param(value_type = Option<String>)]
            cursor: Option<Position<$cursor>>,
        }

        impl $name {
            fn filter(&self) -> MarketFilter {
                MarketFilter {
                    state: self.state.clone(),
                    store: self.store,
                    brand: self.brand.clone(),
                    from: self.from,
                    to: self.to,
                }
            }
        }
    };
}

market_query!(StoreQuery, StoreId);
market_query!(BrandQuery, BrandCursor);
market_query!(CategoryQuery, CategoryCursor);
market_query!(PriceQuery, DayCursor, category);

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
#[utoipa::path(get, path = "/api/analytics/store-summary", tag = "analytics", params(StoreQuery),
               responses((status = 200, body = StoreSummaryPage)))]
pub async fn store_summary(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(query): Query<StoreQuery>,
) -> Result<PageJson<StoreSummaryPage, String>, ApiError> {
    let (client, filter) = (api.db.api_client().await?, query.filter());
    let after = query.cursor.map(|Position(id)| id);
    let MarketPage { rows: stores, next, as_of } =
        analytics::store_summary(&client, &filter, after, query.limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| StoreSummaryPage { stores, next_cursor, as_of }))
}

/// Brands by state, those that most stores have in stock first.
#[utoipa::path(get, path = "/api/analytics/brand-presence", tag = "analytics", params(BrandQuery),
               responses((status = 200, body = BrandPresencePage)))]
pub async fn brand_presence(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(query): Query<BrandQuery>,
) -> Result<PageJson<BrandPresencePage, String>, ApiError> {
    let (client, filter) = (api.db.api_client().await?, query.filter());
    let after = query.cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: brands, next, as_of } =
        analytics::brand_presence(&client, &filter, after, query.limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| BrandPresencePage { brands, next_cursor, as_of }))
}

/// Categories with their share of what is in stock, the largest first.
#[utoipa::path(get, path = "/api/analytics/category-mix", tag = "analytics", params(CategoryQuery),
               responses((status = 200, body = CategoryMixPage)))]
pub async fn category_mix(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(query): Query<CategoryQuery>,
) -> Result<PageJson<CategoryMixPage, String>, ApiError> {
    let (client, filter) = (api.db.api_client().await?, query.filter());
    let after = query.cursor.as_ref().map(|Position(cursor)| cursor);
    let MarketPage { rows: categories, next, as_of } =
        analytics::category_mix(&client, &filter, after, query.limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| CategoryMixPage { categories, next_cursor, as_of }))
}

/// Prices day by day and category by category, the first day first.
#[utoipa::path(get, path = "/api/analytics/price-trend", tag = "analytics", params(PriceQuery),
               responses((status = 200, body = PriceTrendPage)))]
pub async fn price_trend(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(query): Query<PriceQuery>,
) -> Result<PageJson<PriceTrendPage, String>, ApiError> {
    let (client, filter) = (api.db.api_client().await?, query.filter());
    let after = query.cursor.as_ref().map(|Position(cursor)| cursor);
    let category = query.category.as_deref();
    let MarketPage { rows: days, next, as_of } =
        analytics::price_trend(&client, &filter, category, after, query.limit.rows()).await?;
    Ok(PageJson::of(next, |next_cursor| PriceTrendPage { days, next_cursor, as_of }))
}
