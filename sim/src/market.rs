//! `Market`: invented makers with catalogues, and stores that list the same products in words of their own.
//!
//! In: settings. Out: the listings of a store, each with its true product. They depend on the settings and the store
//! only, never on the order of calls. It must not know how listings are matched: it exists to measure that. Nothing of
//! it is served by the simulator.

mod amounts;
mod brands;
mod catalogue;
mod kinds;
mod listing;
mod makers;
mod names;
mod platform_words;
mod shops;
mod stated;
mod style;
mod typing;
mod wording;
mod words;
mod written_name;

#[cfg(test)]
mod tests;

pub use catalogue::{Difference, Twin};

use domain::menu::product::PotencyUnit;
use domain::store::Platform;

use crate::draw::{Draw, Topic};
use catalogue::Catalogue;
use listing::Place;
use makers::Maker;
use shops::{Assortments, Shop};

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    /// One or more.
    pub makers: usize,
    /// True products, near-twins among them.
    pub products: usize,
    pub stores: usize,
    pub listings_per_store: usize,
}

pub struct Market {
    settings: Settings,
    makers: Vec<Maker>,
    catalogue: Catalogue,
    shops: Vec<Shop>,
    assortments: Assortments,
}

/// A product as a store lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub store: usize,
    /// Retail chain of the store. Its stores are of one platform, and share spelling and `enterprise_product_id`s.
    pub chain: Option<usize>,
    pub platform: Platform,
    pub truth: Truth,
    pub name: String,
    pub brand: Option<String>,
    /// The platform's id of the maker, if it has ids of brands.
    pub brand_id: Option<String>,
    /// The platform's type.
    pub category: String,
    pub subcategory: Option<String>,
    /// May be "N/A".
    pub strain_type: Option<String>,
    pub enterprise_product_id: Option<String>,
    /// Labels; "N/A" and "each" state nothing. Never empty.
    pub options: Vec<String>,
    pub thc: Option<Thc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    pub product: usize,
    pub maker: usize,
    /// A careful person with the listing and the maker's catalogue finds the product.
    pub is_decidable: bool,
}

/// THC as the platform states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thc {
    pub value: f64,
    pub unit: PotencyUnit,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 1, makers: 96, products: 8_000, stores: 200, listings_per_store: 500 }
    }
}

impl Market {
    pub fn new(settings: Settings) -> Market {
        let makers = Maker::all(settings.seed, settings.makers.max(1));
        let catalogue = Catalogue::new(settings.seed, &makers, settings.products);
        let shops = shops::all(&settings);
        let assortments = Assortments::new(&settings, catalogue.products.len());
        Market { settings, makers, catalogue, shops, assortments }
    }

    /// The listings of a store, each of another product; none of a store that there is not.
    pub fn listings(&self, store: usize) -> Vec<Listing> {
        let Some(shop) = self.shops.get(store) else {
            return Vec::new();
        };
        let (seed, makers, catalogue) = (self.settings.seed, &self.makers, &self.catalogue);
        let place = Place { seed, store, shop, makers, catalogue };
        let products = self.assortments.of(&self.settings, store);
        products.into_iter().map(|product| place.listing(product)).collect()
    }

    pub fn makers(&self) -> usize {
        self.makers.len()
    }

    /// Number of true products.
    pub fn products(&self) -> usize {
        self.catalogue.products.len()
    }

    pub fn stores(&self) -> usize {
        self.shops.len()
    }

    /// The near-twin of a product that was made as one, so that mistakes can be counted by what differs.
    pub fn twin(&self, product: usize) -> Option<Twin> {
        self.catalogue.products.get(product)?.twin
    }

    /// Number of products that were made as near-twins of another one.
    pub fn twins(&self) -> usize {
        self.catalogue.twins()
    }
}

/// Use of a draw within the market.
#[derive(Clone, Copy)]
enum Subject {
    Maker,
    BrandId,
    Name,
    Product,
    Twin,
    Shop,
    Rank,
    Home,
    Assortment,
    Wording,
    Listing,
    EnterpriseId,
}

fn draw_of(seed: u64, subject: Subject, keys: &[u64]) -> Draw {
    Draw::of(seed, Topic::Market, &[&[subject as u64], keys].concat())
}
