//! The oracle of changes: what a price team must learn of a crawl, after complete crawls before it.
//!
//! Computed from the generator's truth about the crawls in which a product was last seen, so that it can disagree with a
//! program that compares rows.

use std::cmp::Ordering;

use super::{MISSES_OUT_OF_STOCK, OracleVariant, variants};
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

/// The changes that a crawl of a store shows, in no particular order.
pub(crate) fn of_store(world: &World, store: &StoreSeed, crawl: u32) -> Vec<OracleChange> {
    let of_product = |index| {
        let past = Past { world, store, index };
        let id = past.truth(crawl).id;
        past.lines(crawl).into_iter().map(move |Line { option, kind, old, new, prices }| OracleChange {
            platform_dispensary_id: store.platform_dispensary_id.clone(),
            provider_product_id: id.clone(),
            option,
            kind,
            old,
            new,
            cents: prices.map(|(old, new)| new - old),
            hundredths: prices.and_then(|(old, new)| hundredths(old, new)),
        })
    };
    (0..store.size).flat_map(of_product).collect()
}

/// The label, and the number of equal labels before it.
type OptionKey = (&'static str, i16);

/// A change of a product or an option.
struct Line {
    option: Option<OptionKey>,
    kind: &'static str,
    old: OracleSide,
    new: OracleSide,
    /// The prices that are compared.
    prices: Option<(i32, i32)>,
}

/// A product, crawl by crawl.
#[derive(Clone, Copy)]
struct Past<'a> {
    world: &'a World,
    store: &'a StoreSeed,
    index: u64,
}

impl<'a> Past<'a> {
    fn lines(self, crawl: u32) -> Vec<Line> {
        let is_present = presence::is_present(self.world.seed, self.store.index, self.index, crawl);
        match (self.last_seen_before(crawl), is_present) {
            (Some(seen), true) => self.seen_again(seen, crawl),
            (Some(seen), false) if crawl - seen == MISSES_OUT_OF_STOCK => self.gone(seen),
            // the first crawl is what later ones are compared with
            (None, true) if crawl > 1 && self.truth(crawl).active => vec![Line::of_product("new")],
            _ => Vec::new(),
        }
    }

    /// The changes of a product that an earlier crawl had, too, at last the one with the number `seen`.
    fn seen_again(self, seen: u32, crawl: u32) -> Vec<Line> {
        let was_gone = crawl - seen > MISSES_OUT_OF_STOCK;
        let (truth, before) = (self.truth(crawl), variants(&self.truth(seen), was_gone));
        let now = variants(&truth, false);
        let returned = (was_gone && truth.active).then(|| Line::of_product("returned"));
        let left = before.iter().filter(|option| option.is_in_stock && with_key(&now, option).is_none());
        let mut lines: Vec<Line> = returned.into_iter().chain(left.map(Line::sold_out)).collect();
        for option in &now {
            let earlier = with_key(&before, option).cloned().or_else(|| self.last_listed(option, seen));
            lines.extend(earlier.into_iter().flat_map(|earlier| compared(&earlier, option)));
        }
        lines
    }

    /// The changes of a product by its third miss.
    fn gone(self, seen: u32) -> Vec<Line> {
        let truth = self.truth(seen);
        let gone = truth.active.then(|| Line::of_product("gone"));
        let options = variants(&truth, false);
        gone.into_iter().chain(options.iter().filter(|option| option.is_in_stock).map(Line::sold_out)).collect()
    }

    /// An option that the product did not have in crawl `crawl`, as it was before it left the menu.
    fn last_listed(self, option: &OracleVariant, crawl: u32) -> Option<OracleVariant> {
        let earlier = std::iter::successors(self.last_seen_before(crawl), |seen| self.last_seen_before(*seen));
        earlier.map(|seen| variants(&self.truth(seen), true)).find_map(|all| with_key(&all, option).cloned())
    }

    fn last_seen_before(self, crawl: u32) -> Option<u32> {
        presence::last_seen(self.world.seed, self.store.index, self.index, crawl - 1)
    }

    fn truth(self, crawl: u32) -> Product<'a> {
        self.world.product(self.store, self.index, crawl)
    }
}

impl Line {
    fn of_product(kind: &'static str) -> Line {
        Line { option: None, kind, old: OracleSide::default(), new: OracleSide::default(), prices: None }
    }

    /// An option that cannot be bought any more, since it or its product left the menu.
    fn sold_out(option: &OracleVariant) -> Line {
        Line::of_option(option, "sold_out", stock(option), OracleSide::default())
    }

    fn of_option(option: &OracleVariant, kind: &'static str, old: OracleSide, new: OracleSide) -> Line {
        Line { option: Some(key(option)), kind, old, new, prices: None }
    }
}

fn key(option: &OracleVariant) -> OptionKey {
    (option.label, option.nth)
}

fn with_key<'o>(options: &'o [OracleVariant], like: &OracleVariant) -> Option<&'o OracleVariant> {
    options.iter().find(|option| key(option) == key(like))
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
    let [rec, med] = option.paid();
    OracleSide { rec, med, ..OracleSide::default() }
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
