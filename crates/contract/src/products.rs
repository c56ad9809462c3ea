//! Products: one with its options, pages of them, a search, and prices over time.

use chrono::{DateTime, Utc};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantArray};
use utoipa::{IntoParams, ToSchema};

use domain::menu::attributes::Attributes;
use domain::menu::product::ProductId;
use domain::menu::unit_price::{NoUnitPrice, UnitBasis};
use domain::store::{Platform, StoreId};
use domain::vocabulary::Word;
use domain::{span, store};

/// Maximum length of a searched text.
const MAX_WORDS_CHARS: usize = 200;

const MAX_POINTS: usize = 1000;

/// A product as its store lists it now. Money is cents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductView {
    pub id: ProductId,
    pub dispensary_id: StoreId,
    pub dispensary_name: String,
    pub city: Option<String>,
    pub state: Option<String>,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub provider_product_id: String,
    pub enterprise_product_id: Option<String>,
    pub name: String,
    pub brand: Option<String>,
    pub category: Option<String>,
    pub subcategory: Option<String>,
    pub strain_type: Option<String>,
    /// Current price: the special if it is lower, the medical price if there is no other.
    pub price: Option<i32>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub thc_min: Option<f64>,
    pub thc_max: Option<f64>,
    pub thc_unit: Option<String>,
    pub cbd_min: Option<f64>,
    pub cbd_max: Option<f64>,
    pub cbd_unit: Option<String>,
    pub quantity: Option<i32>,
    /// `quantity` is the platform's cap: the real number may be higher.
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub stock_status: String,
    pub upstream_status: Option<String>,
    /// Complete crawls in a row that did not contain it.
    pub consecutive_misses: i16,
    pub image_url: Option<String>,
    pub brand_image_url: Option<String>,
    pub local_image_path: Option<String>,
    pub first_seen_at: DateTime<Utc>,
    pub last_seen_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// Name of the category by which prices are compared; null if none covers the platform's.
    pub canonical_category: Option<String>,
    /// Price that is paid, by gram, in millicents (thousandths of a cent), like the next three: of the option that is cheapest
    /// by its unit, among those in stock if there are any.
    pub rec_per_g: Option<i64>,
    pub med_per_g: Option<i64>,
    /// Price by milligram of THC.
    pub rec_per_mg_thc: Option<i64>,
    pub med_per_mg_thc: Option<i64>,
    /// How that option's amount is known; null if no option has a price by unit.
    #[schema(value_type = Option<UnitBasis>)]
    pub unit_basis: Option<Word<UnitBasis>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OptionView {
    pub option_label: String,
    /// The n-th option of that label, from 0: labels repeat.
    pub nth: i16,
    /// Its place on the menu, from 0.
    pub position: Option<i16>,
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    /// Price that is paid, by gram, in millicents (thousandths of a cent), like the next five.
    pub rec_per_g: Option<i64>,
    pub med_per_g: Option<i64>,
    pub rec_per_ml: Option<i64>,
    pub med_per_ml: Option<i64>,
    /// Price by milligram of THC.
    pub rec_per_mg_thc: Option<i64>,
    pub med_per_mg_thc: Option<i64>,
    /// Milligrams of THC in the package.
    pub thc_mg: Option<f64>,
    /// How the amount is known.
    #[schema(value_type = Option<UnitBasis>)]
    pub unit_basis: Option<Word<UnitBasis>>,
    /// Reason for a missing price by gram or millilitre.
    #[schema(value_type = Option<NoUnitPrice>)]
    pub no_unit_price: Option<Word<NoUnitPrice>>,
    /// Reason for a missing price by milligram of THC.
    #[schema(value_type = Option<NoUnitPrice>)]
    pub no_thc_price: Option<Word<NoUnitPrice>>,
    /// Number of pieces of its cheapest bundle, such as "2 for $50" or "buy 2 get 1 free"; null if no special states one. A
    /// bundle changes no price.
    pub bundle_quantity: Option<i32>,
    /// Cents for all pieces of the bundle.
    pub bundle_total: Option<i32>,
    /// Price by gram in the bundle, in millicents.
    pub bundle_per_g: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductDetail {
    #[serde(flatten)]
    pub product: ProductView,
    /// The specials in the platform's own form.
    #[schema(value_type = Option<Object>)]
    pub specials: Option<Value>,
    /// Facts beyond price and stock; null if the platform states none.
    pub attributes: Option<Attributes>,
    /// Path of the brand's logo, in the form of `local_image_path`: below `/img/` without its first part.
    pub local_brand_image_path: Option<String>,
    /// Options in the order of the menu.
    pub options: Vec<OptionView>,
}

/// Filter of a store's products; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProductFilter {
    /// Name of the platform's category, in any letter case, like the brand; or of a canonical category.
    pub category: Option<String>,
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Price in cents; products without a price are left out.
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    /// Part of the name or brand, in any letter case.
    pub q: Option<String>,
    #[param(inline)]
    pub sort: ProductSort,
    /// Position after the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<ProductCursor>,
}

/// Order of a store's products. Products without such a price, or without a brand, come last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProductSort {
    #[default]
    Name,
    Brand,
    Price,
    PriceDesc,
    /// The lowest price by gram first; then, by milligram of THC, products that are compared by it.
    UnitPrice,
    Newest,
}

/// Position of the last product of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductCursor {
    pub number: i64,
    pub text: String,
    pub id: ProductId,
}

