//! Jane's part of the oracle: the expected content of a product table after crawls 1 … n of its stores.
//!
//! Computed from the truth about a product, never from hits. The index knows no stock: a product that is in it is sold.

use super::goods::{JaneOption, JaneProduct, store_id};
use super::hit::dose;
use crate::catalogue::StoreSeed;
use crate::oracle::{MISSES_OUT_OF_STOCK, OraclePotency, OracleProduct, OracleStore, OracleVariant, bargain, lowest};
use crate::pictures;
use crate::potency::Content;
use crate::world::World;

pub(crate) fn store(world: &World, store: &StoreSeed, crawl: u32) -> OracleStore {
    OracleStore {
        platform_dispensary_id: store_id(store).to_string(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    }
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let seen = |crawl: u32| Some((crawl, JaneProduct::listed(world, store, index, crawl)?));
    let (last_seen_crawl, product) = (1..=crawl).rev().find_map(seen)?;
    let misses = (crawl - last_seen_crawl).min(MISSES_OUT_OF_STOCK);
    let is_gone = misses == MISSES_OUT_OF_STOCK;
    let variants: Vec<OracleVariant> =
        product.options.iter().map(|option| variant(&product, option, is_gone)).collect();
    let (price_rec, special_price_rec) = lowest(&variants, |v| (v.price_rec, v.special_price_rec));
    let (price_med, special_price_med) = lowest(&variants, |v| (v.price_med, v.special_price_med));
    let image_url = product.truth.picture.url().map(str::to_owned);
    Some(OracleProduct {
        provider_product_id: product.id(store),
        name: product.truth.name.clone(),
        brand: product.brand().map(str::to_owned),
        category: product.kind,
        subcategory: product.subtype,
        strain_type: product.lineage,
        picture: image_url.as_deref().and_then(|url| pictures::product(world, url)),
        image_url,
        brand_image_url: product.logo().map(str::to_owned),
        price_rec,
        price_med,
        special_price_rec,
        special_price_med,
        is_on_special: variants.iter().any(|v| v.special_price_rec.is_some() || v.special_price_med.is_some()),
        thc: potency(&product, product.truth.thc),
        cbd: potency(&product, product.truth.cbd),
        quantity: None,
        quantity_censored: false,
        is_in_stock: !is_gone,
        stock_status: if is_gone { "oos" } else { "unknown" },
        consecutive_misses: misses as i32,
        is_present: misses == 0,
        last_seen_crawl,
        variants,
    })
}

fn variant(product: &JaneProduct<'_>, option: &JaneOption, is_gone: bool) -> OracleVariant {
    let (regular, special) = (Some(option.price.regular.cents()), bargain(option.price));
    let rec = |cents: Option<i32>| cents.filter(|_| product.is_recreational);
    let med = |cents: Option<i32>| cents.filter(|_| product.is_medical);
    OracleVariant {
        label: option.weight.label,
        nth: 0,
        size_mg: product.mg(option),
        size_ml: None,
        price_rec: rec(regular),
        price_med: med(regular),
        special_price_rec: rec(special),
        special_price_med: med(special),
        quantity: None,
        quantity_censored: false,
        is_in_stock: !is_gone,
    }
}

fn potency(product: &JaneProduct<'_>, content: Content) -> OraclePotency {
    let of = |min, max, unit| OraclePotency { min: Some(min), max: Some(max), unit: Some(unit) };
    match content {
        _ if !product.is_by_weight() => dose(content).map(|mg| of(mg, mg, "MILLIGRAMS")).unwrap_or_default(),
        Content::Range(low, high) => of(low, high, "PERCENTAGE"),
        content => dose(content).map(|percent| of(percent, percent, "PERCENTAGE")).unwrap_or_default(),
    }
}
