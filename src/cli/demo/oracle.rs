//! Compares products, their options with prices by unit, their latest snapshots and the changes that a crawl shows with the simulator's oracle,
//! field by field.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use sim::Simulator;
use strum::VariantArray;

use super::platforms;
use crate::simulated;
use db::demo::report;
use db::demo::report::changes::{self, ChangeRecord};
use db::demo::report::products::{self, ProductRecord};
use db::demo::report::unit_prices::{self, UnitPriceRecord};
use db::{Client, DbError};
use domain::store::Platform;

/// Maximum number of fields that an example names.
const MAX_FIELDS: usize = 3;
/// Maximum listed differences; all are counted.
const MAX_EXAMPLES: usize = 20;

#[derive(Clone, Debug, Default, Serialize)]
pub struct OracleReport {
    pub equal: bool,
    pub differences: usize,
    #[serde(skip)]
    pub examples: Vec<String>,
}

/// Compares the products of all ordinary stores, and of Dutchie's also the prices by unit and the changes that crawls `since`
/// then show. `stores`: their number.
pub async fn compare(
    client: &Client,
    sim: &Simulator,
    stores: usize,
    since: DateTime<Utc>,
) -> Result<OracleReport, DbError> {
    let mut differences = Vec::new();
    for platform in Platform::VARIANTS {
        differences.extend(in_products(client, sim, stores, *platform).await?);
    }
    let dutchie = platforms::of_platform(sim, Platform::Dutchie, stores, sim.stores_of(Platform::Dutchie));
    let compared: HashSet<String> = dutchie.into_iter().map(|store| store.platform_dispensary_id).collect();
    differences.extend(in_unit_prices(client, sim, &compared).await?);
    differences.extend(in_changes(client, sim, since, &compared).await?);
    let (equal, count) = (differences.is_empty(), differences.len());
    differences.truncate(MAX_EXAMPLES);
    Ok(OracleReport { equal, differences: count, examples: differences })
}

async fn in_products(
    client: &Client,
    sim: &Simulator,
    stores: usize,
    platform: Platform,
) -> Result<Vec<String>, DbError> {
    let oracle = platforms::of_platform(sim, platform, stores, sim.oracle_of(platform, sim.crawl()));
    let compared: HashSet<&str> = oracle.iter().map(|store| store.platform_dispensary_id.as_str()).collect();
    let products = products::all(client, platform).await?;
    let mut found: HashMap<(String, String), ProductRecord> = products
        .into_iter()
        .filter(|record| compared.contains(record.platform_dispensary_id.as_str()))
        .map(|record| ((record.platform_dispensary_id.clone(), record.provider_product_id.clone()), record))
        .collect();
    let mut differences = Vec::new();
    for store in &oracle {
        for truth in &store.products {
            let key = (store.platform_dispensary_id.clone(), truth.provider_product_id.clone());
            let expected = simulated::product_record(&key.0, truth);
            match found.remove(&key) {
                None => differences.push(format!("{} is missing", named(&expected))),
                Some(row) if row != expected => {
                    differences.push(format!("{}: {}", named(&row), fields(&row, &expected)));
                }
                Some(_) => {}
            }
        }
    }
    differences.extend(found.values().map(|row| format!("{} should not be there", named(row))));
    Ok(differences)
}

async fn in_unit_prices(client: &Client, sim: &Simulator, compared: &HashSet<String>) -> Result<Vec<String>, DbError> {
    let is_compared = |record: &UnitPriceRecord| compared.contains(&record.platform_dispensary_id);
    let mut found = unit_prices::all(client, Platform::Dutchie).await?;
    found.retain(is_compared);
    let mut expected: Vec<UnitPriceRecord> =
        sim.oracle_unit_prices(sim.crawl()).iter().map(simulated::unit_price_record).collect();
    expected.retain(is_compared);
    Ok(report::differences("prices by unit", &found, &expected))
}

async fn in_changes(
    client: &Client,
    sim: &Simulator,
    since: DateTime<Utc>,
    compared: &HashSet<String>,
) -> Result<Vec<String>, DbError> {
    let followed = changes::followed(client, since).await?;
    let is_compared = |store: &String| followed.contains(store) && compared.contains(store);
    let mut found = changes::since(client, Platform::Dutchie, since).await?;
    found.retain(|record| is_compared(&record.platform_dispensary_id));
    let mut expected: Vec<ChangeRecord> =
        sim.oracle_changes(sim.crawl()).iter().map(simulated::change_record).collect();
    expected.retain(|record| is_compared(&record.platform_dispensary_id));
    Ok(report::differences("change", &found, &expected))
}

fn named(record: &ProductRecord) -> String {
    format!("product {} ({}) of store {}", record.provider_product_id, record.name, record.platform_dispensary_id)
}

/// The fields that differ, with both values.
fn fields(row: &ProductRecord, expected: &ProductRecord) -> String {
    let (mut is, mut should_be) = (BTreeMap::new(), BTreeMap::new());
    collect(String::new(), &json!(row), &mut is);
    collect(String::new(), &json!(expected), &mut should_be);
    let names: BTreeSet<&String> = is.keys().chain(should_be.keys()).collect();
    let value = |of: &BTreeMap<String, String>, name| of.get(name).cloned().unwrap_or_else(|| "absent".to_owned());
    let differing = names.into_iter().filter(|name| is.get(*name) != should_be.get(*name));
    let texts: Vec<String> = differing
        .map(|name| format!("{name} is {} and should be {}", value(&is, name), value(&should_be, name)))
        .collect();
    match texts.len().checked_sub(MAX_FIELDS) {
        None | Some(0) => texts.join(", "),
        Some(more) => format!("{}, and {more} more fields", texts[..MAX_FIELDS].join(", ")),
    }
}

/// Every single value of a document, under its path: `offer.price_rec`, `variants.0.nth`.
fn collect(path: String, value: &Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| collect(below(name), value, into)),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(at, value)| collect(below(&at.to_string()), value, into));
        }
        single => drop(into.insert(path, single.to_string())),
    }
}
