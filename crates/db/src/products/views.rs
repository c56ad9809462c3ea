//! Products for display: one with its options, and a store's page by page. Reads only.
//!
//! [`super::series`] has prices and stock over time.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;
use tokio_postgres::types::Json;

use crate::statements::{FromRow, named, optional_json, optional_word, read_all, rows, sql, word};
use crate::{Client, DbError, statements};
use contract::products::{OptionView, ProductCursor, ProductDetail, ProductFilter, ProductView};
use domain::menu;
use domain::menu::attributes::Attributes;
use domain::menu::product::ProductId;
use domain::store::StoreId;

/// Maximum options of a product that are shown; the normaliser keeps no more.
const MAX_OPTIONS: i64 = 200;

#[derive(Clone, Debug, PartialEq)]
pub struct ProductPage {
    pub products: Vec<ProductView>,
    /// None on the last page.
    pub next: Option<ProductCursor>,
}

/// One product with its specials, attributes and options.
pub async fn detail(client: &Client, id: ProductId) -> Result<Option<ProductDetail>, DbError> {
    let Some(row) = client.query_opt(sql!("products/views/get.sql"), &[&id]).await? else { return Ok(None) };
    let options = client.query(sql!("products/views/options.sql"), &[&id, &MAX_OPTIONS]).await?;
    Ok(Some(ProductDetail {
        product: ProductView::from_row(&row)?,
        specials: optional_json(&row, "specials")?,
        attributes: row.try_get::<_, Option<Json<Attributes>>>("attributes")?.map(|Json(attributes)| attributes),
        local_brand_image_path: row.try_get("local_brand_image_path")?,
        options: read_all(&options)?,
    }))
}

/// Lists at most `limit` products of a store, in the order of `filter.sort`.
pub async fn of_store(
    client: &Client,
    store: StoreId,
    filter: &ProductFilter,
    limit: i64,
) -> Result<ProductPage, DbError> {
    let sort: &str = filter.sort.into();
    let after = filter.after.as_ref();
    let rows = named!(client.query_planned(
        "products/views/of_store.sql",
        store,
        category = filter.category,
        brand = filter.brand,
        in_stock = filter.in_stock,
        on_special = filter.on_special,
        min_price = filter.min_price,
        max_price = filter.max_price,
        q = filter.q,
        sort,
        after_number = after.map(|cursor| cursor.number),
        after_text = after.map(|cursor| cursor.text.as_str()),
        after_id = after.map(|cursor| cursor.id),
        limit = limit.saturating_add(1)
    ))
    .await?;
    page(&rows, limit)
}

/// One row more than asked for shows whether there is a next page.
fn page(rows: &[Row], limit: i64) -> Result<ProductPage, DbError> {
    let (shown, next) = statements::page(rows, limit);
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
        updated_at, canonical_category, rec_per_g, med_per_g, rec_per_mg_thc, med_per_mg_thc,
        unit_basis: optional_word,
    }

    OptionView {
        option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec,
        special_price_med, quantity, quantity_censored, is_in_stock, rec_per_g, med_per_g, rec_per_ml,
        med_per_ml, rec_per_mg_thc, med_per_mg_thc, thc_mg,
        unit_basis: optional_word,
        no_unit_price: optional_word,
        no_thc_price: optional_word,
        bundle_quantity, bundle_total, bundle_per_g,
    }
}

/// Time when the product was last on the menu, also by its store's last complete crawl.
fn last_seen(row: &Row, column: &str) -> Result<DateTime<Utc>, DbError> {
    let (misses, last_complete) = (row.try_get("consecutive_misses")?, row.try_get("last_complete_at")?);
    Ok(menu::stock::last_seen(row.try_get(column)?, misses, last_complete))
}
