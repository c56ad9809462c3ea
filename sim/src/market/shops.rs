//! `Shop`: a store with its chain, platform and style; and which products each store lists.
//!
//! In: a seed. Out: shops and assortments. A few products are nearly everywhere, most in a few stores, some in one.

use domain::store::Platform;

use super::style::Style;
use super::{Settings, Subject, draw_of};

pub(super) const PLATFORMS: [Platform; 5] =
    [Platform::Dutchie, Platform::DutchiePlus, Platform::Jane, Platform::Weedmaps, Platform::Leafly];
const IN_CHAIN_PERCENT: u64 = 18;
const MAX_CHAIN: u64 = 9;
/// The chance of the product of rank r is as 1 / (r + the first) / (r + the second).
const FLAT_RANKS: [u64; 2] = [40, 4000];
const WEIGHT: u64 = 1_000_000_000_000;
/// Draws for each listing after which a store lists fewer.
const TRIES: usize = 60;

pub(super) struct Shop {
    pub(super) chain: Option<usize>,
    pub(super) platform: Platform,
    pub(super) style: Style,
}

pub(super) struct Assortments {
    /// Products by rank, and the sum of the weights up to each.
    ranked: Vec<usize>,
    sums: Vec<u64>,
    /// Products that a store lists in any case, so that each product is listed somewhere.
    own: Vec<Vec<usize>>,
}

/// Chains are runs of stores; each run begins by chance.
pub(super) fn all(settings: &Settings) -> Vec<Shop> {
    let mut shops = Vec::with_capacity(settings.stores);
    let mut chains = 0;
    while shops.len() < settings.stores {
        let mut draw = draw_of(settings.seed, Subject::Shop, &[shops.len() as u64]);
        let platform = *draw.pick(&PLATFORMS);
        let style = Style::of(&mut draw);
        let is_chain = draw.percent(IN_CHAIN_PERCENT);
        let stores = if is_chain { draw.between(2, MAX_CHAIN) as usize } else { 1 };
        for _ in 0..stores.min(settings.stores - shops.len()) {
            shops.push(Shop { chain: is_chain.then_some(chains), platform, style: style.clone() });
        }
        chains += usize::from(is_chain);
    }
    shops
}

impl Assortments {
    pub(super) fn new(settings: &Settings, products: usize) -> Assortments {
        let mut ranked: Vec<usize> = (0..products).collect();
        draw_of(settings.seed, Subject::Rank, &[]).shuffle(&mut ranked);
        let weights = (0..products as u64).map(|rank| WEIGHT / (rank + FLAT_RANKS[0]) / (rank + FLAT_RANKS[1]));
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let mut own = vec![Vec::new(); settings.stores];
        for product in 0..products {
            let store = draw_of(settings.seed, Subject::Home, &[product as u64]).below(settings.stores as u64);
            if let Some(own) = own.get_mut(store as usize) {
                own.push(product);
            }
        }
        Assortments { ranked, sums: sums.collect(), own }
    }

    /// Products of a store, each once.
    pub(super) fn of(&self, settings: &Settings, store: usize) -> Vec<usize> {
        let wanted = settings.listings_per_store.min(self.ranked.len());
        let mut products = self.own[store].clone();
        products.truncate(wanted);
        let mut is_listed = vec![false; self.ranked.len()];
        products.iter().for_each(|product| is_listed[*product] = true);
        let mut draw = draw_of(settings.seed, Subject::Assortment, &[store as u64]);
        for _ in 0..wanted * TRIES {
            if products.len() == wanted {
                break;
            }
            let at = draw.below(self.sums.last().copied().unwrap_or(0));
            let product = self.ranked[self.sums.partition_point(|sum| *sum <= at)];
            if !std::mem::replace(&mut is_listed[product], true) {
                products.push(product);
            }
        }
        draw.shuffle(&mut products);
        products
    }
}
