//! `Matcher`: takes the listings one by one, and decides on all of them. In: listings, in any order. Out: their products.
//!
//! It keeps a profile once, however many listings have it, and no text of a listing: a million of them fit in a few hundred megabytes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::candidates::{Key, key};
use super::comparison::Measure;
use super::groups::{Group, Groups, Known, Link};
use super::profile::Profile;
use super::rules::Rules;
use super::words::Vocabulary;
use super::{BrandId, BrandIndex, CanonicalProductId, Evidence, LinkState, Listing};
use crate::menu::product::ProductId;

/// Maximum number of ids of chains that are kept for a profile.
const MAX_CHAIN_KEYS: usize = 64;

/// Minimum number of names with a word that counts as spelt right.
const FAMILIAR: u32 = 4;

pub struct Matcher<'r> {
    rules: &'r Rules,
    brands: &'r BrandIndex,
    vocabulary: Vocabulary,
    forms: Vec<Form>,
    of_key: HashMap<FormKey, u32>,
    listings: Vec<Placed>,
}

/// A listing, its form, and the product that it had.
#[derive(Debug)]
struct Placed {
    listing: ProductId,
    form: u32,
    before: Option<CanonicalProductId>,
}

/// A profile, and the product that its listings are, if a person said so.
#[derive(PartialEq, Eq, Hash)]
struct FormKey {
    profile: Profile,
    pinned: Option<CanonicalProductId>,
}

#[derive(Default)]
struct Form {
    /// The listing with the smallest id.
    first: ProductId,
    listings: u32,
    /// Ids in order, since a form follows the first that is known.
    chain_keys: BTreeSet<Key>,
}

/// A product that listings belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    /// None = a new one.
    pub id: Option<CanonicalProductId>,
    pub brand: Option<BrandId>,
    pub category: Option<String>,
    /// The listing that stands for it; none where a person pinned its listings.
    pub founder: Option<ProductId>,
    pub listings: u32,
    /// The product that it may be, for a person to decide.
    pub review: Option<Evident>,
}

/// A product in [`Matches::products`], and why it is the one.
#[derive(Clone, Debug, PartialEq)]
pub struct Evident {
    pub product: usize,
    /// Bits of evidence.
    pub score: f64,
    /// The strongest first.
    pub evidence: Vec<Evidence>,
}

/// Decisions on all listings.
#[derive(Debug)]
pub struct Matches {
    pub products: Vec<Product>,
    /// Number of profiles that had more candidates than were compared.
    pub cut: u64,
    decisions: Vec<Evident>,
    /// Whether a person made the decision.
    are_pinned: Vec<bool>,
    listings: Vec<Placed>,
}

impl<'r> Matcher<'r> {
    pub fn new(rules: &'r Rules, brands: &'r BrandIndex) -> Matcher<'r> {
        let (vocabulary, forms, of_key, listings) = Default::default();
        Matcher { rules, brands, vocabulary, forms, of_key, listings }
    }

    pub fn add(&mut self, listing: &Listing) {
        let profile = Profile::new(listing, self.brands, self.rules, &mut self.vocabulary);
        let pinned = listing.product.filter(|_| listing.is_pinned);
        let next = self.forms.len() as u32;
        let form = *self.of_key.entry(FormKey { profile, pinned }).or_insert(next);
        if form == next {
            self.forms.push(Form { first: listing.id, ..Form::default() });
        }
        let chain_key = listing.enterprise_product_id.as_deref().map(|id| key((&listing.platform, id)));
        self.forms[form as usize].add(listing.id, chain_key);
        self.listings.push(Placed { listing: listing.id, form, before: listing.product });
    }

    /// Decides on all listings. The order in which they were added does not matter.
    pub fn finish(mut self) -> Matches {
        let mut keys: Vec<(u32, FormKey)> = self.of_key.drain().map(|(key, form)| (form, key)).collect();
        let names = keys.len() as u32;
        keys.iter().for_each(|(_, key)| key.profile.words.iter().for_each(|word| self.vocabulary.count(*word)));
        keys.sort_by_cached_key(|(form, key)| self.forms[*form as usize].rank(key, &self.vocabulary));
        let mut groups = Groups::new(Measure { rules: self.rules, vocabulary: &self.vocabulary, names });
        let mut links: Vec<Option<Link>> = vec![None; self.forms.len()];
        let mut are_pinned = vec![false; self.forms.len()];
        for (form, key) in &keys {
            let chain_keys = &self.forms[*form as usize].chain_keys;
            let known = Known { pinned: key.pinned, chain_keys };
            links[*form as usize] = Some(groups.place(*form, &key.profile, known));
            are_pinned[*form as usize] = key.pinned.is_some();
        }
        let cut = groups.cut();
        let (products, place_of) = groups.into_products();
        let products = products.into_iter().map(|group| self.product(group)).collect();
        let moved = |link: Link| Link { product: place_of[link.product as usize], ..link };
        let decisions = links.into_iter().flatten().map(moved).map(Evident::from).collect();
        let mut matches = Matches { products, cut, decisions, are_pinned, listings: self.listings };
        matches.count();
        matches.keep_ids();
        matches
    }

    fn product(&self, group: Group) -> Product {
        Product {
            id: group.id,
            brand: group.profile.brand,
            category: group.profile.category.map(|category| self.vocabulary.text(category).to_owned()),
            founder: group.founder.map(|form| self.forms[form as usize].first),
            listings: 0,
            review: group.review.map(Evident::from),
        }
    }
}

