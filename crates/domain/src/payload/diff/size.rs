//! The size of a change from one menu to another, by which the largest come first. Pure.
//!
//! In: what a product or option was before and is after. Out: a share of what was before. It must not know which
//! differences are changes.

use super::{Prices, ProductChange, StockLevel};

/// Sorts changes by the size of their largest one; those of equal size stay in the order of the menu.
pub fn largest_first<T>(changes: &mut [ProductChange<T>], size: impl Fn(&T, &T) -> f64) {
    let largest = |change: &ProductChange<T>| {
        let options = change.options.iter().map(|option| size(&option.from, &option.to));
        options.fold(size(&change.from, &change.to), f64::max)
    };
    changes.sort_by(|one, other| largest(other).total_cmp(&largest(one)));
}

/// Change of the price that is paid.
pub fn of_prices(from: &Prices, to: &Prices) -> f64 {
    let rec = |prices: &Prices| prices.special_price_rec.or(prices.price_rec);
    let med = |prices: &Prices| prices.special_price_med.or(prices.price_med);
    share(rec(from), rec(to)).max(share(med(from), med(to)))
}

pub fn of_stock(from: &StockLevel, to: &StockLevel) -> f64 {
    let amount = |level: &StockLevel| if level.is_in_stock { level.quantity } else { Some(0) };
    share(amount(from), amount(to))
}

/// A change from nothing, or to an unknown number, is the largest.
fn share(from: Option<i32>, to: Option<i32>) -> f64 {
    match (from, to) {
        (from, to) if from == to => 0.0,
        (Some(from), Some(to)) if from != 0 => (f64::from(to) - f64::from(from)).abs() / f64::from(from).abs(),
        _ => f64::INFINITY,
    }
}
