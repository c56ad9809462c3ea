//! `RecentRequests`: how the latest requests through a proxy ended, and whether too many of them ended badly.
//!
//! The number is bounded: older requests weigh less, so that a proxy which has healed, or died, soon shows it,
//! and one that is not used keeps its last record. Pure. In: ends of requests. Out: counts, and a judgement. It
//! must not know who is to blame.

/// Maximum number of requests that count; the same number is an argument of the statement that adds them to the table.
pub const MAX_REQUESTS: f64 = 100.0;

/// Minimum share of bad ends at which a proxy is in trouble.
const MAX_BAD_SHARE: f64 = 0.1;

/// 95 % confidence: with few requests only a clear majority is believed.
const Z: f64 = 1.96;

/// The end of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// The host answered and did not refuse it, even if it has trouble of its own.
    Answered,
    /// The host refused it: a block or a challenge.
    Refused,
    /// No answer came.
    Failed,
}

/// Fractions, because older requests weigh less.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecentRequests {
    pub requests: f64,
    pub refused: f64,
    pub failed: f64,
}

impl RecentRequests {
    pub fn add(&mut self, end: RequestEnd) {
        let share = |is_it| if is_it { 1.0 } else { 0.0 };
        let (refused, failed) = (share(end == RequestEnd::Refused), share(end == RequestEnd::Failed));
        *self = RecentRequests { requests: 1.0, refused, failed }.on_top_of(self);
    }

    /// Adds these requests to `earlier` ones, which give way where they are too many together.
    #[must_use]
    pub fn on_top_of(&self, earlier: &RecentRequests) -> RecentRequests {
        let room = (MAX_REQUESTS - self.requests).max(0.0);
        let kept = if earlier.requests > room { room / earlier.requests } else { 1.0 };
        RecentRequests {
            requests: earlier.requests * kept + self.requests,
            refused: earlier.refused * kept + self.refused,
            failed: earlier.failed * kept + self.failed,
        }
    }

    /// Share of the requests that were answered and not refused; None without any.
    pub fn healthy_share(&self) -> Option<f64> {
        (self.requests > 0.0).then(|| (1.0 - self.bad() / self.requests).clamp(0.0, 1.0))
    }

    /// The more frequent bad end, where it is certain enough that too many requests end badly.
    pub fn trouble(&self) -> Option<RequestEnd> {
        if lower_bound(self.bad(), self.requests) <= MAX_BAD_SHARE {
            return None;
        }
        Some(if self.refused > self.failed { RequestEnd::Refused } else { RequestEnd::Failed })
    }

    fn bad(&self) -> f64 {
        self.refused + self.failed
    }
}

/// Lower end of the Wilson score interval of the share `bad` of `all`: the true share is hardly below it.
fn lower_bound(bad: f64, all: f64) -> f64 {
    if all <= 0.0 {
        return 0.0;
    }
    let (share, z2) = ((bad / all).min(1.0), Z * Z);
    let spread = Z * (share * (1.0 - share) / all + z2 / (4.0 * all * all)).sqrt();
    (share + z2 / (2.0 * all) - spread) / (1.0 + z2 / all)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn of(answered: usize, refused: usize, failed: usize) -> RecentRequests {
        let mut recent = RecentRequests::default();
        (0..answered).for_each(|_| recent.add(RequestEnd::Answered));
        (0..refused).for_each(|_| recent.add(RequestEnd::Refused));
        (0..failed).for_each(|_| recent.add(RequestEnd::Failed));
        recent
    }

    #[rstest]
    #[case::nothing_is_known(0, 0, 0, None)]
    #[case::one_answer(1, 0, 0, None)]
    #[case::the_first_request_was_refused(0, 1, 0, Some(RequestEnd::Refused))]
    #[case::the_first_request_failed(0, 0, 1, Some(RequestEnd::Failed))]
    #[case::one_of_two_may_be_chance(1, 1, 0, None)]
    #[case::seven_of_eight_refused(1, 7, 0, Some(RequestEnd::Refused))]
    #[case::one_in_ten_is_usual(45, 5, 0, None)]
    #[case::one_in_four(45, 15, 0, Some(RequestEnd::Refused))]
    #[case::as_many_failed_as_were_refused(0, 2, 2, Some(RequestEnd::Failed))]
    #[case::both_count_together(6, 2, 3, Some(RequestEnd::Failed))]
    fn few_requests_are_judged_by_how_certain_they_are(
        #[case] answered: usize,
        #[case] refused: usize,
        #[case] failed: usize,
        #[case] trouble: Option<RequestEnd>,
    ) {
        assert_eq!(of(answered, refused, failed).trouble(), trouble);
    }

    #[test]
    fn a_proxy_that_has_healed_is_believed_after_some_requests() {
        let mut recent = of(0, 0, 5_000);
        (0..300).for_each(|_| recent.add(RequestEnd::Answered));
        assert!(recent.requests <= MAX_REQUESTS + 1e-6);
        assert_eq!(recent.trouble(), None);
    }

    #[test]
    fn the_share_is_of_the_requests_that_count() {
        assert_eq!(of(0, 0, 0).healthy_share(), None);
        assert_eq!(of(1, 7, 0).healthy_share(), Some(0.125));
        let later = of(0, 100, 0).on_top_of(&of(100, 0, 0));
        assert_eq!((later.requests, later.healthy_share()), (MAX_REQUESTS, Some(0.0)));
    }

    #[rstest]
    #[case::nothing(0.0, 0.0, 0.0)]
    #[case::one_of_one(1.0, 1.0, 0.206_5)]
    #[case::most_of_few(7.0, 8.0, 0.529_1)]
    #[case::a_quarter_of_many(15.0, 60.0, 0.157_8)]
    #[case::none_of_many(0.0, 60.0, 0.0)]
    fn the_share_is_hardly_below_its_lower_bound(#[case] bad: f64, #[case] all: f64, #[case] expected: f64) {
        let bound = lower_bound(bad, all);
        assert!((bound - expected).abs() < 5e-5, "{bound}");
    }

    #[test]
    fn as_many_requests_as_count_stay_as_they_are_on_top_of_none() {
        let full = RecentRequests { requests: MAX_REQUESTS, refused: 10.0, failed: 5.0 };
        assert_eq!(full.on_top_of(&RecentRequests::default()), full);
    }
}
