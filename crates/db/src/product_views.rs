//! Products as people see them: one with its options, and a store's page by page. Reads only.
//!
//! What a product cost and how much of it there was over time is in [`super::product_series`].

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use utoipa::{IntoParams, ToSchema};

use super::row::{self, FromRow, optional_json, read_all, rows, word};
use super::{Client, DbError};
use domain::product::ProductId;
use domain::stock;
use domain::store::{Platform, StoreId};
use domain::vocabulary::Word;

/// Options of a product that are shown; the normaliser keeps no more.
const MAX_OPTIONS: i64 = 200;

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
    /// What it costs now: the special where it is lower, the medical price where there is no other.
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProductDetail {
    #[serde(flatten)]
    pub product: ProductView,
    /// In the platform's own form.
    #[schema(value_type = Option<Object>)]
    pub specials: Option<Value>,
    /// Of the brand's logo, as `local_image_path` of the product's image: below `/img/` without its first part.
    pub local_brand_image_path: Option<String>,
    /// In the order of the menu.
    pub options: Vec<OptionView>,
}

/// Which of a store's products to list; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProductFilter {
    /// In any letter case, as the brand.
    pub category: Option<String>,
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Cents; what has no price is left out.
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    /// Part of the name or brand, in any letter case.
    pub q: Option<String>,
    #[param(inline)]
    pub sort: ProductSort,
    /// Where the page before ended, in the same sort.
    #[serde(skip)]
    pub after: Option<ProductCursor>,
}

/// What a store's products are sorted by. What has no price or brand comes last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProductSort {
    #[default]
    Name,
    Brand,
    Price,
    PriceDesc,
    Newest,
}

/// Where a page of products ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductCursor {
    pub number: i64,
    pub text: String,
    pub id: ProductId,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProductPage {
    pub products: Vec<ProductView>,
    /// None on the last page.
    pub next: Option<ProductCursor>,
}

/// One product with its specials and options.
pub async fn detail(client: &Client, id: ProductId) -> Result<Option<ProductDetail>, DbError> {
    let Some(row) = client.query_opt(include_str!("sql/product_views/get.sql"), &[&id]).await? else { return Ok(None) };
    let options = client.query(include_str!("sql/product_views/options.sql"), &[&id, &MAX_OPTIONS]).await?;
    Ok(Some(ProductDetail {
        product: ProductView::from_row(&row)?,
        specials: optional_json(&row, "specials")?,
        local_brand_image_path: row.try_get("local_brand_image_path")?,
        options: read_all(&options)?,
    }))
}

/// At most `limit` products of a store, in the order of `filter.sort`.
pub async fn of_store(
    client: &Client,
    store: StoreId,
    filter: &ProductFilter,
    limit: i64,
) -> Result<ProductPage, DbError> {
    let sort: &str = filter.sort.into();
    let after = filter.after.as_ref();
    let rows = client
        .query_planned(
            include_str!("sql/product_views/of_store.sql"),
            &[
                (&store, Type::INT8),
                (&filter.category, Type::TEXT),
                (&filter.brand, Type::TEXT),
                (&filter.in_stock, Type::BOOL),
                (&filter.on_special, Type::BOOL),
                (&filter.min_price, Type::INT4),
                (&filter.max_price, Type::INT4),
                (&filter.q, Type::TEXT),
                (&sort, Type::TEXT),
                (&after.map(|cursor| cursor.number), Type::INT8),
                (&after.map(|cursor| cursor.text.as_str()), Type::TEXT),
                (&after.map(|cursor| cursor.id), Type::INT8),
                (&limit.saturating_add(1), Type::INT8),
            ],
        )
        .await?;
    page(&rows, limit)
}

/// Of rows one more than asked for tells that there is a next page.
fn page(rows: &[Row], limit: i64) -> Result<ProductPage, DbError> {
    let (shown, next) = row::page(rows, limit);
    Ok(ProductPage { products: read_all(shown)?, next: next.map(ProductCursor::from_row).transpose()? })
}

rows! {
    ProductCursor { number: "sort_number", text: "sort_text", id }

    ProductView {
        id, dispensary_id, dispensary_name, city, state,
        platform: word("provider"),
        provider_product_id, enterprise_product_id,
        name: "name_raw",
        brand: "brand_name_raw",
        category, subcategory, strain_type, price, price_rec, price_med, special_price_rec, special_price_med,
        is_on_special, thc_min, thc_max, thc_unit, cbd_min, cbd_max, cbd_unit, quantity, quantity_censored,
        is_in_stock, stock_status, upstream_status, consecutive_misses, image_url, brand_image_url,
        local_image_path, first_seen_at,
        last_seen_at: last_seen,
        updated_at,
    }

    OptionView {
        option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec,
        special_price_med, quantity, quantity_censored, is_in_stock,
    }
}

/// When the product was last on the menu, also by its store's last complete crawl.
fn last_seen(row: &Row, column: &str) -> Result<DateTime<Utc>, DbError> {
    let (misses, last_complete) = (row.try_get("consecutive_misses")?, row.try_get("last_complete_at")?);
    Ok(stock::last_seen(row.try_get(column)?, misses, last_complete))
}