impl Form {
    fn add(&mut self, listing: ProductId, chain_key: Option<Key>) {
        self.listings += 1;
        self.first = self.first.min(listing);
        self.chain_keys.extend(chain_key);
        if self.chain_keys.len() > MAX_CHAIN_KEYS {
            self.chain_keys.pop_last();
        }
    }

    /// Forms that a person placed come first; then the best known and the most frequent, which stand for their products. A word of
    /// few names may be a mistake.
    fn rank(&self, key: &FormKey, vocabulary: &Vocabulary) -> (bool, Reverse<u32>, Reverse<u32>, ProductId) {
        let is_familiar = key.profile.words.iter().all(|word| vocabulary.word(*word).names >= FAMILIAR);
        let facts = key.profile.facts() + self.listings.ilog2() + if is_familiar { 2 } else { 0 };
        (key.pinned.is_none(), Reverse(facts), Reverse(self.listings), self.first)
    }
}

impl Matches {
    /// The listings in the order in which they were added, each with its state, and its product with the evidence.
    pub fn decided(&self) -> impl Iterator<Item = (ProductId, LinkState, &Evident)> {
        self.listings.iter().map(|placed| {
            let decision = &self.decisions[placed.form as usize];
            let product = &self.products[decision.product];
            let state = match () {
                () if self.are_pinned[placed.form as usize] => LinkState::Pinned,
                () if product.review.is_some() => LinkState::Review,
                () if product.listings > 1 => LinkState::Linked,
                () => LinkState::Alone,
            };
            (placed.listing, state, decision)
        })
    }

    fn count(&mut self) {
        for placed in &self.listings {
            self.products[self.decisions[placed.form as usize].product].listings += 1;
        }
    }

    /// Gives each product the id that most of its listings had before, so that an id keeps its meaning.
    fn keep_ids(&mut self) {
        let mut shared: HashMap<(usize, CanonicalProductId), u32> = HashMap::new();
        for placed in &self.listings {
            if let Some(before) = placed.before {
                *shared.entry((self.decisions[placed.form as usize].product, before)).or_default() += 1;
            }
        }
        let mut shared: Vec<_> = shared.into_iter().collect();
        shared.sort_unstable_by_key(|((product, id), listings)| (Reverse(*listings), *id, *product));
        let mut taken: HashSet<CanonicalProductId> = self.products.iter().filter_map(|product| product.id).collect();
        for ((product, id), _) in shared {
            if self.products[product].id.is_none() && taken.insert(id) {
                self.products[product].id = Some(id);
            }
        }
    }
}

impl From<Link> for Evident {
    fn from(link: Link) -> Evident {
        Evident { product: link.product as usize, score: link.score, evidence: link.evidence }
    }
}
