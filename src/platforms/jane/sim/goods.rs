//! `JaneProduct`: the truth about a product as Jane lists it: other kinds, weights in the place of labels, one price, no stock.
//!
//! Both sides are made from it: `hit` writes it as the index does, `oracle` computes the expected rows.

use crate::catalogue::StoreSeed;
use crate::draw::{Draw, Topic};
use crate::presence::is_present;
use crate::product::{Price, Product, Stock};
use crate::size::{self, Size};
use crate::world::World;

pub(crate) struct Weight {
    /// Name in the list of available weights.
    pub(crate) label: &'static str,
    /// End of the names of its fields.
    pub(crate) field: &'static str,
    pub(crate) mg: Option<i64>,
}

const fn weight(label: &'static str, field: &'static str, mg: Option<i64>) -> Weight {
    Weight { label, field, mg }
}

/// The weights in the order of menus; other goods are sold by the piece.
pub(crate) static WEIGHTS: [Weight; 8] = [
    weight("half gram", "half_gram", Some(500)),
    weight("gram", "gram", Some(1000)),
    weight("two gram", "two_gram", Some(2000)),
    weight("eighth ounce", "eighth_ounce", Some(3500)),
    weight("quarter ounce", "quarter_ounce", Some(7000)),
    weight("half ounce", "half_ounce", Some(14_000)),
    weight("ounce", "ounce", Some(28_000)),
    weight("each", "each", None),
];
const EACH: usize = 7;

pub(crate) struct JaneProduct<'a> {
    pub(crate) truth: Product<'a>,
    pub(crate) index: u64,
    /// Number in the catalogue of all stores.
    pub(crate) number: u64,
    /// False: the hit has the id of the index alone.
    pub(crate) has_number: bool,
    pub(crate) kind: Option<&'static str>,
    pub(crate) subtype: Option<&'static str>,
    pub(crate) lineage: Option<&'static str>,
    /// Menus that the hit names; none of them = the recreational one is meant.
    pub(crate) names_menus: bool,
    pub(crate) is_recreational: bool,
    pub(crate) is_medical: bool,
    /// Options in the order of menus, one of a weight.
    pub(crate) options: Vec<JaneOption>,
    /// Numbers for the form of the fields.
    pub(crate) look: Draw,
}

pub(crate) struct JaneOption {
    pub(crate) weight: &'static Weight,
    pub(crate) price: Price,
    /// The label that says how much a piece is.
    pub(crate) label: &'static str,
}

/// The store's number.
pub(crate) fn store_id(store: &StoreSeed) -> u64 {
    // decoys have keys far from the stores'
    let decoy = if store.index >> 32 == 0 { 0 } else { 90_000 };
    5000 + decoy + 7 * (store.index & 0xffff)
}

/// Whether the store shows no prices.
pub(crate) fn hides_prices(store: &StoreSeed) -> bool {
    store.index % 6 == 4
}

impl<'a> JaneProduct<'a> {
    /// None when it is not in the index: absent, switched off or sold out.
    pub(crate) fn listed(world: &'a World, store: &StoreSeed, index: u64, crawl: u32) -> Option<JaneProduct<'a>> {
        if !is_present(world.seed, store.index, index, crawl) {
            return None;
        }
        let product = JaneProduct::of(world, store, index, crawl);
        let truth = &product.truth;
        let is_sold = truth.stock == Stock::Unknown || truth.offers.iter().any(|offer| offer.units > 0);
        (truth.active && is_sold).then_some(product)
    }

    fn of(world: &'a World, store: &StoreSeed, index: u64, crawl: u32) -> JaneProduct<'a> {
        let truth = world.product(store, index, crawl);
        let mut look = Draw::of(world.seed, Topic::Listing, &[store.index, index]);
        let has_number = !look.percent(3);
        let kind = (!look.percent(3)).then_some(kind(truth.category.name));
        let (is_medical, is_recreational, names_menus) = match look.below(10) {
            0 => (true, false, true),
            1..4 => (true, true, true),
            4 => (false, true, false),
            _ => (false, true, true),
        };
        JaneProduct {
            index,
            number: 400_000 + 100_000 * (store.index & 0xffff) + index,
            has_number,
            kind,
            subtype: truth.subcategory.filter(|name| !name.is_empty()),
            lineage: truth.strain_type.and_then(lineage),
            names_menus,
            is_recreational,
            is_medical,
            options: if hides_prices(store) { Vec::new() } else { options(&truth) },
            look,
            truth,
        }
    }

    /// The platform's id of the product: its number, or that of its hit.
    pub(crate) fn id(&self, store: &StoreSeed) -> String {
        if self.has_number { self.number.to_string() } else { self.hit_id(store) }
    }

    pub(crate) fn hit_id(&self, store: &StoreSeed) -> String {
        format!("prod_{}_store_{}", self.number, store_id(store))
    }

    /// Whether its potency is a percentage and its amount a weight; otherwise both are doses.
    pub(crate) fn is_by_weight(&self) -> bool {
        matches!(self.kind, Some("flower" | "pre-roll" | "vape" | "extract"))
    }

    /// The net weight that the hit states for what is sold by the piece.
    pub(crate) fn net_weight_mg(&self) -> Option<i64> {
        let piece = self.options.iter().find(|option| option.weight.mg.is_none()).filter(|_| self.truth.weighed)?;
        Some(size::net_weight_mg(piece.label))
    }

    /// The mass of an option, as far as the hit says it.
    pub(crate) fn mg(&self, option: &JaneOption) -> Option<i64> {
        let amount = match size::stated(option.label) {
            Some(Size::Mg(mg)) if self.is_by_weight() => Some(mg),
            _ => None,
        };
        option.weight.mg.or(amount).or_else(|| self.net_weight_mg())
    }
}

fn options(truth: &Product<'_>) -> Vec<JaneOption> {
    let of_weight = |(at, weight): (usize, &'static Weight)| {
        let offer = truth.offers.iter().find(|offer| weight_of(offer.label) == at)?;
        Some(JaneOption { weight, price: offer.rec, label: offer.label })
    };
    WEIGHTS.iter().enumerate().filter_map(of_weight).collect()
}

/// Position in [`WEIGHTS`] of an option with that label.
fn weight_of(label: &str) -> usize {
    match label {
        ".5g" | "0.5g" => 0,
        "1g" | "1gC" => 1,
        "2gC" => 2,
        "1/8oz" | "1/8 oz" | "3.5 g" => 3,
        "1/4oz" => 4,
        "1/2oz" => 5,
        "1oz" | "1 Ounce" => 6,
        _ => EACH,
    }
}

fn kind(category: &str) -> &'static str {
    match category {
        "Flower" => "flower",
        "Vaporizers" => "vape",
        "Concentrate" => "extract",
        "Pre-Rolls" => "pre-roll",
        "Edible" | "Beverage" => "edible",
        "Tincture" => "tincture",
        "Topicals" => "topical",
        _ => "gear",
    }
}

fn lineage(strain_type: &str) -> Option<&'static str> {
    match strain_type {
        "Indica" | "Indica-Hybrid" => Some("indica"),
        "Sativa" | "Sativa-Hybrid" => Some("sativa"),
        "Hybrid" => Some("hybrid"),
        "High CBD" => Some("cbd"),
        _ => None,
    }
}
