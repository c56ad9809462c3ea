//! The oracle: the expected content of a product table after crawls 1 … n, each of them complete.
//!
//! Computed from the generator's truth, never from the JSON, so that it can disagree with a reader of that
//! JSON.

pub(crate) mod changes;
pub(crate) mod listing;
pub(crate) mod unit_prices;

use std::collections::BTreeMap;

use crate::brand::{Brand, Naming};
use crate::catalogue::StoreSeed;
use crate::category::Category;
use crate::pictures::{self, OraclePicture};
use crate::potency::{self, Content};
use crate::presence;
use crate::product::{Price, Product, Special, Stock};
use crate::size::{self, Size};
use crate::world::World;

/// Misses in a row after which a product is out of stock, and where counting stops.
pub(crate) const MISSES_OUT_OF_STOCK: u32 = 3;
const POS_CAP: i32 = 25;

#[derive(Clone, Debug, PartialEq)]
pub struct OracleStore {
    pub platform_dispensary_id: String,
    /// Every product seen up to now, in no particular order.
    pub products: Vec<OracleProduct>,
}

/// Columns of one product's row; prices in cents. While it is missing they have the values of
/// `last_seen_crawl`, except for the stock. One that is present has a snapshot of the crawl, with the same
/// prices, stock and potencies.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleProduct {
    pub provider_product_id: String,
    pub name: String,
    pub brand: Option<String>,
    /// None = the platform names none.
    pub category: Option<&'static str>,
    pub subcategory: Option<&'static str>,
    pub strain_type: Option<&'static str>,
    pub image_url: Option<String>,
    /// The file behind `image_url`; none where that is.
    pub picture: Option<OraclePicture>,
    /// The logo of its brand, where the product names it: one without a `brand` object does not (see
    /// [`OracleBrand`]).
    pub brand_image_url: Option<String>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub is_on_special: bool,
    pub thc: OraclePotency,
    pub cbd: OraclePotency,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    /// `in_stock`, `oos` or `unknown`.
    pub stock_status: &'static str,
    pub consecutive_misses: i32,
    /// Whether it is in the feed of the crawl asked for.
    pub is_present: bool,
    pub last_seen_crawl: u32,
    /// Rows in the variant table, in the feed's order: options it was last seen with, as they were then.
    pub variants: Vec<OracleVariant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OraclePotency {
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub unit: Option<&'static str>,
}

