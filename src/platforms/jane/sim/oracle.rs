//! Jane's part of the oracle: the expected content of a product table after crawls 1 … n of its stores.
//!
//! Computed from the truth about a product, never from hits. The index knows no stock: a product that is in it is sold.

use super::goods::{JaneOption, JaneProduct, store_id};
use super::hit::dose;
use crate::catalogue::StoreSeed;
use crate::oracle::listing::{Listing, Seen};
use crate::oracle::{OraclePotency, OracleProduct, OracleStore, OracleVariant, bargain};
use crate::potency::Content;
use crate::world::World;

pub(crate) fn oracle(world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
    Some(OracleStore {
        platform_dispensary_id: store_id(store).to_string(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    })
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let (seen, product) = Seen::last(crawl, |crawl| JaneProduct::listed(world, store, index, crawl))?;
    let listing = Listing {
        id: product.id(store),
        truth: &product.truth,
        category: product.kind,
        subcategory: product.subtype,
        strain_type: product.lineage,
        logo: product.truth.logo(),
        thc: potency(&product, product.truth.thc),
        cbd: potency(&product, product.truth.cbd),
        quantity: None,
        stock_status: "unknown",
        variants: product.options.iter().map(|option| variant(&product, option)).collect(),
    };
    Some(listing.row(world, seen))
}

fn variant(product: &JaneProduct<'_>, option: &JaneOption) -> OracleVariant {
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
        is_in_stock: true,
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
