//! The oracle of changes: what a price team must learn of crawls 1 … n, each of them complete.
//!
//! The first crawl of a store is what later ones are compared with. Computed from the generator's truth, crawl by crawl,
//! so that it can disagree with a program that compares rows.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::{MISSES_OUT_OF_STOCK, OracleVariant, variant};
use crate::catalogue::StoreSeed;
use crate::presence;
use crate::product::Product;
use crate::world::World;

/// Maximum quantity that is few.
const LOW_STOCK: i32 = 5;

/// A change of a product, or of one of its options.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleChange {
    pub platform_dispensary_id: String,
    /// Number of the crawl that shows it.
    pub crawl: u32,
    pub provider_product_id: String,
    /// The option's label, and the number of equal labels before it.
    pub option: Option<(&'static str, i16)>,
    pub kind: &'static str,
    pub old: OracleSide,
    pub new: OracleSide,
    /// New minus old price.
    pub cents: Option<i32>,
    /// `cents` in ten-thousandths of the old price.
    pub hundredths: Option<i64>,
}

/// An option on one side of a change, as far as the change concerns it; prices in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OracleSide {
    pub rec: Option<i32>,
    pub med: Option<i32>,
    pub special_rec: Option<i32>,
    pub special_med: Option<i32>,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
}

/// The changes of a store, in no particular order.
pub(crate) fn of_store(world: &World, store: &StoreSeed, crawls: u32) -> Vec<OracleChange> {
    (0..store.size).flat_map(|index| Past::default().changes(world, store, index, crawls)).collect()
}

/// A product up to a crawl.
#[derive(Default)]
struct Past {
    last_seen: Option<u32>,
    /// On the menu and not delisted, or missing for a short time.
    is_listed: bool,
    /// Options by label and number, as they were when the product last had them.
    options: HashMap<OptionKey, OracleVariant>,
}

