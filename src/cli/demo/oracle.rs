//! Compares products, their options and their latest snapshots with the simulator's oracle, field by field.

use std::collections::HashMap;

use serde::Serialize;
use sim::{OraclePotency, OracleProduct, OracleVariant, Simulator};

use crate::db::demo_report::products::{self, Offer, ProductRecord, Strength};
use crate::db::{Client, DbError};
use crate::domain::product::Variant;
use crate::domain::store::Platform;

/// Differences that are listed; all are counted.
const MAX_EXAMPLES: usize = 20;

#[derive(Clone, Debug, Default, Serialize)]
pub struct OracleReport {
    pub equal: bool,
    pub differences: usize,
    #[serde(skip)]
    pub examples: Vec<String>,
}

pub async fn compare(client: &Client, sim: &Simulator) -> Result<OracleReport, DbError> {
    let products = products::all(client, Platform::Dutchie).await?;
    let mut found: HashMap<(String, String), ProductRecord> = products
        .into_iter()
        .map(|record| ((record.platform_dispensary_id.clone(), record.provider_product_id.clone()), record))
        .collect();
    let mut differences = Vec::new();
    for store in sim.oracle(sim.crawl()) {
        for truth in &store.products {
            let key = (store.platform_dispensary_id.clone(), truth.provider_product_id.clone());
            let expected = expected(&key.0, truth);
            match found.remove(&key) {
                None => differences.push(format!("missing: {expected:?}")),
                Some(row) if row != expected => differences.push(format!("is {row:?}, should be {expected:?}")),
                Some(_) => {}
            }
        }
    }
    differences.extend(found.values().map(|row| format!("should not be there: {row:?}")));
    let (equal, count) = (differences.is_empty(), differences.len());
    differences.truncate(MAX_EXAMPLES);
    Ok(OracleReport { equal, differences: count, examples: differences })
}

fn expected(store: &str, truth: &OracleProduct) -> ProductRecord {
    let mut variants: Vec<Variant> = truth.variants.iter().map(variant).collect();
    variants.sort_by(|one, other| (&one.option_label, one.nth).cmp(&(&other.option_label, other.nth)));
    ProductRecord {
        platform_dispensary_id: store.to_owned(),
        provider_product_id: truth.provider_product_id.clone(),
        name: truth.name.clone(),
        brand: truth.brand.clone(),
        category: Some(truth.category.to_owned()),
        subcategory: truth.subcategory.map(str::to_owned),
        strain_type: truth.strain_type.map(str::to_owned),
        image_url: truth.image_url.clone(),
        consecutive_misses: truth.consecutive_misses,
        offer: offer(truth),
        variants,
        snapshot: truth.is_present.then(|| offer(truth)),
    }
}

fn offer(truth: &OracleProduct) -> Offer {
    Offer {
        price_rec: truth.price_rec,
        price_med: truth.price_med,
        special_price_rec: truth.special_price_rec,
        special_price_med: truth.special_price_med,
        is_on_special: truth.is_on_special,
        thc: strength(truth.thc),
        cbd: strength(truth.cbd),
        quantity: truth.quantity,
        quantity_censored: truth.quantity_censored,
        is_in_stock: truth.is_in_stock,
        stock_status: truth.stock_status.to_owned(),
    }
}

fn strength(truth: OraclePotency) -> Strength {
    Strength { min: truth.min, max: truth.max, unit: truth.unit.map(str::to_owned) }
}

fn variant(truth: &OracleVariant) -> Variant {
    Variant {
        option_label: truth.label.to_owned(),
        nth: truth.nth,
        size_mg: truth.size_mg,
        size_ml: truth.size_ml,
        price_rec: truth.price_rec,
        price_med: truth.price_med,
        special_price_rec: truth.special_price_rec,
        special_price_med: truth.special_price_med,
        quantity: truth.quantity,
        quantity_censored: truth.quantity_censored,
        is_in_stock: truth.is_in_stock,
    }
}
