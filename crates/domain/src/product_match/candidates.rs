//! `Candidates`: finds the products that a profile may be, without a comparison with all. In: products as they are founded. Out: a bounded
//! number of them for a profile, those with the most in common first.
//!
//! A product is found by its brand with a word or its category, and across brands by two neighbouring words and by its whole name.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};

use siphasher::sip::SipHasher13;

use super::profile::Profile;
use super::words::{Vocabulary, WordId};

/// Maximum number of candidates of a profile.
const MAX_CANDIDATES: usize = 200;
/// Maximum number of products with a key that are looked at; a key with more says little.
const MAX_BLOCK: usize = 1_000;
/// Number of letters of the beginning of a name that is a key, too.
const START_LETTERS: usize = 3;

/// Hash of what products have in common.
pub(super) type Key = u64;

#[derive(Default)]
pub(super) struct Candidates {
    blocks: HashMap<Key, Vec<u32>>,
    /// Profiles with more candidates than are compared.
    pub cut: u64,
}

impl Candidates {
    pub fn add(&mut self, product: u32, profile: &Profile, vocabulary: &Vocabulary) {
        for (key, _) in keys(profile, vocabulary) {
            let block = self.blocks.entry(key).or_default();
            if block.last() != Some(&product) {
                block.push(product);
            }
        }
    }

    /// The products that have most in common with the profile.
    pub fn of(&mut self, profile: &Profile, vocabulary: &Vocabulary) -> Vec<u32> {
        let mut common: HashMap<u32, u32> = HashMap::new();
        let mut is_cut = false;
        for (key, weight) in keys(profile, vocabulary) {
            let Some(block) = self.blocks.get(&key) else { continue };
            is_cut |= block.len() > MAX_BLOCK;
            for product in block.iter().take(MAX_BLOCK) {
                *common.entry(*product).or_default() += weight;
            }
        }
        let mut found: Vec<(u32, u32)> = common.into_iter().collect();
        is_cut |= found.len() > MAX_CANDIDATES;
        self.cut += u64::from(is_cut);
        found.sort_unstable_by_key(|(product, weight)| (std::cmp::Reverse(*weight), *product));
        found.truncate(MAX_CANDIDATES);
        found.into_iter().map(|(product, _)| product).collect()
    }
}

/// Keys of a profile, each with how much it says.
pub(super) fn keys(profile: &Profile, vocabulary: &Vocabulary) -> Vec<(Key, u32)> {
    let text = |word: &WordId| vocabulary.text(*word);
    let mut keys = Vec::with_capacity(2 * profile.words.len() + 3);
    if let Some(brand) = profile.brand {
        keys.extend(profile.words.iter().map(|word| (key(('b', brand, text(word))), 4)));
        keys.push((key(('c', brand, profile.category.as_ref().map(text))), 1));
        let start: String = profile.words.iter().flat_map(|word| text(word).chars()).take(START_LETTERS).collect();
        keys.push((key(('s', brand, start)), 2));
    }
    keys.extend(profile.words.windows(2).map(|pair| (key(('w', text(&pair[0]), text(&pair[1]))), 2)));
    let name: String = profile.words.iter().map(text).collect();
    keys.push((key(('n', name, profile.category.as_ref().map(text))), 3));
    keys
}

pub(super) fn key(parts: impl std::hash::Hash) -> Key {
    BuildHasherDefault::<SipHasher13>::default().hash_one(parts)
}
