//! The stored products, each with its variants and the snapshot of its store's latest crawl, for comparison
//! with an oracle.

use std::collections::HashMap;

use serde::Serialize;
use tokio_postgres::Row;

use crate::statements::{FromRow, rows, sql};
use crate::{Client, DbError};
use domain::menu::product::Variant;
use domain::store::Platform;

/// A product as the tables hold it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProductRecord {
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
    /// Variants by label, then by number.
    pub variants: Vec<Variant>,
    /// None when the latest crawl of its store did not contain it.
    pub snapshot: Option<Offer>,
}

/// Fields that both a product's row and its snapshots have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Offer {
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub thc: PotencyRecord,
    pub cbd: PotencyRecord,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub stock_status: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PotencyRecord {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub unit: Option<String>,
}

/// Every product of the platform.
pub async fn all(client: &Client, platform: Platform) -> Result<Vec<ProductRecord>, DbError> {
    let platform = platform.name();
    let mut variants: HashMap<i64, Vec<Variant>> = HashMap::new();
    for row in client.query(sql!("demo/report/variants.sql"), &[&platform]).await? {
        variants.entry(row.try_get("store_product_id")?).or_default().push(Variant::from_row(&row)?);
    }
    let mut snapshots: HashMap<i64, Offer> = HashMap::new();
    for row in client.query(sql!("demo/report/snapshots.sql"), &[&platform]).await? {
        snapshots.insert(row.try_get("store_product_id")?, Offer::from_row(&row)?);
    }
    let rows = client.query(sql!("demo/report/products.sql"), &[&platform]).await?;
    let read = |row: &Row| {
        let id: i64 = row.try_get("id")?;
        let (variants, snapshot) = (variants.remove(&id).unwrap_or_default(), snapshots.remove(&id));
        Ok(ProductRecord { variants, snapshot, ..ProductRecord::from_row(row)? })
    };
    rows.iter().map(read).collect()
}

fn potency(row: &Row, name: &str) -> Result<PotencyRecord, DbError> {
    Ok(PotencyRecord {
        min: row.try_get(&*format!("{name}_min"))?,
        max: row.try_get(&*format!("{name}_max"))?,
        unit: row.try_get(&*format!("{name}_unit"))?,
    })
}

rows! {
    ProductRecord {
        platform_dispensary_id, provider_product_id,
        name: "name_raw",
        brand: "brand_name_raw",
        category, subcategory, strain_type, image_url, consecutive_misses,
        offer: row,
        variants = Vec::new(),
        snapshot = None,
    }

    Offer {
        price_rec, price_med, special_price_rec, special_price_med, is_on_special,
        thc: potency,
        cbd: potency,
        quantity, quantity_censored, is_in_stock, stock_status,
    }
}
