//! The platforms of a demo's stores: most are of Dutchie, and one of ten each of Jane, Weedmaps and Leafly.
//!
//! In: lists of all of the simulator's stores, one for each platform. Out: the stores that the demo crawls there. It must not know
//! how they are crawled or compared.

use sim::Simulator;
use strum::VariantArray;

use crate::simulated;
use domain::store::{NewStore, Platform};

/// The stores to import. `count`: the number of stores of all platforms.
pub fn stores(sim: &Simulator, count: usize) -> Vec<NewStore> {
    let of = |platform: &Platform| {
        let seeds = of_platform(*platform, count, simulated::stores(sim, *platform));
        seeds.map(|seed| simulated::store(*platform, &seed)).collect::<Vec<_>>()
    };
    Platform::VARIANTS.iter().flat_map(of).collect()
}

/// Elements of `all`, which has one for each store of the simulator, that are of the platform's stores.
pub fn of_platform<T>(platform: Platform, count: usize, all: Vec<T>) -> impl Iterator<Item = T> {
    let ordinary = all.into_iter().take(count).enumerate();
    ordinary.filter(move |(place, _)| at(*place) == platform).map(|(_, one)| one)
}

fn at(place: usize) -> Platform {
    match place % 10 {
        7 => Platform::Jane,
        8 => Platform::Weedmaps,
        9 => Platform::Leafly,
        _ => Platform::Dutchie,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_is_of_one_platform_and_a_few_are_of_each() {
        let places = |platform| of_platform(platform, 60, (0..61).collect::<Vec<_>>()).collect::<Vec<_>>();
        let counts = [Platform::Dutchie, Platform::Jane, Platform::Weedmaps, Platform::Leafly]
            .map(|platform| places(platform).len());
        assert_eq!(counts, [42, 6, 6, 6]);
        assert_eq!(places(Platform::Jane), [7, 17, 27, 37, 47, 57]);
    }
}
