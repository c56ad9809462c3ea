//! `Market`: a world whose truth is known. Makers have catalogues of their own; many stores list a true product, each in its own
//! spelling.
//!
//! In: settings. Out: the listings of each store, each with its true product and maker, and whether anything in it could decide. It
//! must not know how listings are matched. Some true products are near-twins: all but one fact of another product is theirs, too.

mod goods;
mod maker;
mod names;
mod spelling;
mod typing;

use domain::menu::product::PotencyUnit;
use domain::store::Platform;

use crate::draw::{Draw, Topic};
use goods::Goods;
use maker::Maker;
use spelling::Style;

/// Number of stores of a chain, which share ids and a style. Two stores of five belong to none.
const CHAIN: usize = 4;
/// Platforms of the stores, of which a store has one.
const PLATFORMS: [Platform; 4] = [Platform::Dutchie, Platform::Jane, Platform::Weedmaps, Platform::Leafly];

#[derive(Clone, Debug)]
pub struct Settings {
    pub seed: u64,
    pub makers: usize,
    /// True products, twins among them.
    pub products: usize,
    pub stores: usize,
    pub listings_per_store: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 1, makers: 96, products: 8_000, stores: 200, listings_per_store: 500 }
    }
}

pub struct Market {
    settings: Settings,
    makers: Vec<Maker>,
    goods: Vec<Goods>,
}

/// A product as one store lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub store: usize,
    pub platform: Platform,
    pub truth: Truth,
    pub name: String,
    pub brand: Option<String>,
    /// The platform's id of the brand.
    pub brand_id: Option<String>,
    /// The platform's type, such as `Pre-Rolls`.
    pub category: String,
    pub subcategory: Option<String>,
    pub strain_type: Option<String>,
    /// Id of the product in all stores of a chain.
    pub enterprise_product_id: Option<String>,
    /// Labels.
    pub options: Vec<String>,
    pub thc: Option<Thc>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thc {
    pub value: f64,
    pub unit: PotencyUnit,
}

/// The truth about a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    pub product: usize,
    pub maker: usize,
    /// Whether the listing says enough to know the product, for one who knows all products.
    pub is_decidable: bool,
}

impl Market {
    pub fn new(settings: Settings) -> Market {
        let makers: Vec<Maker> = maker::all(settings.seed, settings.makers);
        let goods = goods::all(settings.seed, &makers, settings.products);
        Market { settings, makers, goods }
    }

    pub fn stores(&self) -> usize {
        self.settings.stores
    }

    pub fn products(&self) -> usize {
        self.goods.len()
    }

    /// Number of true products that are near-twins of another one.
    pub fn twins(&self) -> usize {
        self.goods.iter().filter(|goods| goods.differs_in.is_some()).count()
    }

    /// The products that the store lists, each once.
    pub fn listings(&self, store: usize) -> Vec<Listing> {
        let seed = self.settings.seed;
        let chain = (store % 5 < 3).then_some(store / (5 * CHAIN) * 3 + store % 5);
        let style = Style::draw(&mut Draw::of(
            seed,
            Topic::Market,
            &[1, chain.map_or(store as u64, |chain| 1 << 32 | chain as u64)],
        ));
        let platform = match chain {
            Some(chain) => PLATFORMS[chain % PLATFORMS.len()],
            None => PLATFORMS[store % PLATFORMS.len()],
        };
        let mut draw = Draw::of(seed, Topic::Market, &[2, store as u64]);
        let picked = self.picked(&mut draw);
        let listed = picked.into_iter().map(|product| {
            let goods = &self.goods[product];
            let mut draw = Draw::of(seed, Topic::Market, &[3, store as u64, product as u64]);
            let listing = spelling::listing(&mut draw, &style, platform, goods, &self.makers[goods.maker]);
            let id = chain.map(|chain| {
                let mut draw = Draw::of(seed, Topic::Market, &[4, chain as u64, product as u64]);
                (draw.percent(70), draw.uuid())
            });
            let truth = Truth { product, maker: goods.maker, ..listing.truth };
            let enterprise_product_id = id.filter(|(has_id, _)| *has_id).map(|(_, id)| id);
            Listing { store, truth, enterprise_product_id, ..listing }
        });
        listed.collect()
    }

    /// Products of a store: a few are everywhere, most are in some stores.
    fn picked(&self, draw: &mut Draw) -> Vec<usize> {
        let wanted = self.settings.listings_per_store.min(self.goods.len());
        let mut is_picked = vec![false; self.goods.len()];
        let mut picked = Vec::with_capacity(wanted);
        let mut tries = 0;
        while picked.len() < wanted && tries < 50 * wanted {
            tries += 1;
            let skewed = draw.unit().powf(1.6);
            // products are in no order, so that any of them may be frequent
            let product = ((skewed * self.goods.len() as f64) as usize).min(self.goods.len() - 1);
            if !std::mem::replace(&mut is_picked[product], true) {
                picked.push(product);
            }
        }
        picked
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn market(seed: u64) -> Market {
        Market::new(Settings { seed, products: 2_000, stores: 40, listings_per_store: 200, ..Settings::default() })
    }

    fn all(market: &Market) -> Vec<Listing> {
        (0..market.stores()).flat_map(|store| market.listings(store)).collect()
    }

    #[test]
    fn a_market_depends_on_its_seed_alone() {
        assert_eq!(all(&market(7)), all(&market(7)));
        assert_ne!(all(&market(7)), all(&market(8)));
    }

    #[test]
    fn a_store_lists_a_product_once() {
        let listings = market(7).listings(3);
        let products: HashSet<usize> = listings.iter().map(|listing| listing.truth.product).collect();
        assert_eq!((listings.len(), products.len()), (200, 200));
    }

    #[test]
    fn some_products_are_twins_and_some_listings_say_too_little() {
        let market = market(7);
        let listings = all(&market);
        let undecidable = listings.iter().filter(|listing| !listing.truth.is_decidable).count();
        assert!((200..500).contains(&market.twins()), "{}", market.twins());
        assert!((listings.len() / 50..listings.len() / 12).contains(&undecidable), "{undecidable}");
    }

    #[test]
    fn stores_of_a_chain_share_ids() {
        let listings = all(&market(7));
        let mut stores_of: std::collections::HashMap<&str, HashSet<usize>> = Default::default();
        for listing in &listings {
            if let Some(id) = &listing.enterprise_product_id {
                stores_of.entry(id).or_default().insert(listing.store);
            }
        }
        assert!(stores_of.values().any(|stores| stores.len() > 2));
    }

    #[test]
    fn listings_are_spelled_in_all_kinds_of_ways() {
        let listings = all(&market(7));
        let any =
            |is: fn(&Listing) -> bool| listings.iter().filter(|listing| is(listing)).count() * 500 > listings.len();
        assert!(any(|listing| listing.brand.is_none()));
        assert!(any(|listing| listing.brand_id.is_some()));
        assert!(any(|listing| listing.name.contains('|')));
        assert!(any(|listing| listing.name.contains("1/8")));
        assert!(any(|listing| listing.name.to_uppercase() == listing.name));
        assert!(any(|listing| listing.name.contains("(H)")));
        assert!(any(|listing| listing.options == ["N/A"]));
        assert!(any(|listing| listing.strain_type.is_none()));
        assert!(any(|listing| listing.thc.is_some_and(|thc| thc.unit == PotencyUnit::Milligrams)));
    }
}
