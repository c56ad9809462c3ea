//! `Hashes`: the persisted queries the origin knows now. Starts with the newest of each operation and retires
//! them on demand.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::request::Operation;

/// Newest first.
const FILTERED_PRODUCTS: [&str; 3] = [
    "b26a493806f49a12637037fba9e7775ed4edef2d701c091b9ea7d5c14a35f6ed",
    "98b4aaef79a84ae804b64d550f98dd64d7ba0aa6d836eb6b5d4b2ae815c95e32",
    "ee29c060826dc41c527e470e9ae502c9b2c169720faa0a9f5d25e1b9a530a4a0",
];
const CONSUMER_DISPENSARIES: [&str; 2] = [
    "1a669394db4149fe474f55d0b4eba7850460f6d6e748fb27c206ab335db17f92",
    "0d3ff8648848a737bbbeff9d090854ce2b78a7c4330d4982dab5b32ba2009448",
];
const DISPENSARY_SEARCH: [&str; 1] = ["c15335c61b3aa861f8959251f17b6ba5f0a1d5f1d2bdd4c0d691b6bae6f3ceb3"];

/// Every hash the platform has used for `operation`, newest first.
pub fn history(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::FilteredProducts => &FILTERED_PRODUCTS,
        Operation::ConsumerDispensaries => &CONSUMER_DISPENSARIES,
        Operation::DispensarySearch => &DISPENSARY_SEARCH,
    }
}

pub(crate) struct Hashes(Mutex<State>);

struct State {
    known: HashSet<(Operation, String)>,
    /// Hashes that were known once: the platform's own older ones, and the ones switched off here.
    retired: HashSet<(Operation, String)>,
    stale_shards: HashSet<String>,
}

impl Hashes {
    pub(crate) fn new() -> Hashes {
        let (mut known, mut retired) = (HashSet::new(), HashSet::new());
        for operation in Operation::ALL {
            for (age, hash) in history(operation).iter().enumerate() {
                let place = if age == 0 { &mut known } else { &mut retired };
                place.insert((operation, (*hash).to_owned()));
            }
        }
        Hashes(Mutex::new(State { known, retired, stale_shards: HashSet::new() }))
    }

    pub(crate) fn know(&self, operation: Operation, hash: &str) {
        self.with(|state| state.known.insert((operation, hash.to_owned())));
    }

    /// Retires every hash of `operation`.
    pub(crate) fn retire_all(&self, operation: Operation) {
        self.with(|state| state.retired.extend(state.known.extract_if(|(of, _)| *of == operation)));
    }

    /// A stale shard knows the hashes that are retired everywhere else, and none that came since.
    pub(crate) fn set_stale(&self, path: &str, stale: bool) {
        self.with(
            |state| if stale { state.stale_shards.insert(path.to_owned()) } else { state.stale_shards.remove(path) },
        );
    }

    pub(crate) fn knows(&self, path: &str, operation: Operation, hash: &str) -> bool {
        self.with(|state| {
            let hash = (operation, hash.to_owned());
            let is_current = state.known.contains(&hash);
            match state.stale_shards.contains(path) {
                true => !is_current && state.retired.contains(&hash),
                false => is_current,
            }
        })
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
