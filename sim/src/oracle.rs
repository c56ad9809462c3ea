//! The oracle: what a product table must hold after crawls 1 … n, each of them complete.
//!
//! Computed from the generator's truth, never from the JSON, so that it can disagree with a reader of that JSON.

use crate::brand::Naming;
use crate::catalogue::StoreSeed;
use crate::presence;
use crate::product::{Offer, Product, Special, Stock};
use crate::world::World;

/// Misses in a row that empty a shelf, and where counting stops.
const MISSES_OUT_OF_STOCK: u32 = 3;
const POS_CAP: i32 = 25;

#[derive(Clone, Debug, PartialEq)]
pub struct OracleStore {
    pub platform_dispensary_id: String,
    /// Every product seen so far, in no particular order.
    pub products: Vec<OracleProduct>,
}

/// Columns of one product's row; prices in cents. While it is missing they are those of `last_seen_crawl`, but for the stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleProduct {
    pub provider_product_id: String,
    pub name: String,
    pub brand: Option<String>,
    pub category: &'static str,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    /// `in_stock`, `oos` or `unknown`.
    pub stock_status: &'static str,
    pub consecutive_misses: i32,
    /// In the feed of the crawl asked for.
    pub is_present: bool,
    pub last_seen_crawl: u32,
    /// Rows in the variant table: options it was last seen with.
    pub variants: usize,
}

pub(crate) fn store(world: &World, store: &StoreSeed, crawl: u32) -> OracleStore {
    OracleStore {
        platform_dispensary_id: store.platform_dispensary_id.clone(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    }
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let last_seen_crawl = presence::last_seen(world.seed, store.index, index, crawl)?;
    let truth = Product::of(world.seed, &world.brands, store, index, last_seen_crawl);
    let misses = (crawl - last_seen_crawl).min(MISSES_OUT_OF_STOCK);
    let stock = stock_after(seen_stock(&truth), misses);
    let special_price_rec = special(&truth, true, |offer| offer.rec_special);
    let special_price_med = special(&truth, truth.lists_med_prices, |offer| offer.med_special);
    Some(OracleProduct {
        brand: (truth.naming != Naming::Nameless).then(|| truth.brand.name.clone()),
        category: truth.category.name,
        price_rec: truth.offers.iter().map(|offer| offer.rec.cents()).min(),
        price_med: truth.offers.iter().filter(|_| truth.lists_med_prices).map(|offer| offer.med.cents()).min(),
        special_price_rec,
        special_price_med,
        is_on_special: special_price_rec.is_some() || special_price_med.is_some(),
        quantity: quantity(&truth),
        quantity_censored: truth.stock == Stock::Pos && truth.offers.iter().any(|offer| offer.units as i32 >= POS_CAP),
        is_in_stock: stock != "oos",
        stock_status: stock,
        consecutive_misses: misses as i32,
        is_present: misses == 0,
        last_seen_crawl,
        variants: truth.offers.len(),
        provider_product_id: truth.id,
        name: truth.name,
    })
}

fn seen_stock(truth: &Product<'_>) -> &'static str {
    match truth.stock {
        _ if !truth.active => "oos",
        Stock::Unknown => "unknown",
        Stock::Pos | Stock::Manual if truth.offers.iter().all(|offer| offer.units == 0) => "oos",
        Stock::Pos | Stock::Manual => "in_stock",
    }
}

fn stock_after(seen: &'static str, misses: u32) -> &'static str {
    if misses >= MISSES_OUT_OF_STOCK { "oos" } else { seen }
}

fn quantity(truth: &Product<'_>) -> Option<i32> {
    let units = truth.offers.iter().map(|offer| offer.units as i32);
    match truth.stock {
        Stock::Unknown => None,
        Stock::Manual => Some(units.sum()),
        Stock::Pos => Some(units.map(|units| units.min(POS_CAP)).sum()),
    }
}

fn special(truth: &Product<'_>, lists: bool, of: impl Fn(&Offer) -> Special) -> Option<i32> {
    let lower = |offer: &Offer| match of(offer) {
        Special::Lower(price) => Some(price.cents()),
        Special::None | Special::NotLower(_) => None,
    };
    truth.offers.iter().filter(|_| lists).filter_map(lower).min()
}
