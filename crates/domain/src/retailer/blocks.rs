//! Blocks: stores that have a key in common, and are therefore compared. In: all stores. Out: pairs of them, each once, in order.
//!
//! A block with many stores is divided by the names' first words. A part that is still too large has a key that says nothing, such
//! as a default address, and gives no pairs: the number of pairs grows with the number of stores, not with its square.

use std::collections::HashMap;
use std::hash::Hash;

use super::profile::Profile;

/// Maximum number of stores of a block.
const MAX_BLOCK: usize = 64;
/// Height and width of a grid's cell in degrees: at least 0.2 miles, up to 68° north.
const CELL: [f64; 2] = [0.003, 0.008];
/// The two positions of a grid, in parts of a cell. Points within half a cell have a cell in common in one of the four grids.
const MOVED: [[f64; 2]; 4] = [[0.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.5, 0.5]];

#[derive(PartialEq, Eq, Hash)]
enum Key<'p> {
    Licence(&'p str),
    HouseAndZip(&'p str, &'p str),
    HouseAndCity(&'p str, &'p str),
    Cell {
        grid: usize,
        cell: (i32, i32),
    },
    /// First word, city and state.
    Name(&'p str, &'p str, &'p str),
}

/// Pairs of stores that are compared, by their places in `profiles`.
pub(super) fn pairs(profiles: &[Profile]) -> Vec<(usize, usize)> {
    let keyed =
        profiles.iter().enumerate().flat_map(|(at, profile)| keys(profile).into_iter().map(move |key| (key, at)));
    let mut pairs = Vec::new();
    for block in blocks(keyed).into_values() {
        if block.len() <= MAX_BLOCK {
            push_pairs(&mut pairs, &block);
            continue;
        }
        let by_name = block.into_iter().filter_map(|at| Some((profiles[at].name.first()?, at)));
        for part in blocks(by_name).into_values().filter(|part| part.len() <= MAX_BLOCK) {
            push_pairs(&mut pairs, &part);
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

fn keys<'p>(profile: &'p Profile) -> Vec<Key<'p>> {
    let mut keys: Vec<Key> = profile.licences.iter().map(|licence| Key::Licence(licence)).collect();
    for address in profile.addresses() {
        keys.extend(address.zip.as_deref().map(|zip| Key::HouseAndZip(address.house(), zip)));
        keys.extend(address.city().map(|city| Key::HouseAndCity(address.house(), city)));
    }
    if let Some(point) = profile.point {
        let cells = MOVED.iter().map(|moved| point.cell(CELL, *moved)).enumerate();
        keys.extend(cells.map(|(grid, cell)| Key::Cell { grid, cell }));
    }
    if let Some(first) = profile.name.first().filter(|_| !profile.city.is_empty()) {
        keys.push(Key::Name(first, &profile.city, profile.state.as_deref().unwrap_or_default()));
    }
    keys
}

fn blocks<K: Hash + Eq>(keyed: impl Iterator<Item = (K, usize)>) -> HashMap<K, Vec<usize>> {
    let mut blocks: HashMap<K, Vec<usize>> = HashMap::new();
    for (key, at) in keyed {
        let block = blocks.entry(key).or_default();
        if block.last() != Some(&at) {
            block.push(at);
        }
    }
    blocks
}

fn push_pairs(pairs: &mut Vec<(usize, usize)>, block: &[usize]) {
    for (at, one) in block.iter().enumerate() {
        pairs.extend(block[at + 1..].iter().map(|other| (*one, *other)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::retailer::StoreRecord;

    const MILE: f64 = 1.0 / 69.1;

    fn at(id: i64, latitude: f64, longitude: f64) -> StoreRecord {
        StoreRecord { id, latitude: Some(latitude), longitude: Some(longitude), ..StoreRecord::default() }
    }

    fn pairs_of(records: &[StoreRecord]) -> Vec<(usize, usize)> {
        pairs(&records.iter().map(Profile::new).collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn stores_within_a_tenth_of_a_mile_are_compared(
            latitude in -68.0..68.0,
            longitude in -179.9..179.9,
            miles in 0.0..0.1,
            direction in 0.0..std::f64::consts::TAU,
        ) {
            let north = miles * MILE * direction.cos();
            let east = miles * MILE * direction.sin() / f64::to_radians(latitude).cos();
            let stores = [at(1, latitude, longitude), at(2, latitude + north, longitude + east)];
            prop_assert_eq!(pairs_of(&stores), [(0, 1)]);
        }
    }

    #[test]
    fn the_number_of_pairs_does_not_grow_with_the_square_of_stores() {
        const STORES: usize = 3_000;
        let store = |id: usize| StoreRecord {
            name: format!("Copper{} Fern", id % 100),
            address: Some(format!("{} Example Rd", id % 70)),
            city: Some("Mesa".to_owned()),
            zip: Some("85201".to_owned()),
            licences: vec![format!("A{}", 1000 + id % 500)],
            ..at(id as i64, 33.41, -111.83)
        };
        let pairs = pairs_of(&(0..STORES).map(store).collect::<Vec<_>>());
        assert!(!pairs.is_empty() && pairs.len() < STORES * MAX_BLOCK, "{} pairs", pairs.len());
    }
}
