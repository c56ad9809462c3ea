//! `PersistedQueries`: which persisted-query hashes to try, and what came of it.
//!
//! A value that is filled from the table `query_hashes` before a task and whose observations go back there after it; it must not
//! know the database.

/// A hash that the platform has been seen to accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownHash {
    pub operation: String,
    pub hash: String,
}

/// What a task learned of a hash, once each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashObservation {
    Worked(KnownHash),
    NotFound(KnownHash),
}

#[derive(Clone, Debug, Default)]
pub struct PersistedQueries {
    known: Vec<KnownHash>,
    observations: Vec<HashObservation>,
    /// Operations of which no known hash works any more.
    exhausted: Vec<&'static str>,
}

/// A request that fails with so many hashes will not succeed with the next.
const MAX_CANDIDATES: usize = 8;

impl PersistedQueries {
    /// `known`: the most likely to work first.
    pub fn new(known: Vec<KnownHash>) -> Self {
        PersistedQueries { known, ..PersistedQueries::default() }
    }

    /// The hashes of `operation`, the most likely to work first; none once all of them were refused.
    pub fn candidates(&self, operation: &str) -> Vec<KnownHash> {
        if self.exhausted.contains(&operation) {
            return Vec::new();
        }
        self.known.iter().filter(|known| known.operation == operation).take(MAX_CANDIDATES).cloned().collect()
    }

    /// The platform took it: it is tried first from now on.
    pub fn worked(&mut self, hash: &KnownHash) {
        self.move_to(hash, 0);
        self.note(HashObservation::Worked(hash.clone()));
    }

    /// The platform does not know it (any more, or not at this shard): it is tried last from now on.
    pub fn not_found(&mut self, hash: &KnownHash) {
        self.move_to(hash, self.known.len().saturating_sub(1));
        self.note(HashObservation::NotFound(hash.clone()));
    }

    /// The platform took none of the candidates: what this task asks further needs no second round of refusals.
    pub fn exhaust(&mut self, operation: &'static str) {
        if !self.exhausted.contains(&operation) {
            self.exhausted.push(operation);
        }
    }

    /// Operations that need a new hash, which is an operator's to find.
    pub fn exhausted(&self) -> &[&'static str] {
        &self.exhausted
    }

    /// What the table does not know yet.
    pub fn take_observations(&mut self) -> Vec<HashObservation> {
        std::mem::take(&mut self.observations)
    }

    fn move_to(&mut self, hash: &KnownHash, place: usize) {
        if let Some(at) = self.known.iter().position(|known| known == hash) {
            let hash = self.known.remove(at);
            self.known.insert(place, hash);
        }
    }

    fn note(&mut self, observation: HashObservation) {
        if !self.observations.contains(&observation) {
            self.observations.push(observation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(operation: &str, hash: &str) -> KnownHash {
        KnownHash { operation: operation.to_owned(), hash: hash.to_owned() }
    }

    fn queries() -> PersistedQueries {
        PersistedQueries::new(vec![hash("A", "new"), hash("B", "other"), hash("A", "old")])
    }

    fn names(queries: &PersistedQueries) -> Vec<String> {
        queries.candidates("A").into_iter().map(|known| known.hash).collect()
    }

    #[test]
    fn candidates_are_of_the_operation_in_their_order() {
        assert_eq!(names(&queries()), ["new", "old"]);
    }

    #[test]
    fn what_is_not_found_is_tried_last() {
        let mut queries = queries();
        queries.not_found(&hash("A", "new"));
        assert_eq!(names(&queries), ["old", "new"]);
    }

    #[test]
    fn what_worked_is_tried_first() {
        let mut queries = queries();
        queries.worked(&hash("A", "old"));
        assert_eq!(names(&queries), ["old", "new"]);
    }

    #[test]
    fn an_observation_is_noted_once() {
        let mut queries = queries();
        queries.worked(&hash("A", "new"));
        queries.worked(&hash("A", "new"));
        queries.not_found(&hash("A", "old"));
        assert_eq!(
            queries.take_observations(),
            [HashObservation::Worked(hash("A", "new")), HashObservation::NotFound(hash("A", "old"))]
        );
        assert_eq!(queries.take_observations(), []);
    }

    #[test]
    fn an_exhausted_operation_has_no_candidates_and_is_listed_once() {
        let mut queries = queries();
        queries.exhaust("A");
        queries.exhaust("A");
        assert_eq!(
            (names(&queries), queries.candidates("B").len(), queries.exhausted()),
            (Vec::new(), 1, ["A"].as_slice())
        );
    }

    #[test]
    fn unlisted_hashes_may_be_observed() {
        let mut queries = PersistedQueries::default();
        queries.not_found(&hash("A", "x"));
        queries.worked(&hash("A", "y"));
        assert_eq!(queries.take_observations().len(), 2);
    }
}
