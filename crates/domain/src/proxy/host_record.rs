//! `HostRecord`: how the latest requests to one host through one proxy ended.
//!
//! Pure. In: ends of requests. Out: counts, and a word for people. It must not know the proxy's other hosts.

use super::{RecentRequests, RequestEnd, ShownHealth};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostRecord {
    pub recent: RecentRequests,
    /// Only requests that a crawl does without went there.
    pub is_best_effort: bool,
}

impl HostRecord {
    pub fn of(end: RequestEnd, is_best_effort: bool) -> Self {
        let mut recent = RecentRequests::default();
        recent.add(end);
        HostRecord { recent, is_best_effort }
    }

    /// Adds these requests to `earlier` ones.
    #[must_use]
    pub fn on_top_of(&self, earlier: &HostRecord) -> HostRecord {
        HostRecord {
            recent: self.recent.on_top_of(&earlier.recent),
            is_best_effort: self.is_best_effort && earlier.is_best_effort,
        }
    }

    /// `healthy`, `refused` or `failing`.
    pub fn shown_health(&self) -> ShownHealth {
        match self.recent.trouble() {
            Some(RequestEnd::Failed) => ShownHealth::Failing,
            Some(_) => ShownHealth::Refused,
            None => ShownHealth::Healthy,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn of(ends: &[RequestEnd]) -> HostRecord {
        let one = |end: &RequestEnd| HostRecord::of(*end, true);
        ends.iter().map(one).reduce(|earlier, later| later.on_top_of(&earlier)).unwrap_or_default()
    }

    #[rstest]
    #[case::answered(&[RequestEnd::Answered], ShownHealth::Healthy)]
    #[case::refused(&[RequestEnd::Refused; 3], ShownHealth::Refused)]
    #[case::without_an_answer(&[RequestEnd::Failed; 3], ShownHealth::Failing)]
    #[case::one_of_two(&[RequestEnd::Failed, RequestEnd::Answered], ShownHealth::Healthy)]
    fn a_host_is_judged_by_its_own_requests(#[case] ends: &[RequestEnd], #[case] health: ShownHealth) {
        assert_eq!(of(ends).shown_health(), health);
    }

    #[test]
    fn one_request_of_a_crawl_makes_a_host_one_of_the_crawl() {
        let crawl = HostRecord::of(RequestEnd::Answered, false);
        assert!(!of(&[RequestEnd::Failed]).on_top_of(&crawl).is_best_effort);
        assert!(!crawl.on_top_of(&of(&[RequestEnd::Failed])).is_best_effort);
    }
}
