//! `QueryHashes`: which persisted-query hashes to try, and how each went.
//!
//! In: the hashes that may work, before a task. Out: candidates, and observations that are saved after it. It
//! must not know the database.

use domain::query_hash::QueryHash;

/// Whether a hash worked; at most one of each kind a hash and task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashObservation {
    Worked(QueryHash),
    NotFound(QueryHash),
}

#[derive(Clone, Debug, Default)]
pub struct QueryHashes {
    known: Vec<QueryHash>,
    observations: Vec<HashObservation>,
    /// Operations of which this endpoint refused every candidate.
    exhausted: Vec<&'static str>,
}

/// Number of hashes tried for one operation before its full text.
const MAX_CANDIDATES: usize = 8;

impl QueryHashes {
    /// `known`: the most likely to work first.
    pub fn new(known: Vec<QueryHash>) -> Self {
        QueryHashes { known, ..QueryHashes::default() }
    }

    /// The hashes of `operation`, the most likely to work first; none once all of them were refused.
    pub fn candidates(&self, operation: &str) -> Vec<QueryHash> {
        if self.exhausted.contains(&operation) {
            return Vec::new();
        }
        self.known.iter().filter(|known| known.operation == operation).take(MAX_CANDIDATES).cloned().collect()
    }

    /// The platform accepted it: it is tried first from now on.
    pub fn worked(&mut self, hash: &QueryHash) {
        self.move_to(hash, 0);
        self.observe(HashObservation::Worked(hash.clone()));
    }

    /// The platform does not know it (any more, or not at this endpoint): it is tried last from now on.
    pub fn not_found(&mut self, hash: &QueryHash) {
        self.move_to(hash, self.known.len().saturating_sub(1));
        self.observe(HashObservation::NotFound(hash.clone()));
    }

    /// The platform accepted none of the candidates: the further requests of this task send the full text at
    /// once.
    pub fn exhaust(&mut self, operation: &'static str) {
        if !self.exhausted.contains(&operation) {
            self.exhausted.push(operation);
        }
    }

    /// Operations that need a new hash, which an operator adds.
    pub fn exhausted(&self) -> &[&'static str] {
        &self.exhausted
    }

    /// Takes the observations that are not saved yet.
    pub fn take_observations(&mut self) -> Vec<HashObservation> {
        std::mem::take(&mut self.observations)
    }

    fn move_to(&mut self, hash: &QueryHash, place: usize) {
        if let Some(at) = self.known.iter().position(|known| known == hash) {
            let hash = self.known.remove(at);
            self.known.insert(place, hash);
        }
    }

    fn observe(&mut self, observation: HashObservation) {
        if !self.observations.contains(&observation) {
            self.observations.push(observation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(operation: &str, hash: &str) -> QueryHash {
        QueryHash { operation: operation.to_owned(), hash: hash.to_owned() }
    }

    fn hashes() -> QueryHashes {
        QueryHashes::new(vec![hash("A", "new"), hash("B", "other"), hash("A", "old")])
    }

    fn names(hashes: &QueryHashes) -> Vec<String> {
        hashes.candidates("A").into_iter().map(|known| known.hash).collect()
    }

    #[test]
    fn candidates_are_of_the_operation_in_their_order() {
        assert_eq!(names(&hashes()), ["new", "old"]);
    }

    #[test]
    fn what_is_not_found_is_tried_last() {
        let mut hashes = hashes();
        hashes.not_found(&hash("A", "new"));
        assert_eq!(names(&hashes), ["old", "new"]);
    }

    #[test]
    fn what_worked_is_tried_first() {
        let mut hashes = hashes();
        hashes.worked(&hash("A", "old"));
        assert_eq!(names(&hashes), ["old", "new"]);
    }

    #[test]
    fn an_observation_is_made_once() {
        let mut hashes = hashes();
        hashes.worked(&hash("A", "new"));
        hashes.worked(&hash("A", "new"));
        hashes.not_found(&hash("A", "old"));
        assert_eq!(
            hashes.take_observations(),
            [HashObservation::Worked(hash("A", "new")), HashObservation::NotFound(hash("A", "old"))]
        );
        assert_eq!(hashes.take_observations(), []);
    }

    #[test]
    fn what_is_exhausted_has_no_candidates_and_is_named_once() {
        let mut hashes = hashes();
        hashes.exhaust("A");
        hashes.exhaust("A");
        assert_eq!(
            (names(&hashes), hashes.candidates("B").len(), hashes.exhausted()),
            (Vec::new(), 1, ["A"].as_slice())
        );
    }

    #[test]
    fn hashes_that_were_not_listed_may_be_observed() {
        let mut hashes = QueryHashes::default();
        hashes.not_found(&hash("A", "x"));
        hashes.worked(&hash("A", "y"));
        assert_eq!(hashes.take_observations().len(), 2);
    }
}
