//! `Groups`: the listings of each product. In: profiles, one after the other, with what is known of their listings. Out: the product of each,
//! a known or a new one, and why.
//!
//! A profile joins the product with the most evidence, compared with all that its members have stated; so no chain of similar listings
//! joins two products. What is neither sure nor unlikely is a product of its own until a person decides.

use std::collections::{BTreeSet, HashMap};

use super::CanonicalProductId;
use super::candidates::{Candidates, Key};
use super::comparison::{Comparison, Measure};
use super::evidence::Evidence;
use super::profile::Profile;

/// Place of a product in [`Groups`].
pub(super) type Place = u32;

pub(super) struct Group {
    /// None = a new product.
    pub id: Option<CanonicalProductId>,
    /// Facts that its members have stated.
    pub profile: Profile,
    /// Place of the form that founded it; none for a known one.
    pub founder: Option<u32>,
    /// The product that it may be, for a person to decide.
    pub review: Option<Link>,
}

/// The evidence for a product.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub product: Place,
    /// Bits.
    pub score: f64,
    pub evidence: Vec<Evidence>,
}

/// Facts about the listings that share a profile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'k> {
    /// The product that they are, as a person said.
    pub pinned: Option<CanonicalProductId>,
    /// Ids of the product in its chains.
    pub chain_keys: &'k BTreeSet<Key>,
}

pub(super) struct Groups<'r> {
    measure: Measure<'r>,
    all: Vec<Group>,
    candidates: Candidates,
    of_id: HashMap<CanonicalProductId, Place>,
    of_chain: HashMap<Key, Place>,
}

struct Best {
    product: Place,
    comparison: Comparison,
}

impl<'r> Groups<'r> {
    pub fn new(measure: Measure<'r>) -> Groups<'r> {
        let (of_id, of_chain) = Default::default();
        Groups { measure, all: Vec::new(), candidates: Candidates::default(), of_id, of_chain }
    }

    /// Joins products that are one by all that their members have stated. Returns the products that remain, and for each place so far the
    /// place of its product among them.
    pub fn into_products(mut self) -> (Vec<Group>, Vec<Place>) {
        let mut place_of: Vec<Place> = (0..self.all.len() as Place).collect();
        for place in (0..self.all.len()).rev() {
            if self.all[place].id.is_some() {
                continue;
            }
            let profile = self.all[place].profile.clone();
            let older = self.best(&profile, |other| (other as usize) < place);
            if let Some(best) = older.filter(|best| best.comparison.bits >= self.measure.rules.table.link) {
                self.all[best.product as usize].profile.learn(&profile);
                place_of[place] = best.product;
            }
        }
        let mut products: Vec<Group> = Vec::new();
        for (place, group) in self.all.into_iter().enumerate() {
            // an older product has its place already
            let older = place_of[place] as usize;
            if older < place {
                place_of[place] = place_of[older];
                continue;
            }
            place_of[place] = products.len() as Place;
            products.push(group);
        }
        for (place, group) in products.iter_mut().enumerate() {
            let review = group.review.take().map(|link| Link { product: place_of[link.product as usize], ..link });
            group.review = review.filter(|link| link.product as usize != place);
        }
        (products, place_of)
    }

    /// Number of profiles that had more candidates than were compared.
    pub fn cut(&self) -> u64 {
        self.candidates.cut
    }

    /// Finds the product of a profile, and founds one where it joins none.
    pub fn place(&mut self, form: u32, profile: &Profile, known: Known<'_>) -> Link {
        let link = match known.pinned {
            Some(id) => self.pin(id, profile),
            None => self.decide(form, profile, known),
        };
        for chain_key in known.chain_keys {
            self.of_chain.entry(*chain_key).or_insert(link.product);
        }
        link
    }

    fn pin(&mut self, id: CanonicalProductId, profile: &Profile) -> Link {
        match self.of_id.get(&id).copied() {
            Some(product) => self.join(&self.compare(product, profile), profile),
            None => self.found(Some(id), profile, None, None),
        }
    }

    fn decide(&mut self, form: u32, profile: &Profile, known: Known<'_>) -> Link {
        if let Some(best) = self.of_chain(profile, known) {
            let mut link = self.join(&best, profile);
            link.evidence.insert(0, Evidence::SameId);
            return link;
        }
        let limits = &self.measure.rules.table;
        let (link, review) = (limits.link, limits.review);
        match self.best(profile, |_| true) {
            Some(best) if best.comparison.bits >= link => self.join(&best, profile),
            Some(best) if best.comparison.bits >= review => {
                let review = self.link(&best, profile);
                self.found(None, profile, Some(form), Some(review))
            }
            _ => self.found(None, profile, Some(form), None),
        }
    }

    /// The product that has the same id in the chain, unless they evidently differ: one wrong link must not bring others.
    fn of_chain(&self, profile: &Profile, known: Known<'_>) -> Option<Best> {
        let products = known.chain_keys.iter().filter_map(|key| self.of_chain.get(key)).copied();
        products.into_iter().find_map(|product| self.compared(product, profile))
    }

    fn best(&mut self, profile: &Profile, is_allowed: impl Fn(Place) -> bool) -> Option<Best> {
        let candidates = self.candidates.of(profile, self.measure.vocabulary);
        let allowed = candidates.into_iter().filter(|product| is_allowed(*product));
        let compared = allowed.filter_map(|product| self.compared(product, profile));
        // of equal evidence the one with more in common
        compared.reduce(|best, next| if next.comparison.bits > best.comparison.bits { next } else { best })
    }

    /// None: they evidently differ.
    fn compared(&self, product: Place, profile: &Profile) -> Option<Best> {
        let comparison = Comparison::new(profile, &self.all[product as usize].profile, self.measure)?;
        Some(Best { product, comparison })
    }

    /// Compares without regard to differences.
    fn compare(&self, product: Place, profile: &Profile) -> Best {
        Best { product, comparison: Comparison::of_facts(profile, &self.all[product as usize].profile, self.measure) }
    }

    fn join(&mut self, best: &Best, profile: &Profile) -> Link {
        let link = self.link(best, profile);
        self.all[best.product as usize].profile.learn(profile);
        link
    }

    fn link(&self, best: &Best, profile: &Profile) -> Link {
        let product = &self.all[best.product as usize].profile;
        let evidence = best.comparison.evidence(profile, product, self.measure.vocabulary, self.measure.rules);
        Link { product: best.product, score: best.comparison.bits, evidence }
    }

    fn found(
        &mut self,
        id: Option<CanonicalProductId>,
        profile: &Profile,
        founder: Option<u32>,
        review: Option<Link>,
    ) -> Link {
        let product = self.all.len() as Place;
        self.candidates.add(product, profile, self.measure.vocabulary);
        self.of_id.extend(id.map(|id| (id, product)));
        self.all.push(Group { id, profile: profile.clone(), founder, review });
        // listings with the same profile are one by what they state
        self.link(&self.compare(product, profile), profile)
    }
}
