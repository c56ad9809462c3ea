//! `BrandIndex`: finds the brand of a listing. In: brands with their spellings. Out: the brand that a listing names, or the one whose name
//! its product's name has; and which words of that name are the brand's.

use std::collections::HashMap;

use super::brand_name::BrandName;
use super::brands::{KnownBrand, is_near};
use super::rules::Rules;
use super::tokens::{Token, tokens};
use super::{BrandId, Listing};

/// Minimum number of letters of a brand that is looked for in names: shorter ones are words of other names.
const MIN_LETTERS: usize = 4;
/// The same inside a name, where nothing separates it.
const MIN_LETTERS_INSIDE: usize = 8;
/// Maximum number of words of a brand.
const MAX_WORDS: usize = 6;

#[derive(Clone, Debug, Default)]
pub struct BrandIndex {
    /// Brands by platform and spelling.
    by_spelling: HashMap<String, HashMap<String, BrandId>>,
    /// Brands by the letters of their names; none where two brands share them.
    by_letters: HashMap<String, Option<BrandId>>,
    letters: HashMap<BrandId, Vec<String>>,
    /// Words that the letters of names leave out.
    legal: Vec<String>,
}

impl BrandIndex {
    pub fn new(brands: &[KnownBrand], rules: &Rules) -> BrandIndex {
        let mut index = BrandIndex { legal: rules.table.brands.legal.clone(), ..BrandIndex::default() };
        for brand in brands {
            for spelling in &brand.spellings {
                let of_platform = index.by_spelling.entry(spelling.platform.clone()).or_default();
                of_platform.insert(spelling.name.clone(), brand.id);
                let Some(name) = BrandName::new(&spelling.name, rules) else { continue };
                index.add(brand.id, name.full);
                index.add(brand.id, name.short);
            }
        }
        // the longest first: it takes away the most
        index
            .letters
            .values_mut()
            .for_each(|names| names.sort_by_key(|name| (std::cmp::Reverse(name.len()), name.clone())));
        index
    }

    fn add(&mut self, brand: BrandId, letters: String) {
        let known = self.by_letters.entry(letters.clone()).or_insert(Some(brand));
        if *known != Some(brand) {
            *known = None;
        }
        let names = self.letters.entry(brand).or_default();
        if !names.contains(&letters) {
            names.push(letters);
        }
    }

    /// The brand that the listing names.
    pub fn named(&self, listing: &Listing) -> Option<BrandId> {
        self.by_spelling.get(&listing.platform)?.get(listing.brand.as_ref()?).copied()
    }

    /// The brand that the listing names, or that its product's name has.
    pub fn of(&self, listing: &Listing) -> Option<BrandId> {
        self.named(listing).or_else(|| self.found_in(&tokens(&listing.name)))
    }

    /// The brand that the name of a product begins with, or that is a part of it between separators.
    pub(super) fn found_in(&self, tokens: &[Token]) -> Option<BrandId> {
        let found = (0..tokens.len()).filter_map(|start| {
            let is_start = start == 0 || tokens[start].part != tokens[start - 1].part;
            self.longest_at(&tokens[start..], is_start, start == 0)
        });
        // a brand in front is meant rather than one behind
        found.max_by_key(|(length, is_front, _)| (*is_front, *length)).map(|(_, _, brand)| brand)
    }

    /// A name that is neither in front nor a part of its own has two words at least.
    fn longest_at(&self, tokens: &[Token], is_start: bool, is_front: bool) -> Option<(usize, bool, BrandId)> {
        let mut letters = String::new();
        let mut found = None;
        for (at, token) in tokens.iter().take(MAX_WORDS).enumerate() {
            self.push(token, &mut letters);
            let is_part = tokens.get(at + 1).is_none_or(|next| next.part != token.part);
            if letters.len() >= MIN_LETTERS
                && (is_front || is_start && is_part || at > 0 && letters.len() >= MIN_LETTERS_INSIDE)
                && let Some(Some(brand)) = self.by_letters.get(&letters)
            {
                found = Some((letters.len(), is_front, *brand));
            }
        }
        found
    }

    /// The tokens without the name of the brand, however it is spelt.
    pub(super) fn without(&self, brand: BrandId, mut tokens: Vec<Token>) -> Vec<Token> {
        let Some(names) = self.letters.get(&brand) else { return tokens };
        for is_exact in [true, false] {
            let range = names.iter().find_map(|name| self.find(&tokens, name, is_exact));
            if let Some((start, end)) = range.filter(|(start, end)| end - start < tokens.len()) {
                tokens.drain(start..end);
                return tokens;
            }
        }
        tokens
    }

    /// The first tokens that have together the letters of the name.
    fn find(&self, tokens: &[Token], name: &str, is_exact: bool) -> Option<(usize, usize)> {
        (0..tokens.len()).find_map(|start| {
            let mut letters = String::new();
            for (at, token) in tokens[start..].iter().take(MAX_WORDS).enumerate() {
                self.push(token, &mut letters);
                let is_found = if is_exact { letters == name } else { is_near(&letters, name) };
                if is_found {
                    return Some((start, start + at + 1));
                }
                if letters.len() > name.len() + 2 {
                    return None;
                }
            }
            None
        })
    }

    fn push(&self, token: &Token, letters: &mut String) {
        if !self.legal.contains(&token.text) {
            letters.push_str(&token.text);
        }
    }
}
