//! The platforms of a demo's stores: most stores are of the default one, and one of ten of each other that has stores of its own.
//!
//! In: lists of all of the simulator's stores, one for each platform. Out: the stores that the demo crawls there. It must not know
//! how they are crawled or compared.

use sim::Simulator;
use strum::VariantArray;

use crate::simulated;
use domain::store::{NewStore, Platform};

/// The stores to import. `count`: the number of stores of all platforms.
pub fn stores(sim: &Simulator, count: usize) -> Vec<NewStore> {
    let of = |platform: Platform| {
        let seeds = of_platform(sim, platform, count, sim.stores_of(platform));
        seeds.into_iter().map(move |seed| simulated::store(platform, &seed))
    };
    Platform::VARIANTS.iter().copied().flat_map(of).collect()
}

/// The number of stores that a demo has of each platform, without those of which it has none.
pub fn counts(sim: &Simulator, count: usize) -> Vec<(Platform, usize)> {
    let others = others(sim);
    let of = |platform: &Platform| (*platform, (0..count).filter(|place| at(*place, &others) == *platform).count());
    Platform::VARIANTS.iter().map(of).filter(|(_, count)| *count > 0).collect()
}

/// Elements of `all`, which has one for each store of the simulator, that are of the platform's stores.
pub fn of_platform<T>(sim: &Simulator, platform: Platform, count: usize, all: Vec<T>) -> Vec<T> {
    let others = others(sim);
    let ordinary = all.into_iter().take(count).enumerate();
    ordinary.filter(|(place, _)| at(*place, &others) == platform).map(|(_, one)| one).collect()
}

/// The platforms beside the default one, of which a demo has room for nine.
fn others(sim: &Simulator) -> Vec<Platform> {
    let has_stores = |platform: &&Platform| **platform != Platform::DEFAULT && sim.has_stores(**platform);
    Platform::VARIANTS.iter().filter(has_stores).take(9).copied().collect()
}

/// The last places of each ten are the others', in their order.
fn at(place: usize, others: &[Platform]) -> Platform {
    let nth = (place % 10).checked_sub(10 - others.len());
    nth.and_then(|nth| others.get(nth)).copied().unwrap_or(Platform::DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_is_of_one_platform_and_a_few_are_of_each() {
        let others = &Platform::VARIANTS[1..4];
        let places =
            |platform: Platform| (0..60).filter(move |place| at(*place, others) == platform).collect::<Vec<_>>();
        assert_eq!(others.iter().map(|other| places(*other).len()).collect::<Vec<_>>(), [6, 6, 6]);
        assert_eq!(places(others[0]), [7, 17, 27, 37, 47, 57]);
        assert_eq!(places(Platform::DEFAULT).len(), 42);
    }
}
