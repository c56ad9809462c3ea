//! `Groups`: stores that are one retailer. In: verdicts on pairs of stores. Out: the groups of the sure pairs, and likely pairs of
//! groups.
//!
//! Pairs are joined from the strongest to the weakest, as long as no two stores of a group are [apart](super::apart), or evidently
//! in different places. Where a store is surely one with each of two that are apart, the evidence is not sure: the stronger pair
//! stays, or a person decides.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::apart::Apart;
use super::comparison::Comparison;
use super::profile::Profile;
use super::rules::{Confidence, Verdict};
use super::shared::Shared;
use super::{Group, Link, Proposals};

/// Maximum number of stores of a retailer that grows by itself.
const MAX_GROUP: usize = 24;
/// Maximum number of likely links of a group.
const MAX_LIKELY: usize = 3;
/// Maximum number of pairs of a store that may contest another pair.
const MAX_RIVALS: usize = 64;

/// Places of two stores, and the verdict on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub stores: (usize, usize),
    pub verdict: Verdict,
    /// Whether the shop moved, by its licence.
    pub is_move: bool,
}

pub(super) struct Groups<'p> {
    profiles: &'p [Profile<'p>],
    apart: &'p Apart<'p>,
    shared: &'p Shared<'p>,
    /// The group of each store.
    group_of: Vec<usize>,
    /// The stores of each group.
    members: Vec<Vec<usize>>,
    /// Groups with several places, since the shop moved or a person said so.
    moved: HashSet<usize>,
}

impl<'p> Groups<'p> {
    /// Each store is alone, but for those of known retailers.
    pub fn new(profiles: &'p [Profile<'p>], apart: &'p Apart<'p>, shared: &'p Shared<'p>) -> Groups<'p> {
        let (group_of, members) = ((0..profiles.len()).collect(), (0..profiles.len()).map(|at| vec![at]).collect());
        let mut groups = Groups { profiles, apart, shared, group_of, members, moved: HashSet::new() };
        let mut first_of = HashMap::new();
        for store in 0..profiles.len() {
            let Some(retailer) = apart.retailer(store) else { continue };
            let first = *first_of.entry(retailer).or_insert(store);
            if groups.are_elsewhere(first, store) {
                groups.moved.insert(groups.group_of[first]);
            }
            groups.join(first, store);
        }
        groups
    }

    pub fn propose(mut self, mut pairs: Vec<Pair>) -> Proposals {
        pairs.sort_unstable_by_key(|pair| (Reverse(pair.verdict), pair.stores));
        let contested = contested(&pairs, self.apart);
        let (mut joined, mut open) = (Vec::new(), Vec::new());
        for pair in pairs {
            let is_sure = pair.verdict.confidence == Confidence::Sure && !contested.contains(&pair.stores);
            if is_sure && self.may_join(pair.stores) && !self.is_contradicted(&pair) {
                if pair.is_move {
                    self.moved.insert(self.group_of[pair.stores.0]);
                }
                self.join(pair.stores.0, pair.stores.1);
                joined.push(pair);
            } else {
                open.push(pair);
            }
        }
        Proposals { sure: self.groups(&joined), likely: self.likely(open) }
    }

    fn groups(&self, joined: &[Pair]) -> Vec<Group> {
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        for (store, profile) in self.profiles.iter().enumerate() {
            if self.apart.retailer(store).is_none() {
                groups.entry(self.group_of[store]).or_default().stores.push(profile.id());
            }
        }
        for (group, proposed) in &mut groups {
            proposed.retailer = self.members[*group].iter().find_map(|store| self.apart.retailer(*store));
        }
        for pair in joined {
            if let Some(group) = groups.get_mut(&self.group_of[pair.stores.0]) {
                group.links.push(self.link(pair.stores));
            }
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| group.stores.first().copied());
        groups
    }

    fn likely(&self, open: Vec<Pair>) -> Vec<Link> {
        let (mut asked, mut number_of) = (HashSet::new(), HashMap::<usize, usize>::new());
        let mut links = Vec::new();
        for pair in open {
            let groups = [self.group_of[pair.stores.0], self.group_of[pair.stores.1]];
            let groups = [groups[0].min(groups[1]), groups[0].max(groups[1])];
            let is_enough = groups.iter().any(|group| number_of.get(group).is_some_and(|number| *number >= MAX_LIKELY));
            if is_enough || !asked.insert(groups) || !self.may_join(pair.stores) {
                continue;
            }
            groups.iter().for_each(|group| *number_of.entry(*group).or_default() += 1);
            links.push(self.link(pair.stores));
        }
        links
    }

    fn link(&self, (one, other): (usize, usize)) -> Link {
        let (one, other) = (&self.profiles[one], &self.profiles[other]);
        let evidence = Comparison::new(one, other, self.shared).map(|facts| facts.evidence()).unwrap_or_default();
        Link { stores: [one.id(), other.id()], evidence }
    }

    /// Whether the groups of two stores are not one yet, and may be.
    fn may_join(&self, (one, other): (usize, usize)) -> bool {
        let (one, other) = (self.group_of[one], self.group_of[other]);
        let (one_members, other_members) = (&self.members[one], &self.members[other]);
        let are_apart = |store: &usize| other_members.iter().any(|other| self.apart.are(*store, *other));
        one != other && one_members.len() + other_members.len() <= MAX_GROUP && !one_members.iter().any(are_apart)
    }

    /// Whether a third store of one of the two groups is evidently elsewhere than one of the other.
    fn is_contradicted(&self, pair: &Pair) -> bool {
        let groups = [self.group_of[pair.stores.0], self.group_of[pair.stores.1]];
        if pair.is_move || groups.iter().any(|group| self.moved.contains(group)) {
            return false;
        }
        let [members, others] = groups.map(|group| &self.members[group]);
        members.iter().any(|one| others.iter().any(|other| self.are_elsewhere(*one, *other)))
    }

    fn are_elsewhere(&self, one: usize, other: usize) -> bool {
        let facts = Comparison::new(&self.profiles[one], &self.profiles[other], self.shared);
        // other states are other places
        facts.is_none_or(|facts| facts.are_elsewhere())
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.group_of[one], self.group_of[other]);
        if one == other {
            return;
        }
        if self.moved.remove(&other) {
            self.moved.insert(one);
        }
        let stores = std::mem::take(&mut self.members[other]);
        for store in &stores {
            self.group_of[*store] = one;
        }
        self.members[one].extend(stores);
    }
}

/// Sure pairs with a store that is in a pair which is at least as strong, where the two pairs cannot both be right.
fn contested(pairs: &[Pair], apart: &Apart) -> HashSet<(usize, usize)> {
    // in the order of their strength, as the pairs are
    let mut partners: HashMap<usize, Vec<(usize, u32)>> = HashMap::new();
    let sure = || pairs.iter().filter(|pair| pair.verdict.confidence == Confidence::Sure);
    for Pair { stores: (one, other), verdict, .. } in sure() {
        partners.entry(*one).or_default().push((*other, verdict.score));
        partners.entry(*other).or_default().push((*one, verdict.score));
    }
    let is_contested = |pair: &&Pair| {
        let (one, other) = pair.stores;
        [(one, other), (other, one)].into_iter().any(|(store, partner)| {
            let stronger =
                partners[&store].iter().take(MAX_RIVALS).take_while(|(_, score)| *score >= pair.verdict.score);
            stronger.map(|(rival, _)| *rival).any(|rival| rival != partner && apart.are(rival, partner))
        })
    };
    sure().filter(is_contested).map(|pair| pair.stores).collect()
}