/// The label, and the number of equal labels before it.
type OptionKey = (&'static str, i16);

/// A change in a crawl.
struct Line {
    option: Option<OptionKey>,
    kind: &'static str,
    old: OracleSide,
    new: OracleSide,
    /// The prices that are compared.
    prices: Option<(i32, i32)>,
}

impl Past {
    fn changes(mut self, world: &World, store: &StoreSeed, index: u64, crawls: u32) -> Vec<OracleChange> {
        let mut changes = Vec::new();
        for crawl in 1..=crawls {
            let truth = world.product(store, index, crawl);
            let lines = match presence::is_present(world.seed, store.index, index, crawl) {
                true => self.seen(&truth, crawl),
                false => self.missed(crawl),
            };
            changes.extend(lines.into_iter().map(|Line { option, kind, old, new, prices }| OracleChange {
                platform_dispensary_id: store.platform_dispensary_id.clone(),
                crawl,
                provider_product_id: truth.id.clone(),
                option,
                kind,
                old,
                new,
                cents: prices.map(|(old, new)| new - old),
                hundredths: prices.and_then(|(old, new)| hundredths(old, new)),
            }));
        }
        changes
    }

    fn seen(&mut self, truth: &Product<'_>, crawl: u32) -> Vec<Line> {
        let was_seen = self.last_seen.replace(crawl).is_some();
        let was_listed = std::mem::replace(&mut self.is_listed, truth.active);
        let mut lines = match (was_listed, truth.active) {
            (false, true) if was_seen => vec![Line::of_product("returned")],
            // the first crawl is what later ones are compared with
            (false, true) if crawl > 1 => vec![Line::of_product("new")],
            (true, false) => vec![Line::of_product("gone")],
            _ => Vec::new(),
        };
        let now: Vec<OracleVariant> = (0..truth.offers.len()).map(|at| variant(truth, at, false)).collect();
        let left = |option: &OracleVariant| now.iter().all(|other| key(other) != key(option));
        lines.extend(self.sell_out(left));
        for option in now {
            if let Some(before) = self.options.get(&key(&option)) {
                lines.extend(compared(before, &option));
            }
            self.options.insert(key(&option), option);
        }
        lines
    }

    fn missed(&mut self, crawl: u32) -> Vec<Line> {
        if self.last_seen.is_none_or(|seen| crawl - seen != MISSES_OUT_OF_STOCK) {
            return Vec::new();
        }
        let mut lines = self.sell_out(|_| true);
        if std::mem::take(&mut self.is_listed) {
            lines.push(Line::of_product("gone"));
        }
        lines
    }

    /// Options that cannot be bought any more.
    fn sell_out(&mut self, is_left: impl Fn(&OracleVariant) -> bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for option in self.options.values_mut().filter(|option| option.is_in_stock && is_left(option)) {
            lines.push(Line::of_option(option, "sold_out", stock(option), OracleSide::default()));
            option.is_in_stock = false;
        }
        lines
    }
}

impl Line {
    fn of_product(kind: &'static str) -> Line {
        Line { option: None, kind, old: OracleSide::default(), new: OracleSide::default(), prices: None }
    }

    fn of_option(option: &OracleVariant, kind: &'static str, old: OracleSide, new: OracleSide) -> Line {
        Line { option: Some(key(option)), kind, old, new, prices: None }
    }
}

fn key(option: &OracleVariant) -> OptionKey {
    (option.label, option.nth)
}

/// The changes of an option between two crawls that list it.
fn compared(before: &OracleVariant, after: &OracleVariant) -> Vec<Line> {
    let line = |kind, of: fn(&OracleVariant) -> OracleSide| Line::of_option(after, kind, of(before), of(after));
    let mut lines = Vec::new();
    let (old, new) = (paid(before), paid(after));
    let prices: Vec<(i32, i32)> = [old.rec.zip(new.rec), old.med.zip(new.med)].into_iter().flatten().collect();
    for (kind, order) in [("price_drop", Ordering::Less), ("price_rise", Ordering::Greater)] {
        let moved = prices.iter().find(|(old, new)| new.cmp(old) == order);
        lines.extend(moved.map(|prices| Line { prices: Some(*prices), ..line(kind, paid) }));
    }
    match (has_special(before), has_special(after)) {
        (false, true) => lines.push(line("special_start", offered)),
        (true, false) => lines.push(line("special_end", offered)),
        _ => {}
    }
    match (before.is_in_stock, after.is_in_stock) {
        (true, false) => lines.push(line("sold_out", stock)),
        (false, true) => lines.push(line("restocked", stock)),
        _ => {}
    }
    if let (Some(old), Some(new)) = (before.quantity, after.quantity)
        && old > LOW_STOCK
        && new <= LOW_STOCK
        && after.is_in_stock
    {
        lines.push(line("low_stock", stock));
    }
    lines
}

fn paid(option: &OracleVariant) -> OracleSide {
    let rec = option.special_price_rec.or(option.price_rec);
    OracleSide { rec, med: option.special_price_med.or(option.price_med), ..OracleSide::default() }
}

fn offered(option: &OracleVariant) -> OracleSide {
    OracleSide {
        rec: option.price_rec,
        med: option.price_med,
        special_rec: option.special_price_rec,
        special_med: option.special_price_med,
        ..OracleSide::default()
    }
}

fn has_special(option: &OracleVariant) -> bool {
    option.special_price_rec.is_some() || option.special_price_med.is_some()
}

fn stock(option: &OracleVariant) -> OracleSide {
    let OracleVariant { quantity, quantity_censored, .. } = *option;
    OracleSide { quantity, quantity_censored, ..OracleSide::default() }
}

/// Ten-thousandths of the old price, half of one away from zero.
fn hundredths(old: i32, new: i32) -> Option<i64> {
    let (size, old) = ((i64::from(new) - i64::from(old)) * 10_000, i64::from(old));
    (old > 0).then(|| (2 * size.abs() + old) / (2 * old) * size.signum())
}
