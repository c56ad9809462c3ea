//! `Product`: what one product of one store truly is as of one crawl.
//!
//! The truth both sides are made from: `wire` dresses it as upstream would, `oracle` says what a product table must hold.
//! Depends on (seed, store, product, crawl) only.

use crate::brand::{Brand, Brands, Naming};
use crate::catalogue::{Shelf, StoreSeed};
use crate::category::{CATEGORIES, Category};
use crate::draw::{Draw, Topic};
use crate::menu;
use crate::money::Mills;
use crate::words;

/// 2026-01-01T00:00:00Z: the simulated world's first crawl.
const EPOCH_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;
const SALES_PER_STORE: u64 = 6;
/// Neighbours on the menu are often of one maker: products whose ranks share this stretch are.
const RANKS_PER_MAKER: u32 = 64;

pub(crate) struct Product<'a> {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) brand: &'a Brand,
    pub(crate) naming: Naming,
    pub(crate) category: &'static Category,
    pub(crate) active: bool,
    pub(crate) offers: Vec<Offer>,
    /// False: `recPrices` is empty and only `Prices` has the numbers.
    pub(crate) lists_rec_prices: bool,
    pub(crate) lists_med_prices: bool,
    pub(crate) sale: Sale,
    pub(crate) stock: Stock,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    /// Numbers for how its sale is described: a store has few sales, of many products each.
    pub(crate) special_look: Draw,
    /// Numbers for what only the wire shows.
    pub(crate) look: Draw,
}

/// One option of a product.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) label: &'static str,
    pub(crate) rec: Mills,
    pub(crate) med: Mills,
    pub(crate) rec_special: Special,
    pub(crate) med_special: Special,
    /// On the shelf, before any cap.
    pub(crate) units: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    None,
    /// Listed, but no bargain: must be ignored.
    NotLower(Mills),
    Lower(Mills),
}

/// The product's sale in this crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sale {
    None,
    /// Special prices are listed.
    Priced,
    /// Buy some, get some: no special prices.
    Bogo,
}

/// Where upstream keeps the product's stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stock {
    Pos,
    Manual,
    Unknown,
}

