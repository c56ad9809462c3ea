//! Market data as of the last analytics_refresh: stores, brands, categories, prices by day. Reads only.
//!
//! Reads four materialized views, and tables of days and weeks; [`refresh`] writes them.
//! They are empty until the first refresh. Prices are in cents, of products in stock: the special price where
//! it is lower, the medical price where there is no other.

pub mod price_changes;
pub mod refresh;
pub(crate) mod unit_prices;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use tokio_postgres::Row;

pub use self::unit_prices::unit_prices;
use super::connection::client::TypedParam;
use super::{Client, DbError};
use crate::statements::{FromRow, first_column, named, page, read_all, rows, sql, word};
use contract::analytics::{
    BrandCursor, BrandPresence, CategoryCursor, CategoryShare, DayCursor, MarketFilter, PriceDay, Sales, StoreSummary,
};
use domain::store::StoreId;

/// A page of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketPage<R, C> {
    pub rows: Vec<R>,
    /// Position of the next page; None on the last one.
    pub next: Option<C>,
    /// Time of the last refresh; None before the first.
    pub as_of: Option<DateTime<Utc>>,
}

/// A statement that reads a view.
struct Read<'a> {
    view: &'static str,
    sql: &'static str,
    params: &'a [TypedParam<'a>],
    limit: i64,
}

/// Stores in the order of their ids.
pub async fn store_summary(
    client: &Client,
    filter: &MarketFilter,
    after: Option<StoreId>,
    limit: i64,
) -> Result<MarketPage<StoreSummary, StoreId>, DbError> {
    let (MarketFilter { state, store, brand, from, to }, rows) = (filter, limit.saturating_add(1));
    let (sql, params) = named!("analytics/store_summary.sql", state, store, brand, from, to, after, rows);
    let read = Read { view: "mv_store_summary", sql, params: &params, limit };
    // another view has the brands of stores
    if filter.brand.is_some() && !refresh::is_filled(client, "mv_brand_presence").await? {
        return Ok(MarketPage::empty());
    }
    read.page(client, |row| Ok(row.try_get("dispensary_id")?)).await
}

/// Brands by state, those in the most stores first.
pub async fn brand_presence(
    client: &Client,
    filter: &MarketFilter,
    after: Option<&BrandCursor>,
    limit: i64,
) -> Result<MarketPage<BrandPresence, BrandCursor>, DbError> {
    let (after_stores, after_brand) = (after.map(|a| a.stores), after.map(|a| &a.brand));
    let after_state = after.map(|a| &a.state);
    let (MarketFilter { state, store, brand, from, to }, rows) = (filter, limit.saturating_add(1));
    let (sql, params) = named!(
        "analytics/brand_presence.sql",
        state,
        store,
        brand,
        from,
        to,
        after_stores,
        after_brand,
        after_state,
        rows
    );
    let read = Read { view: "mv_brand_presence", sql, params: &params, limit };
    let cursor = |row: &Row| -> Result<BrandCursor, DbError> {
        let state: Option<String> = row.try_get("state")?;
        Ok(BrandCursor {
            stores: row.try_get("stores_in_stock")?,
            brand: row.try_get("brand_key")?,
            state: state.unwrap_or_default(),
        })
    };
    read.page(client, cursor).await
}

/// Categories, the largest first.
pub async fn category_mix(
    client: &Client,
    filter: &MarketFilter,
    after: Option<&CategoryCursor>,
    limit: i64,
) -> Result<MarketPage<CategoryShare, CategoryCursor>, DbError> {
    let (after_in_stock, after_category) = (after.map(|a| a.in_stock), after.map(|a| &a.category));
    let (MarketFilter { state, store, brand, from, to }, rows) = (filter, limit.saturating_add(1));
    let (sql, params) =
        named!("analytics/category_mix.sql", state, store, brand, from, to, after_in_stock, after_category, rows);
    let read = Read { view: "mv_category_mix", sql, params: &params, limit };
    let cursor = |row: &Row| -> Result<CategoryCursor, DbError> {
        Ok(CategoryCursor { in_stock: row.try_get("products_in_stock")?, category: row.try_get("category_key")? })
    };
    read.page(client, cursor).await
}

/// Prices day by day and category by category, the first day first.
pub async fn price_trend(
    client: &Client,
    filter: &MarketFilter,
    category: Option<&str>,
    after: Option<&DayCursor>,
    limit: i64,
) -> Result<MarketPage<PriceDay, DayCursor>, DbError> {
    let (first, last) = (filter.from.map(|from| from.date_naive()), filter.to.map(last_day));
    let (after_day, after_category) = (after.map(|a| a.day), after.map(|a| &a.category));
    let (MarketFilter { state, store, brand, .. }, rows) = (filter, limit.saturating_add(1));
    let (of_all, all) =
        named!("analytics/price_trend.sql", state, brand, category, first, last, after_day, after_category, rows);
    let (of_store, one) = named!(
        "analytics/price_trend_of_store.sql",
        store,
        state,
        brand,
        category,
        first,
        last,
        after_day,
        after_category,
        rows
    );
    let (sql, params): (_, &[TypedParam<'_>]) = if store.is_some() { (of_store, &one) } else { (of_all, &all) };
    let read = Read { view: "mv_price_trend", sql, params, limit };
    let cursor = |row: &Row| -> Result<DayCursor, DbError> {
        Ok(DayCursor { day: row.try_get("day")?, category: row.try_get("category_key")? })
    };
    read.page(client, cursor).await
}

/// The last day that begins before a time.
fn last_day(to: DateTime<Utc>) -> NaiveDate {
    to.checked_sub_signed(TimeDelta::nanoseconds(1)).unwrap_or(to).date_naive()
}

impl Read<'_> {
    /// The statement reads one row more than asked for, which shows whether there is a next page.
    async fn page<R: FromRow, C>(
        self,
        client: &Client,
        cursor: impl Fn(&Row) -> Result<C, DbError>,
    ) -> Result<MarketPage<R, C>, DbError> {
        if !refresh::is_filled(client, self.view).await? {
            return Ok(MarketPage::empty());
        }
        let as_of = refreshed_at(client, self.view).await?;
        let rows = client.query_planned(self.sql, self.params).await?;
        let (shown, next) = page(&rows, self.limit);
        Ok(MarketPage { rows: read_all(shown)?, next: next.map(cursor).transpose()?, as_of })
    }
}

/// Time of the last refresh of a view or table; None before the first.
async fn refreshed_at(client: &Client, view: &str) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = client.query_opt(sql!("analytics/as_of.sql"), &[&view]).await?;
    row.as_ref().map(first_column).transpose()
}

impl<R, C> MarketPage<R, C> {
    fn empty() -> Self {
        MarketPage { rows: Vec::new(), next: None, as_of: None }
    }
}

rows! {
    StoreSummary {
        dispensary_id, dispensary_name,
        platform: word,
        state, city, crawl_enabled, last_crawl_at, products, products_in_stock,
        products_out_of_stock, products_stock_unknown, products_on_special, brands_in_stock,
        categories_in_stock, price_rec_min, price_rec_avg, price_rec_max,
    }

    Sales { products, products_in_stock, products_on_special, price_min, price_avg, price_max }
    BrandPresence { brand, state, stores, stores_in_stock, sales: row }
    CategoryShare { category, stores, sales: row, share }
    PriceDay { day, category, sales: row }
}
