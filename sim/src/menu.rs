//! `Menu`: which products a store shows in one crawl, in which order, on which page.
//!
//! Ordered by rank (`weight`), which has ties. Where a tie falls on the border of two pages, they overlap:
//! the product is the last of the earlier page, out of date there, and again the first of the later one.

use crate::catalogue::StoreSeed;
use crate::draw::{Draw, Topic};
use crate::presence::is_present;
use crate::settings::Goods;

const PINNED: u32 = 0;
const UNRANKED: u32 = 9_999_999;

pub(crate) struct Menu {
    rows: Vec<Rank>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    weight: u32,
    product: u64,
}

/// One line of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) product: u64,
    pub(crate) weight: u32,
    /// The next page has a newer version of it.
    pub(crate) superseded: bool,
}

impl Menu {
    pub(crate) fn of(seed: u64, store: &StoreSeed, crawl: u32) -> Menu {
        let present = (0..store.size).filter(|product| is_present(seed, store.index, *product, crawl));
        let mut rows: Vec<Rank> =
            present.map(|product| Rank { weight: weight(seed, store, product), product }).collect();
        rows.sort_unstable();
        Menu { rows }
    }

    /// Distinct products.
    pub(crate) fn total(&self) -> usize {
        self.rows.len()
    }

    /// The products in their order, each once.
    pub(crate) fn products(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().map(|row| row.product)
    }

    /// Page `page` (from 0) of `per_page`; empty past the end. Holds one row more than `per_page` where it
    /// overlaps.
    pub(crate) fn page(&self, page: usize, per_page: usize) -> Vec<Row> {
        let start = page.saturating_mul(per_page).min(self.rows.len());
        let end = (start + per_page).min(self.rows.len());
        if start == end {
            return Vec::new();
        }
        let from = if self.overlaps_at(start) { start - 1 } else { start };
        (from..end).map(|at| self.row(at, at + 1 == end && self.overlaps_at(end))).collect()
    }

    /// The same page where every border is inside a tie that is broken differently for each request: the last
    /// product before it comes again, in the place of the first one behind it. As many rows as asked for, one
    /// product fewer from every border.
    pub(crate) fn page_of_lost_ties(&self, page: usize, per_page: usize) -> Vec<Row> {
        let start = page.saturating_mul(per_page).min(self.rows.len());
        let end = (start + per_page).min(self.rows.len());
        let shown_at = |at: usize| if at == start && at > 0 { at - 1 } else { at };
        (start..end).map(|at| self.row(shown_at(at), false)).collect()
    }

    fn row(&self, at: usize, superseded: bool) -> Row {
        let Rank { weight, product } = self.rows[at];
        Row { product, weight, superseded }
    }

    fn overlaps_at(&self, border: usize) -> bool {
        border > 0 && border < self.rows.len() && self.rows[border - 1].weight == self.rows[border].weight
    }
}

/// A product's rank for good: the same in every crawl.
pub(crate) fn weight(seed: u64, store: &StoreSeed, product: u64) -> u32 {
    let mut draw = Draw::of(seed, Topic::Rank, &[store.index, product]);
    match draw.below(100) {
        0 => PINNED,
        1..4 => UNRANKED,
        // nothing but ties
        _ if store.goods == Goods::Odd => draw.between(1, 3) as u32,
        _ => draw.between(1, store.size * 8) as u32,
    }
}
