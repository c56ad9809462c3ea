//! The shelves that crawls have led to: every product of a platform with its options, and what its store's latest crawl kept of it.

use std::collections::HashMap;

use tokio_postgres::Row;

use crate::db::{Client, DbError};
use crate::domain::dispensary::Platform;
use crate::domain::product::Variant;

/// A product as the tables say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shelf {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    pub name: String,
    pub brand: Option<String>,
    pub category: Option<String>,
    pub subcategory: Option<String>,
    pub strain_type: Option<String>,
    pub image_url: Option<String>,
    pub consecutive_misses: i32,
    pub offer: Offer,
    /// By label, then by number.
    pub variants: Vec<Variant>,
    /// None when its store's latest crawl did not contain it.
    pub snapshot: Option<Offer>,
}

/// What both a product's row and its snapshots have.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub thc: Strength,
    pub cbd: Strength,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub stock_status: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Strength {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub unit: Option<String>,
}

pub async fn shelves(client: &Client, platform: Platform) -> Result<Vec<Shelf>, DbError> {
    let platform = platform.name();
    let mut variants: HashMap<i64, Vec<Variant>> = HashMap::new();
    for row in client.query(include_str!("../sql/crawls/shelf_variants.sql"), &[&platform]).await? {
        variants.entry(row.get("store_product_id")).or_default().push(variant(&row));
    }
    let mut snapshots: HashMap<i64, Offer> = HashMap::new();
    for row in client.query(include_str!("../sql/crawls/shelf_snapshots.sql"), &[&platform]).await? {
        snapshots.insert(row.get("store_product_id"), offer(&row));
    }
    let rows = client.query(include_str!("../sql/crawls/shelves.sql"), &[&platform]).await?;
    let shelf = |row: &Row| {
        let id: i64 = row.get("id");
        shelf(row, variants.remove(&id).unwrap_or_default(), snapshots.remove(&id))
    };
    Ok(rows.iter().map(shelf).collect())
}

fn shelf(row: &Row, variants: Vec<Variant>, snapshot: Option<Offer>) -> Shelf {
    Shelf {
        platform_dispensary_id: row.get("platform_dispensary_id"),
        provider_product_id: row.get("provider_product_id"),
        name: row.get("name_raw"),
        brand: row.get("brand_name_raw"),
        category: row.get("category"),
        subcategory: row.get("subcategory"),
        strain_type: row.get("strain_type"),
        image_url: row.get("image_url"),
        consecutive_misses: row.get("consecutive_misses"),
        offer: offer(row),
        variants,
        snapshot,
    }
}

fn offer(row: &Row) -> Offer {
    Offer {
        price_rec: row.get("price_rec"),
        price_med: row.get("price_med"),
        special_price_rec: row.get("special_price_rec"),
        special_price_med: row.get("special_price_med"),
        is_on_special: row.get("is_on_special"),
        thc: Strength { min: row.get("thc_min"), max: row.get("thc_max"), unit: row.get("thc_unit") },
        cbd: Strength { min: row.get("cbd_min"), max: row.get("cbd_max"), unit: row.get("cbd_unit") },
        quantity: row.get("quantity"),
        quantity_censored: row.get("quantity_censored"),
        is_in_stock: row.get("is_in_stock"),
        stock_status: row.get("stock_status"),
    }
}

fn variant(row: &Row) -> Variant {
    Variant {
        option_label: row.get("option_label"),
        nth: row.get("nth"),
        size_mg: row.get("size_mg"),
        size_ml: row.get("size_ml"),
        price_rec: row.get("price_rec"),
        price_med: row.get("price_med"),
        special_price_rec: row.get("special_price_rec"),
        special_price_med: row.get("special_price_med"),
        quantity: row.get("quantity"),
        quantity_censored: row.get("quantity_censored"),
        is_in_stock: row.get("is_in_stock"),
    }
}
