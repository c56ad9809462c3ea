//! `LeaflyItem`: the truth about a product as one of a store's two menus lists it: sizes, one price each, and the stock of one size.
//!
//! Both sides are made from it: `item` writes it as a menu does, `oracle` computes the expected rows.

use crate::catalogue::StoreSeed;
use crate::draw::{Draw, Topic};
use crate::money::Mills;
use crate::presence::is_present;
use crate::product::{Offer, Price, Product, Special, Stock};
use crate::size;
use crate::world::World;

pub(crate) struct LeaflyItem<'a> {
    pub(crate) truth: Product<'a>,
    pub(crate) id: u64,
    /// The menu of patients has it, otherwise that of everyone.
    pub(crate) is_medical: bool,
    /// Sizes of different labels.
    pub(crate) sizes: Vec<LeaflySize>,
    /// Place of the size that the item itself is: the first one that is there.
    pub(crate) own: usize,
    /// Number of pieces of that size; None = unknown.
    pub(crate) quantity: Option<u32>,
    /// Field `inStock`; None where the item lacks it.
    pub(crate) is_in_stock: Option<bool>,
    /// Numbers for the form of the fields.
    pub(crate) look: Draw,
}

pub(crate) struct LeaflySize {
    pub(crate) label: &'static str,
    pub(crate) price: Price,
    units: u32,
}

impl<'a> LeaflyItem<'a> {
    /// None when the product is absent, or not on that menu.
    pub(crate) fn listed(
        world: &'a World,
        store: &StoreSeed,
        (index, is_medical): (u64, bool),
        crawl: u32,
    ) -> Option<LeaflyItem<'a>> {
        let is_listed = LeaflyItem::is_on_menu(world, store, (index, is_medical));
        if !is_listed || !is_present(world.seed, store.index, index, crawl) {
            return None;
        }
        let truth = world.product(store, index, crawl);
        let sizes = sizes(&truth, is_medical);
        let own = sizes.iter().position(|size| size.units > 0).unwrap_or_default();
        let is_known = truth.active && truth.stock != Stock::Unknown;
        let quantity = sizes.get(own).map(|size| size.units).filter(|_| is_known);
        let mut look = Draw::of(world.seed, Topic::Listing, &[store.index, index, u64::from(is_medical)]);
        let is_in_stock = (!truth.active || look.percent(50)).then_some(truth.active && quantity != Some(0));
        let id = 800_000 + 100_000 * (store.index & 0xffff) + 2 * index + u64::from(is_medical);
        Some(LeaflyItem { truth, id, is_medical, sizes, own, quantity, is_in_stock, look })
    }

    /// Whether the menu of patients, or that of everyone, has the product: most are on the latter alone.
    pub(crate) fn is_on_menu(world: &World, store: &StoreSeed, (index, is_medical): (u64, bool)) -> bool {
        match Draw::of(world.seed, Topic::Listing, &[store.index, index]).below(10) {
            0 => is_medical,
            1..3 => true,
            _ => !is_medical,
        }
    }

    /// The mass that the item states beside a size's label.
    pub(crate) fn net_weight_mg(&self, size: &LeaflySize) -> Option<i64> {
        self.truth.weighed.then(|| size::net_weight_mg(size.label))
    }

    pub(crate) fn subcategory(&self) -> Option<&'static str> {
        self.truth.subcategory.filter(|name| !name.is_empty())
    }
}

impl LeaflySize {
    /// The price of the deal, lower or not.
    pub(crate) fn special(&self) -> Option<Mills> {
        match self.price.special {
            Special::None => None,
            Special::NotLower(special) | Special::Lower(special) => Some(special),
        }
    }
}

fn sizes(truth: &Product<'_>, is_medical: bool) -> Vec<LeaflySize> {
    let size = |offer: &Offer| LeaflySize {
        label: offer.label,
        price: if is_medical { offer.med } else { offer.rec },
        units: offer.units,
    };
    let is_first = |at: usize| !truth.offers[..at].iter().any(|earlier| earlier.label == truth.offers[at].label);
    truth.offers.iter().enumerate().filter(|(at, _)| is_first(*at)).map(|(_, offer)| size(offer)).collect()
}
