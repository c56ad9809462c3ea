//! When a product is on the menu: always, from some crawl on, or with gaps of one to five crawls that come
//! round again.

use crate::draw::{Draw, Topic};

enum Habit {
    Always,
    From(u32),
    Gaps { period: u32, phase: u32, gap: u32 },
}

pub(crate) fn is_present(seed: u64, store: u64, product: u64, crawl: u32) -> bool {
    match habit(seed, store, product) {
        Habit::Always => true,
        Habit::From(first) => crawl >= first,
        Habit::Gaps { period, phase, gap } => (crawl % period + phase) % period >= gap,
    }
}

/// The last crawl of 1 … `crawl` that had the product; none = not seen yet.
pub(crate) fn last_seen(seed: u64, store: u64, product: u64, crawl: u32) -> Option<u32> {
    (1..=crawl).rev().find(|earlier| is_present(seed, store, product, *earlier))
}

fn habit(seed: u64, store: u64, product: u64) -> Habit {
    let mut draw = Draw::of(seed, Topic::Presence, &[store, product]);
    // a store always has something on sale: an empty menu would look like a refusal
    if product == 0 || draw.percent(72) {
        return Habit::Always;
    }
    if draw.percent(25) {
        return Habit::From(draw.between(2, 5) as u32);
    }
    let period = draw.between(6, 9) as u32;
    Habit::Gaps { period, phase: draw.below(u64::from(period)) as u32, gap: draw.between(1, 5) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_last_one_to_five_crawls_and_end() {
        let mut lengths = [0; 6];
        for product in 0..400 {
            let seen: Vec<bool> = (1..60).map(|crawl| is_present(3, 1, product, crawl)).collect();
            let first = seen.iter().position(|present| *present).unwrap();
            for gap in seen[first..].split(|present| *present).filter(|gap| !gap.is_empty()) {
                lengths[gap.len()] += 1;
            }
        }
        assert!(lengths[1..].iter().all(|count| *count > 0), "{lengths:?}");
    }

    #[test]
    fn some_products_are_not_seen_yet_in_the_first_crawl() {
        assert!((0..400).any(|product| last_seen(3, 1, product, 1).is_none()));
        assert_eq!(last_seen(3, 1, 0, 9), Some(9));
    }
}
