//! `WeedmapsItem`: the truth about a product as Weedmaps lists it: one price for all to whom it is sold, no stock.
//!
//! Both sides are made from it: `item` writes it as a menu does, `oracle` computes the expected rows.

use crate::catalogue::StoreSeed;
use crate::draw::{Draw, Topic};
use crate::money::Mills;
use crate::presence::is_present;
use crate::product::{Price, Product, Special};
use crate::size;
use crate::world::World;

pub(crate) struct WeedmapsItem<'a> {
    pub(crate) truth: Product<'a>,
    pub(crate) index: u64,
    pub(crate) id: u64,
    /// The word for whom it is sold to; none = to everyone and to patients.
    pub(crate) license: Option<&'static str>,
    /// The taxonomy that is in use has a place for it.
    pub(crate) has_edge_category: bool,
    /// Its tiers state their weights.
    pub(crate) is_weighed: bool,
    /// Numbers for the form of the fields.
    pub(crate) look: Draw,
}

/// One option at a price.
#[derive(Clone, Copy)]
pub(crate) struct Tier {
    pub(crate) label: &'static str,
    pub(crate) price: Price,
}

impl<'a> WeedmapsItem<'a> {
    /// None when it is not on the menu: absent, or switched off.
    pub(crate) fn listed(world: &'a World, store: &StoreSeed, index: u64, crawl: u32) -> Option<WeedmapsItem<'a>> {
        if !is_present(world.seed, store.index, index, crawl) {
            return None;
        }
        let truth = world.product(store, index, crawl);
        let mut look = Draw::of(world.seed, Topic::Listing, &[store.index, index]);
        let license = match look.below(10) {
            0 => Some("medical"),
            1..3 => Some("hybrid"),
            3 => None,
            _ => Some("recreational"),
        };
        let has_edge_category = !look.percent(5);
        let id = 700_000 + 100_000 * (store.index & 0xffff) + index;
        let is_weighed = truth.weighed;
        truth.active.then_some(WeedmapsItem { truth, index, id, license, has_edge_category, is_weighed, look })
    }

    /// The same item as an earlier page may still show it: dearer by a dollar.
    pub(crate) fn superseded(self) -> Self {
        WeedmapsItem { truth: self.truth.superseded(), ..self }
    }

    /// Whether everyone may buy it, and whether patients may.
    pub(crate) fn buyers(&self) -> [bool; 2] {
        match self.license {
            Some("recreational") => [true, false],
            Some("medical") => [false, true],
            _ => [true, true],
        }
    }

    pub(crate) fn subcategory(&self) -> Option<&'static str> {
        self.truth.subcategory.filter(|name| self.has_edge_category && !name.is_empty())
    }

    /// The tiers in the order of sizes: ounces, grams, then all others.
    pub(crate) fn tiers(&self) -> Vec<Tier> {
        let mut tiers: Vec<Tier> =
            self.truth.offers.iter().map(|offer| Tier { label: offer.label, price: offer.rec }).collect();
        tiers.sort_by_key(|tier| unit(tier.label));
        tiers
    }

    pub(crate) fn weight_mg(&self, tier: &Tier) -> Option<i64> {
        self.is_weighed.then(|| size::net_weight_mg(tier.label))
    }
}

/// The list in which a tier of that label is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Ounce,
    Gram,
    Piece,
}

pub(crate) fn unit(label: &str) -> Unit {
    match label {
        label if label.contains("oz") || label.contains("Ounce") => Unit::Ounce,
        label if label.ends_with('g') && !label.ends_with("mg") => Unit::Gram,
        _ => Unit::Piece,
    }
}

impl Tier {
    /// The price of the sale, where it is lower.
    pub(crate) fn special(&self) -> Option<Mills> {
        match self.price.special {
            Special::Lower(special) => Some(special),
            Special::None | Special::NotLower(_) => None,
        }
    }
}