/// Filter of a search; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProductQuestion {
    /// Words of the name and brand, or beginnings of them. Without it, only the filters select products.
    #[serde(deserialize_with = "optional_words")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub q: Option<String>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Name of a city, in any letter case.
    pub city: Option<String>,
    /// The platform of the store.
    pub platform: Option<Platform>,
    /// Its id.
    pub store: Option<StoreId>,
    /// Name of the platform's category, in any letter case, or of a canonical category.
    pub category: Option<String>,
    /// Beginning of a brand's name, in any letter case.
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Cents.
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    /// Maximum price by gram, in millicents (thousandths of a cent), of the option that is cheapest by it; products without
    /// one are left out.
    #[param(minimum = 0)]
    pub max_unit_price: Option<i64>,
    /// Order; by default `relevance`, which needs `q`; without `q`, `name`. Products without a price, or whose price never
    /// changed, come last.
    #[param(inline)]
    pub sort: Option<SearchSort>,
    /// Position after the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<SearchCursor>,
}

/// Order of products. Products without a price, or whose price never changed, come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantArray, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SearchSort {
    /// How well it matches the words, the best first.
    Relevance,
    Name,
    Price,
    PriceDesc,
    /// The lowest price by gram first; then, by milligram of THC, products that are compared by it.
    UnitPrice,
    /// The latest change first; products whose price never changed come last.
    PriceChange,
    Newest,
}

/// How products were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// No words were looked for.
    Filters,
    /// All words, each of which may be the beginning of a longer one.
    Words,
    /// Words of products that are a letter or two apart, since no product has all words as they are.
    Corrected,
    /// A likeness in spelling, since no product has such words.
    Trigrams,
}

/// Position of the last product of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchCursor {
    pub by: MatchKind,
    pub number: i64,
    pub text: String,
    pub id: ProductId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundProduct {
    #[serde(flatten)]
    pub product: ProductView,
    /// Price before its latest change; null: no change was seen.
    pub price_before: Option<i32>,
    pub price_changed_at: Option<DateTime<Utc>>,
}

/// A product in one crawl. Money is cents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductPoint {
    pub crawled_at: DateTime<Utc>,
    #[serde(flatten)]
    pub offer: OfferPoint,
    pub is_on_special: bool,
    pub stock_status: String,
}

/// An option from one crawl on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OptionPoint {
    pub crawled_at: DateTime<Utc>,
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    /// Price that is paid, by gram, in millicents (thousandths of a cent), like the next five.
    pub rec_per_g: Option<i64>,
    pub med_per_g: Option<i64>,
    pub rec_per_ml: Option<i64>,
    pub med_per_ml: Option<i64>,
    /// Price by milligram of THC.
    pub rec_per_mg_thc: Option<i64>,
    pub med_per_mg_thc: Option<i64>,
    #[serde(flatten)]
    pub offer: OfferPoint,
    /// The product was on the menu without this option.
    pub gone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OfferPoint {
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Start of the time range; by default 90 days before `to`.
    #[serde(default, deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it; by default now.
    #[serde(default, deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Maximum number of points of each series.
    #[serde(default, deserialize_with = "points")]
    #[param(minimum = 1, maximum = 1000, default = 500, value_type = Option<i64>)]
    pub points: Option<usize>,
    /// The label of an option whose series is returned as well.
    pub option: Option<String>,
    /// Position among the options with that label, from 0.
    #[serde(default)]
    #[param(minimum = 0, maximum = 32767)]
    pub nth: i32,
}

/// Products in the order of `sort`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FoundPage {
    pub products: Vec<FoundProduct>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// How the products were found.
    pub r#match: MatchKind,
    /// False: the words of products are not counted yet and the server has no trigrams, so a misspelled word finds
    /// nothing.
    pub forgives_spelling: bool,
    /// Too many products match, so only some of them were searched.
    pub truncated: bool,
    /// Crawled stores whose latest products are not in the search yet.
    pub stores_waiting: i64,
}

/// Prices and quantities of a product, oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProductHistory {
    pub product_id: ProductId,
    pub from: DateTime<Utc>,
    pub to: DateTime<Utc>,
    /// One for each crawl; if they exceed the maximum, points that repeat the previous one are left out first.
    pub points: Vec<ProductPoint>,
    /// Number of crawls in this time span that were read.
    pub rows: usize,
    /// There are more crawls in this time span than can be read: the oldest are missing.
    pub truncated: bool,
    /// History of the requested option.
    pub option: Option<OptionHistory>,
}

/// Each point holds until the next one; the first may be older than the time that was asked for.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct OptionHistory {
    pub option_label: String,
    pub nth: i16,
    pub points: Vec<OptionPoint>,
    pub rows: usize,
    pub truncated: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ProductList {
    pub products: Vec<ProductView>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

pub(crate) fn optional_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.chars().count() {
        1..=MAX_WORDS_CHARS => Ok(Some(text)),
        length => Err(D::Error::custom(format_args!("{length} characters is out of range (1 to {MAX_WORDS_CHARS})"))),
    }
}

fn points<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let points = i64::deserialize(deserializer)?;
    match usize::try_from(points) {
        Ok(points @ 1..=MAX_POINTS) => Ok(Some(points)),
        _ => Err(D::Error::custom(format_args!("{points} is out of range (1 to {MAX_POINTS})"))),
    }
}
