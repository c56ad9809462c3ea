//! Sums of a crawl's rows, store by store: equal sums are a right crawl.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use db::demo::report::products::{Offer, PotencyRecord, ProductRecord};
use tokio_postgres::Row;

/// Sums by name, such as `price_rec`; `peers/sums.sql` has the same names.
pub type Sums = BTreeMap<String, i64>;
/// Sums by platform dispensary id.
pub type SumsByStore = BTreeMap<String, Sums>;

pub fn of_records(records: impl Iterator<Item = ProductRecord>) -> SumsByStore {
    let mut stores = SumsByStore::new();
    for record in records {
        let sums = stores.entry(record.platform_dispensary_id.clone()).or_default();
        for (name, value) in values(&record) {
            match sums.get_mut(name) {
                Some(sum) => *sum += value,
                None => drop(sums.insert(name.to_owned(), value)),
            }
        }
    }
    stores
}

/// The sums of one store, from a row whose columns have their names.
pub fn of_row(row: &Row) -> Result<Sums> {
    let columns = row.columns().iter().enumerate().filter(|(_, column)| column.name() != "store");
    columns.map(|(at, column)| Ok((column.name().to_owned(), row.try_get(at)?))).collect()
}

/// Products on the menus of all stores.
pub fn products(stores: &SumsByStore) -> u64 {
    stores.values().map(|sums| sums["products"].unsigned_abs()).sum()
}

/// An error that names the first store, and all its sums, that are not as they should be.
pub fn require_equal(found: &SumsByStore, expected: &SumsByStore) -> Result<()> {
    for (store, expected) in expected {
        let Some(found) = found.get(store) else { bail!("store {store} has no products") };
        let wrong = |(name, sum): (&String, &i64)| {
            let is = found.get(name);
            (is != Some(sum)).then(|| format!("{name} is {is:?} and should be {sum}"))
        };
        let wrong: Vec<String> = expected.iter().filter_map(wrong).collect();
        if !wrong.is_empty() {
            bail!("store {store}: {}", wrong.join(", "));
        }
    }
    match found.keys().find(|store| !expected.contains_key(*store)) {
        Some(store) => bail!("store {store} should not be there"),
        None => Ok(()),
    }
}

fn values(record: &ProductRecord) -> impl Iterator<Item = (&'static str, i64)> {
    let ProductRecord { offer, variants, snapshot, .. } = record;
    let of_variants = |value: fn(&domain::menu::product::Variant) -> Option<i32>| -> i64 {
        variants.iter().filter_map(value).map(i64::from).sum()
    };
    let own = [
        ("products", 1),
        ("characters", characters(record)),
        ("price_rec", number(offer.price_rec)),
        ("price_med", number(offer.price_med)),
        ("special_rec", number(offer.special_price_rec)),
        ("special_med", number(offer.special_price_med)),
        ("on_special", offer.is_on_special.into()),
        ("thc", milli(&offer.thc)),
        ("cbd", milli(&offer.cbd)),
        ("quantity", number(offer.quantity)),
        ("censored", offer.quantity_censored.into()),
        ("in_stock", offer.is_in_stock.into()),
        ("unknown_stock", (offer.stock_status == "unknown").into()),
        ("variants", variants.len() as i64),
        ("labels", variants.iter().map(|variant| variant.option_label.len() as i64).sum()),
        ("size_mg", variants.iter().filter_map(|variant| variant.size_mg).sum()),
        ("size_ml", variants.iter().filter_map(|variant| variant.size_ml).map(|ml| ml.round() as i64).sum()),
        ("variant_price_rec", of_variants(|variant| variant.price_rec)),
        ("variant_price_med", of_variants(|variant| variant.price_med)),
        ("variant_special_rec", of_variants(|variant| variant.special_price_rec)),
        ("variant_special_med", of_variants(|variant| variant.special_price_med)),
        ("variant_quantity", of_variants(|variant| variant.quantity)),
        ("snapshots", snapshot.is_some().into()),
    ];
    own.into_iter().chain(snapshot_values(snapshot.as_ref()))
}

fn snapshot_values(snapshot: Option<&Offer>) -> [(&'static str, i64); 5] {
    let of = |value: fn(&Offer) -> i64| snapshot.map_or(0, value);
    [
        ("snapshot_price_rec", of(|offer| number(offer.price_rec))),
        ("snapshot_special_rec", of(|offer| number(offer.special_price_rec))),
        ("snapshot_quantity", of(|offer| number(offer.quantity))),
        ("snapshot_in_stock", of(|offer| offer.is_in_stock.into())),
        ("snapshot_thc", of(|offer| milli(&offer.thc))),
    ]
}

fn characters(record: &ProductRecord) -> i64 {
    let given = [&record.brand, &record.category, &record.subcategory, &record.strain_type, &record.image_url];
    let texts = [&record.provider_product_id, &record.name].into_iter().chain(given.into_iter().flatten());
    texts.map(|text| text.chars().count() as i64).sum()
}

fn milli(potency: &PotencyRecord) -> i64 {
    [potency.min, potency.max].into_iter().flatten().map(|value| (value * 1000.0).round() as i64).sum()
}

fn number(value: Option<i32>) -> i64 {
    value.unwrap_or_default().into()
}
