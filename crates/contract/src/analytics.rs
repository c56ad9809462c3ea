//! Market data: stores, brands, categories and prices by day, and their filters.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use domain::store::{Platform, StoreId};
use domain::vocabulary::Word;
use domain::{span, store, years};

/// Filter of an analysis; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MarketFilter {
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Its id.
    pub store: Option<StoreId>,
    /// Name of a brand, in any letter case; only stores that sell it.
    pub brand: Option<String>,
    /// Start of the time range. Prices by day: at most 90 days back, by default 30. Others: stores whose last crawl
    /// was in the range.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreSummary {
    pub dispensary_id: StoreId,
    pub dispensary_name: String,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub state: Option<String>,
    pub city: Option<String>,
    pub crawl_enabled: bool,
    pub last_crawl_at: Option<DateTime<Utc>>,
    pub products: i64,
    pub products_in_stock: i64,
    pub products_out_of_stock: i64,
    pub products_stock_unknown: i64,
    pub products_on_special: i64,
    pub brands_in_stock: i64,
    pub categories_in_stock: i64,
    pub price_rec_min: Option<i32>,
    pub price_rec_avg: Option<i32>,
    pub price_rec_max: Option<i32>,
}

/// How much is sold, and for how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Sales {
    pub products: i64,
    pub products_in_stock: i64,
    pub products_on_special: i64,
    pub price_min: Option<i32>,
    pub price_avg: Option<i32>,
    pub price_max: Option<i32>,
}

/// A brand in one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BrandPresence {
    pub brand: String,
    pub state: Option<String>,
    /// Number of stores with the brand on their menus.
    pub stores: i64,
    pub stores_in_stock: i64,
    #[serde(flatten)]
    pub sales: Sales,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CategoryShare {
    /// None: products without a category.
    pub category: Option<String>,
    pub stores: i64,
    #[serde(flatten)]
    pub sales: Sales,
    /// Share of the category among all matching products in stock.
    pub share: f64,
}

/// A category on one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceDay {
    /// UTC.
    pub day: NaiveDate,
    pub category: Option<String>,
    #[serde(flatten)]
    pub sales: Sales,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandCursor {
    pub stores: i64,
    pub brand: String,
    pub state: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryCursor {
    pub in_stock: i64,
    pub category: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayCursor {
    #[serde(deserialize_with = "years::within")]
    pub day: NaiveDate,
    pub category: String,
}

/// Filter of prices; a parameter that is absent filters nothing.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PriceQuery {
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Its id.
    pub store: Option<StoreId>,
    /// Name of a brand, in any letter case.
    pub brand: Option<String>,
    /// Name of a category, in any letter case.
    pub category: Option<String>,
    /// Start of the time range: by default 30 days back, at most 90.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StoreSummaryPage {
    pub stores: Vec<StoreSummary>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Time of its last refresh; null if it was never refreshed.
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
