//! `Apart`: pairs of stores that cannot be one retailer. In: a person's decisions, platforms and services. Out: yes or no.

use std::collections::{HashMap, HashSet};

use super::profile::Profile;
use super::{Input, RetailerId};
use crate::store::StoreId;

pub(super) struct Apart<'p> {
    profiles: &'p [Profile<'p>],
    /// The retailer of each store, by its place in `profiles`.
    retailers: Vec<Option<RetailerId>>,
    refused_pairs: HashSet<[StoreId; 2]>,
    refused_stores: HashSet<(RetailerId, StoreId)>,
}

impl<'p> Apart<'p> {
    pub fn new(profiles: &'p [Profile<'p>], input: &Input) -> Apart<'p> {
        let mut retailer_of: HashMap<StoreId, RetailerId> = HashMap::new();
        let confirmed = input.retailers.iter().flat_map(|known| known.confirmed.iter().map(|store| (*store, known.id)));
        for (store, retailer) in confirmed {
            // a store is in one retailer: the older one, were there two
            let known = retailer_of.entry(store).or_insert(retailer);
            *known = retailer.min(*known);
        }
        let refused = input.retailers.iter().flat_map(|known| known.refused.iter().map(|store| (known.id, *store)));
        Apart {
            profiles,
            retailers: profiles.iter().map(|profile| retailer_of.get(&profile.id()).copied()).collect(),
            refused_pairs: input.refused.iter().map(|[one, other]| sorted(*one, *other)).collect(),
            refused_stores: refused.collect(),
        }
    }

    pub fn retailer(&self, store: usize) -> Option<RetailerId> {
        self.retailers[store]
    }

    /// Whether two stores, by their places, cannot be one retailer.
    pub fn are(&self, one: usize, other: usize) -> bool {
        let (retailer, other_retailer) = (self.retailers[one], self.retailers[other]);
        if retailer.is_some() && retailer == other_retailer {
            return false;
        }
        retailer.is_some() && other_retailer.is_some()
            || self.are_twins(one, other)
            || self.is_refused(retailer, other)
            || self.is_refused(other_retailer, one)
            || self.refused_pairs.contains(&sorted(self.profiles[one].id(), self.profiles[other].id()))
    }

    /// Whether one platform has both, for the same customers.
    fn are_twins(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.profiles[one], &self.profiles[other]);
        one.record.platform == other.record.platform && !one.service.differs(other.service)
    }

    fn is_refused(&self, retailer: Option<RetailerId>, store: usize) -> bool {
        retailer.is_some_and(|retailer| self.refused_stores.contains(&(retailer, self.profiles[store].id())))
    }
}

fn sorted(one: StoreId, other: StoreId) -> [StoreId; 2] {
    [one.min(other), one.max(other)]
}
