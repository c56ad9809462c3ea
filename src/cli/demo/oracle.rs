//! Compares products, their options and their latest snapshots with the simulator's oracle, field by field.

use std::collections::HashMap;

use serde::Serialize;
use sim::Simulator;

use crate::simulated;
use db::demo_report::products::{self, ProductRecord};
use db::{Client, DbError};
use domain::store::Platform;

/// Maximum listed differences; all are counted.
const MAX_EXAMPLES: usize = 20;

#[derive(Clone, Debug, Default, Serialize)]
pub struct OracleReport {
    pub equal: bool,
    pub differences: usize,
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// Compares all stores but the one with the platform id `apart`.
pub async fn compare(client: &Client, sim: &Simulator, apart: Option<&str>) -> Result<OracleReport, DbError> {
    let products = products::all(client, Platform::Dutchie).await?;
    let mut found: HashMap<(String, String), ProductRecord> = products
        .into_iter()
        .filter(|record| apart != Some(record.platform_dispensary_id.as_str()))
        .map(|record| ((record.platform_dispensary_id.clone(), record.provider_product_id.clone()), record))
        .collect();
    let mut differences = Vec::new();
    let oracle = sim.oracle(sim.crawl());
    for store in oracle.iter().filter(|store| apart != Some(store.platform_dispensary_id.as_str())) {
        for truth in &store.products {
            let key = (store.platform_dispensary_id.clone(), truth.provider_product_id.clone());
            let expected = simulated::product_record(&key.0, truth);
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
