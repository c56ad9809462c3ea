//! Weedmaps' part of the oracle: the expected content of a product table after crawls 1 … n of its listings.
//!
//! Computed from the truth about an item, never from a menu. It knows no stock: an item that is on the menu is sold.

use super::goods::{Tier, WeedmapsItem, amount};
use super::listings::wmid;
use crate::catalogue::StoreSeed;
use crate::oracle::{MISSES_OUT_OF_STOCK, OraclePotency, OracleProduct, OracleStore, OracleVariant, lowest};
use crate::pictures;
use crate::potency::{self, Content};
use crate::size::{self, Size};
use crate::world::World;

pub(crate) fn store(world: &World, store: &StoreSeed, crawl: u32) -> OracleStore {
    OracleStore {
        platform_dispensary_id: wmid(store).to_string(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    }
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let seen = |crawl: u32| Some((crawl, WeedmapsItem::listed(world, store, index, crawl)?));
    let (last_seen_crawl, item) = (1..=crawl).rev().find_map(seen)?;
    let misses = (crawl - last_seen_crawl).min(MISSES_OUT_OF_STOCK);
    let is_gone = misses == MISSES_OUT_OF_STOCK;
    let variants = variants(&item, is_gone);
    let (price_rec, special_price_rec) = lowest(&variants, |v| (v.price_rec, v.special_price_rec));
    let (price_med, special_price_med) = lowest(&variants, |v| (v.price_med, v.special_price_med));
    let image_url = item.truth.picture.url().map(str::to_owned);
    Some(OracleProduct {
        provider_product_id: item.id.to_string(),
        name: item.truth.name.clone(),
        brand: item.brand().map(str::to_owned),
        category: Some(item.truth.category.name),
        subcategory: item.subcategory(),
        strain_type: item.lineage(),
        picture: image_url.as_deref().and_then(|url| pictures::product(world, url)),
        image_url,
        brand_image_url: item.logo().map(str::to_owned),
        price_rec,
        price_med,
        special_price_rec,
        special_price_med,
        is_on_special: variants.iter().any(|v| v.special_price_rec.is_some() || v.special_price_med.is_some()),
        thc: potency(&item, item.truth.thc),
        cbd: potency(&item, item.truth.cbd),
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

/// The options in the menu's order; the same at the same price is one.
fn variants(item: &WeedmapsItem<'_>, is_gone: bool) -> Vec<OracleVariant> {
    let mut variants: Vec<OracleVariant> = Vec::new();
    for tier in item.tiers() {
        let mut variant = variant(item, &tier, is_gone);
        let prices = |of: &OracleVariant| (of.price_rec, of.price_med, of.special_price_rec, of.special_price_med);
        let of_label = || variants.iter().filter(|earlier| earlier.label == variant.label);
        if of_label().any(|earlier| prices(earlier) == prices(&variant)) {
            continue;
        }
        variant.nth = of_label().count() as i16;
        variants.push(variant);
    }
    variants
}

fn variant(item: &WeedmapsItem<'_>, tier: &Tier, is_gone: bool) -> OracleVariant {
    let [is_rec, is_med] = item.buyers();
    let (regular, special) = (tier.price.regular.cents(), tier.special().map(|special| special.cents()));
    let size = size::stated(tier.label).or(item.weight_mg(tier).map(Size::Mg));
    OracleVariant {
        label: tier.label,
        nth: 0,
        size_mg: if let Some(Size::Mg(mg)) = size { Some(mg) } else { None },
        size_ml: if let Some(Size::Ml(ml)) = size { Some(ml) } else { None },
        price_rec: is_rec.then_some(regular),
        price_med: is_med.then_some(regular),
        special_price_rec: special.filter(|_| is_rec),
        special_price_med: special.filter(|_| is_med),
        quantity: None,
        quantity_censored: false,
        is_in_stock: !is_gone,
    }
}

fn potency(item: &WeedmapsItem<'_>, content: Content) -> OraclePotency {
    let unit = Some(potency::unit(item.truth.category.potency));
    let known = amount(content).filter(|amount| *amount > 0.0);
    known.map(|amount| OraclePotency { min: Some(amount), max: Some(amount), unit }).unwrap_or_default()
}
