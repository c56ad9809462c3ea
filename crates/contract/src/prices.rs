//! Prices that are compared: with those of another time, and by unit between categories, brands, states and weeks.

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::changes::ChangedOption;
use super::limit::Limit;
use super::products::{self, MatchKind};
use domain::menu::product::ProductId;
use domain::store::{Platform, StoreId};
use domain::vocabulary::Word;
use domain::years::YEARS;
use domain::{span, store, vocabulary};

vocabulary! {
    /// The unit by which things are compared.
    #[derive(Default)]
    pub enum PriceUnit {
        /// A gram.
        #[default]
        G,
        /// A millilitre.
        Ml,
        /// A milligram of THC: edibles and other dosed goods.
        MgThc,
    }
}

vocabulary! {
    /// The rows of a comparison of prices by unit.
    #[derive(Default)]
    pub enum PricesBy {
        /// One row for each category.
        #[default]
        Category,
        /// One row for each brand, those on most menus first.
        Brand,
        /// One row for each state.
        State,
        /// One row for each week, the newest first.
        Week,
    }
}

/// Filter of prices by unit; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UnitPriceQuestion {
    /// Rows of the answer; by default `category`.
    #[param(inline)]
    pub by: Option<PricesBy>,
    /// The unit of the prices; by default `g`.
    #[param(inline)]
    pub unit: Option<PriceUnit>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Name of a canonical category, in any letter case.
    pub category: Option<String>,
    /// Name of a brand, in any letter case.
    pub brand: Option<String>,
    /// A day of the week, by default of the newest one; with `by=week`, of the last one.
    #[serde(deserialize_with = "optional_day")]
    pub week: Option<NaiveDate>,
}

/// Prices by unit of what is in stock, in one week.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnitPrices {
    /// The Monday of the week, UTC.
    pub week: NaiveDate,
    /// null: all states together, like the category and the brand.
    pub state: Option<String>,
    pub category: Option<String>,
    pub brand: Option<String>,
    /// Number of stores that have it in stock.
    pub stores: i32,
    /// Share of the menus of the state that have it, from 0 to 1.
    pub share: f64,
    #[schema(value_type = PriceUnit)]
    pub unit: Word<PriceUnit>,
    /// Number of options with a price by this unit.
    pub options: i32,
    /// Millicents (thousandths of a cent) by unit, like the next four; null: no option has one.
    pub min: Option<i64>,
    pub p25: Option<i64>,
    pub median: Option<i64>,
    pub p75: Option<i64>,
    pub max: Option<i64>,
}

/// Position of the last row of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitPriceCursor {
    pub age: i32,
    pub stores: i32,
    pub state: String,
    pub category: String,
    pub brand: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct UnitPricePage {
    pub prices: Vec<UnitPrices>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Time of the last refresh; null before the first.
    pub as_of: Option<DateTime<Utc>>,
}

vocabulary! {
    pub enum PriceDirection {
        Drop,
        Rise,
    }
}

vocabulary! {
    #[derive(Default)]
    pub enum PriceChangeSort {
        /// The largest difference in percent first.
        #[default]
        Percent,
        /// The largest difference in cents first.
        Cents,
        /// The latest change first.
        Newest,
    }
}

/// Filter of a comparison with another time; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PriceChangeQuestion {
    /// Time whose prices are compared with those of now: by default 7 days ago, and 90 days ago at the
    /// earliest. A day is its beginning, UTC.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub since: Option<DateTime<Utc>>,
    /// Words of the name and brand, or beginnings of them, as in the search.
    #[serde(deserialize_with = "products::optional_words")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub q: Option<String>,
    #[param(inline)]
    pub direction: Option<PriceDirection>,
    /// Order; by default `percent`.
    #[param(inline)]
    pub sort: Option<PriceChangeSort>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Name of a city, in any letter case.
    pub city: Option<String>,
    /// The platform of the store.
    pub platform: Option<Platform>,
    /// Name of a group of stores.
    pub group: Option<String>,
    /// Its id.
    pub store: Option<StoreId>,
    /// Name of a canonical category, in any letter case.
    pub category: Option<String>,
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Cents, of the price now.
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    /// Maximum price by gram now, in millicents (thousandths of a cent); options without one are left out.
    #[param(minimum = 0)]
    pub max_unit_price: Option<i64>,
    /// Maximum number of options.
    #[param(inline)]
    pub limit: Limit,
}

/// An option whose price differs from that of another time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceDifference {
    pub product_id: ProductId,
    pub product_name: String,
    pub brand: Option<String>,
    pub category: Option<String>,
    pub canonical_category: Option<String>,
    pub store_id: StoreId,
    pub store_name: String,
    pub city: Option<String>,
    pub state: Option<String>,
    pub option: ChangedOption,
    pub is_in_stock: bool,
    /// The price that was paid, in cents: the special where it is lower, the medical price where there is no other.
    pub price_before: i32,
    pub price: i32,
    /// Now minus before.
    pub cents: i32,
    /// Cents as a percentage of the price before; null if that was 0.
    pub percent: Option<f64>,
    /// null: the amount is not known.
    #[schema(value_type = Option<PriceUnit>)]
    pub unit: Option<Word<PriceUnit>>,
    /// Millicents (thousandths of a cent) by unit.
    pub unit_price_before: Option<i64>,
    pub unit_price: Option<i64>,
    /// Time of the last change.
    pub changed_at: DateTime<Utc>,
}

/// Prices that differ, the largest difference first.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PriceDifferences {
    pub changes: Vec<PriceDifference>,
    /// Time whose prices these are compared with.
    pub since: DateTime<Utc>,
    /// How the products of the words were found.
    pub r#match: MatchKind,
    /// True if only the largest changes since then were compared, or the changes of some of the products that have the words: a
    /// filter narrows them.
    pub truncated: bool,
    /// Time of the last refresh, up to which changes are known; null before the first.
    pub as_of: Option<DateTime<Utc>>,
}

pub(crate) fn optional_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NaiveDate>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let day = text.parse().ok().filter(|day: &NaiveDate| YEARS.contains(&day.year()));
    day.map(Some).ok_or_else(|| D::Error::custom("not a day, such as 2026-11-22"))
}