impl OraclePotency {
    /// The number as lowest and highest value, in the category's unit; empty without a number.
    pub(crate) fn exact(number: Option<f64>, category: &Category) -> OraclePotency {
        let unit = Some(potency::unit(category.potency));
        number.map(|number| OraclePotency { min: Some(number), max: Some(number), unit }).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct OracleVariant {
    pub label: &'static str,
    /// Equal labels before it.
    pub nth: i16,
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
}

/// A brand under whose name a product was seen, and its logo as the products have it.
///
/// `brand.imageUrl` and `brandLogo` come with the object `brand` only. Most products have it, including
/// products that keep the brand's name elsewhere (`brandName`, `POSMetaData`); where it is null no logo is
/// named, though a name may be, and a product without any brand never names a logo. Dutchie Plus names none
/// at all.
///
/// Some makers share a name, and each has its own logo: a table by name holds the logo of one of them.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleBrand {
    pub name: String,
    /// Address of the logo; None where the brand has no logo, or no product seen up to now names it.
    pub image_url: Option<String>,
    pub picture: Option<OraclePicture>,
}

pub(crate) fn store(world: &World, store: &StoreSeed, crawl: u32) -> OracleStore {
    OracleStore {
        platform_dispensary_id: store.platform_dispensary_id.clone(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    }
}

/// Lists the brands by name; one for each maker.
pub(crate) fn brands<'a>(world: &World, stores: impl Iterator<Item = &'a StoreSeed>, crawl: u32) -> Vec<OracleBrand> {
    let mut seen: BTreeMap<(&str, &str), (&Brand, bool)> = BTreeMap::new();
    for (store, index) in stores.flat_map(|store| (0..store.size).map(move |index| (store, index))) {
        let Some(last_seen) = presence::last_seen(world.seed, store.index, index, crawl) else { continue };
        let Product { brand, naming, .. } = world.product(store, index, last_seen);
        if naming != Naming::Nameless {
            seen.entry((&brand.name, &brand.id)).or_insert((brand, false)).1 |= naming.has_object();
        }
    }
    seen.into_values().map(|(brand, names_logo)| oracle_brand(world, brand, names_logo)).collect()
}

fn oracle_brand(world: &World, brand: &Brand, names_logo: bool) -> OracleBrand {
    let image_url = brand.image_url.clone().filter(|_| names_logo);
    let picture = image_url.as_deref().and_then(|url| pictures::logo(world, url));
    OracleBrand { name: brand.name.clone(), image_url, picture }
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let last_seen_crawl = presence::last_seen(world.seed, store.index, index, crawl)?;
    let truth = world.product(store, index, last_seen_crawl);
    let misses = (crawl - last_seen_crawl).min(MISSES_OUT_OF_STOCK);
    let is_gone = misses == MISSES_OUT_OF_STOCK;
    let stock = if is_gone { "oos" } else { seen_stock(&truth) };
    let variants = variants(&truth, is_gone);
    let (price_rec, special_price_rec) = lowest(&variants, |variant| (variant.price_rec, variant.special_price_rec));
    let (price_med, special_price_med) = lowest(&variants, |variant| (variant.price_med, variant.special_price_med));
    Some(OracleProduct {
        brand: truth.brand_name().map(str::to_owned),
        category: Some(truth.category.name),
        subcategory: truth.subcategory.filter(|name| !name.is_empty()),
        strain_type: truth.lineage(),
        image_url: truth.picture.url().map(str::to_owned),
        picture: truth.picture.url().and_then(|url| pictures::product(world, url)),
        brand_image_url: truth.brand.image_url.clone().filter(|_| truth.naming.has_object()),
        price_rec,
        price_med,
        special_price_rec,
        special_price_med,
        is_on_special: variants.iter().any(|v| v.special_price_rec.is_some() || v.special_price_med.is_some()),
        thc: potency(truth.thc, truth.category),
        cbd: potency(truth.cbd, truth.category),
        quantity: variants.iter().filter_map(|variant| variant.quantity).reduce(|sum, units| sum + units),
        quantity_censored: variants.iter().any(|variant| variant.quantity_censored),
        is_in_stock: stock != "oos",
        stock_status: stock,
        consecutive_misses: misses as i32,
        is_present: misses == 0,
        last_seen_crawl,
        variants,
        provider_product_id: truth.id,
        name: truth.name,
    })
}

/// Price and special price belong to one option, the one that costs least.
pub(crate) fn lowest(
    variants: &[OracleVariant],
    of: fn(&OracleVariant) -> (Option<i32>, Option<i32>),
) -> (Option<i32>, Option<i32>) {
    let priced = variants.iter().map(of).filter(|(price, _)| price.is_some());
    priced.min_by_key(|(price, special)| special.or(*price)).unwrap_or_default()
}

impl OracleVariant {
    /// The prices that are paid, for everyone and for patients.
    fn paid(&self) -> [Option<i32>; 2] {
        [self.special_price_rec.or(self.price_rec), self.special_price_med.or(self.price_med)]
    }
}

/// The options in the feed's order.
fn variants(truth: &Product<'_>, is_gone: bool) -> Vec<OracleVariant> {
    (0..truth.offers.len()).map(|at| variant(truth, at, is_gone)).collect()
}

fn variant(truth: &Product<'_>, at: usize, is_gone: bool) -> OracleVariant {
    let offer = &truth.offers[at];
    let size = size::stated(offer.label).or(truth.weighed.then(|| Size::Mg(size::net_weight_mg(offer.label))));
    let med = Some(offer.med).filter(|_| truth.lists_med_prices);
    let quantity = quantity(truth.stock, offer.units);
    OracleVariant {
        label: offer.label,
        nth: truth.offers[..at].iter().filter(|earlier| earlier.label == offer.label).count() as i16,
        size_mg: size.and_then(Size::mg),
        size_ml: size.and_then(Size::ml),
        price_rec: Some(offer.rec.regular.cents()),
        price_med: med.map(|price| price.regular.cents()),
        special_price_rec: bargain(offer.rec),
        special_price_med: med.and_then(bargain),
        quantity,
        quantity_censored: truth.stock == Stock::Pos && quantity == Some(POS_CAP),
        is_in_stock: truth.active && quantity != Some(0) && !is_gone,
    }
}

fn potency(content: Content, category: &Category) -> OraclePotency {
    let unit = Some(potency::unit(category.potency));
    match content {
        Content::Absent => OraclePotency::default(),
        Content::Unvalued | Content::Empty => OraclePotency { unit, ..OraclePotency::default() },
        Content::One(strength) => OraclePotency { min: Some(strength), max: Some(strength), unit },
        Content::Range(low, high) => OraclePotency { min: Some(low), max: Some(high), unit },
        Content::Number(strength) => OraclePotency { min: Some(strength), max: Some(strength), unit: None },
        Content::Text(strength) => OraclePotency { min: Some(strength), max: Some(strength), unit: Some("PERCENTAGE") },
    }
}

fn seen_stock(truth: &Product<'_>) -> &'static str {
    match truth.stock {
        _ if !truth.active => "oos",
        Stock::Unknown => "unknown",
        Stock::Pos | Stock::Manual if truth.offers.iter().all(|offer| offer.units == 0) => "oos",
        Stock::Pos | Stock::Manual => "in_stock",
    }
}

fn quantity(stock: Stock, units: u32) -> Option<i32> {
    match stock {
        Stock::Unknown => None,
        Stock::Manual => Some(units as i32),
        Stock::Pos => Some((units as i32).min(POS_CAP)),
    }
}

pub(crate) fn bargain(price: Price) -> Option<i32> {
    match price.special {
        Special::Lower(special) => Some(special.cents()),
        Special::None | Special::NotLower(_) => None,
    }
}
