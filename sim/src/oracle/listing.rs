//! `Listing`: a product as a platform lists it that shows only what it has, and the row that it must leave.
//!
//! In: the fields in which platforms differ, and when the product was seen. Out: an [`OracleProduct`]. It must not know a platform.

use super::{MISSES_OUT_OF_STOCK, OraclePotency, OracleProduct, OracleVariant, lowest};
use crate::pictures;
use crate::product::Product;
use crate::world::World;

pub(crate) struct Listing<'a> {
    pub(crate) id: String,
    pub(crate) truth: &'a Product<'a>,
    pub(crate) category: Option<&'static str>,
    pub(crate) subcategory: Option<&'static str>,
    pub(crate) strain_type: Option<&'static str>,
    pub(crate) logo: Option<&'a str>,
    pub(crate) thc: OraclePotency,
    pub(crate) cbd: OraclePotency,
    pub(crate) quantity: Option<i32>,
    pub(crate) stock_status: &'static str,
    /// Its options as they were when it was last seen.
    pub(crate) variants: Vec<OracleVariant>,
}

/// The last time that a product was on a menu.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    crawl: u32,
    misses: u32,
}

impl Seen {
    /// The last of the crawls 1 … `crawl` that listed something, and what it listed; none = not seen yet.
    pub(crate) fn last<T>(crawl: u32, listed: impl Fn(u32) -> Option<T>) -> Option<(Seen, T)> {
        let (last, listed) = (1..=crawl).rev().find_map(|earlier| Some((earlier, listed(earlier)?)))?;
        Some((Seen { crawl: last, misses: (crawl - last).min(MISSES_OUT_OF_STOCK) }, listed))
    }
}

impl Listing<'_> {
    pub(crate) fn row(self, world: &World, seen: Seen) -> OracleProduct {
        let Listing { truth, mut variants, .. } = self;
        let is_gone = seen.misses == MISSES_OUT_OF_STOCK;
        let stock_status = if is_gone { "oos" } else { self.stock_status };
        variants.iter_mut().for_each(|variant| variant.is_in_stock &= !is_gone);
        let (price_rec, special_price_rec) = lowest(&variants, |v| (v.price_rec, v.special_price_rec));
        let (price_med, special_price_med) = lowest(&variants, |v| (v.price_med, v.special_price_med));
        let image_url = truth.picture.url();
        OracleProduct {
            provider_product_id: self.id,
            name: truth.name.clone(),
            brand: truth.brand_name().map(str::to_owned),
            category: self.category,
            subcategory: self.subcategory,
            strain_type: self.strain_type,
            picture: image_url.and_then(|url| pictures::product(world, url)),
            image_url: image_url.map(str::to_owned),
            brand_image_url: self.logo.map(str::to_owned),
            price_rec,
            price_med,
            special_price_rec,
            special_price_med,
            is_on_special: variants.iter().any(|v| v.special_price_rec.is_some() || v.special_price_med.is_some()),
            thc: self.thc,
            cbd: self.cbd,
            quantity: self.quantity,
            quantity_censored: false,
            is_in_stock: stock_status != "oos",
            stock_status,
            consecutive_misses: seen.misses as i32,
            is_present: seen.misses == 0,
            last_seen_crawl: seen.crawl,
            variants,
        }
    }
}