impl<'a> Product<'a> {
    pub(crate) fn of(seed: u64, brands: &'a Brands, store: &StoreSeed, index: u64, crawl: u32) -> Product<'a> {
        let keys = [store.index, index];
        let mut draw = Draw::of(seed, Topic::Product, &keys);
        let id = if draw.percent(6) { draw.legacy_id() } else { draw.object_id() };
        let category = draw.pick(CATEGORIES);
        let stock = stock_source(&mut draw, store.shelf);
        let naming = Naming::draw(&mut draw, stock == Stock::Pos);
        let mut product = Product {
            id,
            name: name(&mut draw, category),
            brand: maker(seed, brands, store, index),
            naming,
            category,
            // stock nobody knows of a product nobody sells is a state upstream has not been seen in
            active: stock == Stock::Unknown || !draw.percent(3),
            lists_rec_prices: !draw.percent(4),
            lists_med_prices: !draw.percent(15),
            sale: Sale::None,
            stock,
            created_ms: EPOCH_MS - draw.between(1, 700) * DAY_MS,
            updated_ms: 0,
            offers: offers(&mut draw, category),
            special_look: Draw::of(seed, Topic::Special, &[store.index]),
            look: Draw::of(seed, Topic::Look, &keys),
        };
        let price_epoch = epoch(&mut draw, crawl, 9);
        let stock_epoch = epoch(&mut draw, crawl, 5);
        product.updated_ms = EPOCH_MS + (price_epoch + stock_epoch) * DAY_MS / 4;
        let mut price_draw = Draw::of(seed, Topic::Price, &[store.index, index, price_epoch]);
        product.special_look = Draw::of(seed, Topic::Special, &[store.index, price_draw.below(SALES_PER_STORE)]);
        product.set_prices(price_draw);
        product.set_units(Draw::of(seed, Topic::Stock, &[store.index, index, stock_epoch]));
        product
    }

    /// The same product as an earlier page may still show it when pages overlap: dearer by a dollar.
    pub(crate) fn superseded(mut self) -> Self {
        for offer in &mut self.offers {
            offer.rec.0 += 1000;
            offer.med.0 += 1000;
        }
        self
    }

    fn set_prices(&mut self, mut draw: Draw) {
        let swing = draw.between(80, 120) as u32;
        let half_cent = draw.percent(5);
        let cheaper_for_patients = draw.percent(25);
        for offer in &mut self.offers {
            // 80 … 120 % of the base, to the quarter dollar
            let cents = (offer.rec.0 / 10 * swing / 100 / 25).max(4) * 25;
            offer.rec = Mills(cents * 10 + if half_cent { 5 } else { 0 });
            offer.med = if cheaper_for_patients { Mills::of_cents(cents - cents / 10) } else { offer.rec };
        }
        self.sale = match draw.below(100) {
            0..66 => Sale::None,
            66..94 => Sale::Priced,
            _ => Sale::Bogo,
        };
        if self.sale == Sale::Priced {
            self.offers.iter_mut().for_each(|offer| offer.put_on_sale(&mut draw));
        }
    }

    fn set_units(&mut self, mut draw: Draw) {
        let sold_out = draw.percent(12);
        for offer in &mut self.offers {
            let on_shelf = draw.between(1, 169) as u32;
            let plenty = self.stock == Stock::Manual || draw.percent(40);
            let units = if plenty { on_shelf } else { on_shelf % 25 };
            offer.units = if sold_out || draw.percent(8) { 0 } else { units };
        }
    }
}

impl Offer {
    fn put_on_sale(&mut self, draw: &mut Draw) {
        let percent = *draw.pick(&[10, 15, 20, 25, 35, 50]);
        let to_the_cent = !draw.percent(10);
        let lower =
            |price: Mills| if to_the_cent { Mills(price.less(percent).0 / 10 * 10) } else { price.less(percent) };
        (self.rec_special, self.med_special) = match draw.below(100) {
            0..80 => (Special::Lower(lower(self.rec)), Special::Lower(lower(self.med))),
            80..88 => (Special::Lower(lower(self.rec)), Special::None),
            88..93 => (Special::NotLower(self.rec), Special::NotLower(self.med)),
            93..96 => (Special::NotLower(Mills(self.rec.0 + 2000)), Special::Lower(lower(self.med))),
            _ => (Special::None, Special::None),
        };
    }
}

fn maker<'a>(seed: u64, brands: &'a Brands, store: &StoreSeed, index: u64) -> &'a Brand {
    let stretch = menu::weight(seed, store, index) / RANKS_PER_MAKER;
    brands.pick(&mut Draw::of(seed, Topic::Brand, &[store.index, u64::from(stretch)]))
}

/// Number of the stretch of crawls in which something stays as it is. A third of all things never change.
fn epoch(draw: &mut Draw, crawl: u32, longest: u64) -> u64 {
    let (never, length, phase) = (draw.percent(35), draw.between(1, longest), draw.below(longest));
    if never { 0 } else { (u64::from(crawl) + phase) / length }
}

fn stock_source(draw: &mut Draw, shelf: Shelf) -> Stock {
    let (unknown, pos) = (draw.percent(5), draw.percent(50));
    match shelf {
        _ if unknown => Stock::Unknown,
        Shelf::Pos => Stock::Pos,
        Shelf::Manual => Stock::Manual,
        Shelf::Mixed if pos => Stock::Pos,
        Shelf::Mixed => Stock::Manual,
    }
}

fn name(draw: &mut Draw, category: &Category) -> String {
    let strain = words::strain(draw);
    match draw.below(5) {
        0 => format!("{strain} | {} | #{}", category.name, draw.between(1, 99)),
        1 => format!("{strain} \"{}\" {}", draw.between(1, 9), category.name),
        2 => format!("{} x {strain}", words::strain(draw)),
        3 => format!("{strain} – {}’s cut", words::company(draw)),
        _ => format!("{strain} {}", draw.between(100, 999)),
    }
}

/// Base prices; `set_prices` moves them with the crawls.
fn offers(draw: &mut Draw, category: &'static Category) -> Vec<Offer> {
    let base = draw.between(category.cents.0, category.cents.1) as u32;
    let labels = draw.pick(category.options).iter().zip(1..);
    labels
        .map(|(label, nth)| Offer {
            label,
            rec: Mills::of_cents(base * nth),
            med: Mills::of_cents(base * nth),
            rec_special: Special::None,
            med_special: Special::None,
            units: 0,
        })
        .collect()
}
