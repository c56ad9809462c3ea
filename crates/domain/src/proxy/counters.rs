//! Counters of a proxy, and the deltas by which several processes count in one row without overwriting each
//! other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{HostRecord, ProxyId, RecentRequests, RequestEnd};

/// Maximum number of hosts of one proxy that are counted between two writes; requests to further ones are not.
const MAX_HOSTS: usize = 64;

/// Weight of the newest response time in the moving average.
const NEWEST: f64 = 0.2;

/// Content of the row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    pub success_count: i64,
    pub failure_count: i64,
    /// Blocks since the last success, at whatever host.
    pub consecutive_403_count: i64,
    /// Requests since the last answer, whoever is to blame.
    pub consecutive_failure_count: i64,
    pub recent: RecentRequests,
    /// Moving average (EWMA).
    pub avg_response_time_ms: Option<f64>,
    pub last_error: Option<String>,
}

/// Additions of one process to a row since its last write. One per proxy, however much happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterDelta {
    pub proxy: ProxyId,
    pub used: bool,
    pub successes: i64,
    pub failures: i64,
    /// A success came first, so `blocks` counts from zero.
    pub blocks_reset: bool,
    pub blocks: i64,
    /// An answer came first, so `unanswered` counts from zero.
    pub unanswered_reset: bool,
    pub unanswered: i64,
    pub recent: RecentRequests,
    pub latency: Latency,
    /// Last error: failures, suspicions and blocks all leave one.
    pub last_error: Option<String>,
    pub change: Option<ConditionChange>,
    /// The last change of its bench at each host.
    pub host_benches: BTreeMap<String, HostBench>,
    /// Requests by host.
    pub hosts: BTreeMap<String, HostRecord>,
}

/// A bench at one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostBench {
    Until {
        until: Instant,
        reason: String,
        /// Only requests that a crawl does without led to it.
        is_best_effort: bool,
    },
    /// The request ended before its time.
    Ended,
}

/// The last change of the proxy's condition by this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionChange {
    Benched { until: Instant },
    Revived,
}

/// Response times folded so that they can be applied later to an average which others have moved meanwhile:
/// new = old · `decay` + `add`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    pub decay: f64,
    pub add: f64,
}

impl Default for Latency {
    fn default() -> Self {
        Latency { decay: 1.0, add: 0.0 }
    }
}

impl Latency {
    pub fn observe(&mut self, took: Duration) {
        self.then(Latency { decay: 1.0 - NEWEST, add: NEWEST * took.as_secs_f64() * 1000.0 });
    }

    /// Makes `self` the result of applying it and then `later`.
    fn then(&mut self, later: Latency) {
        self.decay *= later.decay;
        self.add = self.add * later.decay + later.add;
    }

    /// The average after these response times; a first average is the weighted mean of them alone.
    pub fn apply(&self, old: Option<f64>) -> Option<f64> {
        match old {
            Some(old) => Some(old * self.decay + self.add),
            None if self.decay < 1.0 => Some(self.add / (1.0 - self.decay)),
            None => None,
        }
    }
}

impl CounterDelta {
    pub fn of(proxy: ProxyId) -> Self {
        CounterDelta { proxy, ..CounterDelta::default() }
    }

    pub fn is_empty(&self) -> bool {
        *self == CounterDelta::of(self.proxy)
    }

    /// One more request; whoever is to blame for its end.
    pub fn ended(&mut self, end: RequestEnd) {
        self.recent.add(end);
        if end == RequestEnd::Failed {
            self.unanswered += 1;
            return;
        }
        self.unanswered_reset = true;
        self.unanswered = 0;
    }

    /// One more request to `host`, in the record of that host.
    pub fn ended_at(&mut self, host: &str, end: RequestEnd, is_best_effort: bool) {
        let later = HostRecord::of(end, is_best_effort);
        self.absorb_host(host, &later);
    }

    fn absorb_host(&mut self, host: &str, later: &HostRecord) {
        let earlier = self.hosts.get(host);
        if earlier.is_some() || self.hosts.len() < MAX_HOSTS {
            let record = earlier.map_or(*later, |earlier| later.on_top_of(earlier));
            self.hosts.insert(host.to_owned(), record);
        }
    }

    /// `ends_streak`: it was sent after the last block, so the host accepts the proxy again.
    pub fn succeeded(&mut self, took: Duration, ends_streak: bool) {
        self.successes += 1;
        if ends_streak {
            self.blocks_reset = true;
            self.blocks = 0;
        }
        self.latency.observe(took);
    }

    pub fn failed(&mut self, reason: &str) {
        self.failures += 1;
        self.last_error = Some(reason.to_owned());
    }

    /// No answer came; the proxy is not blamed for it.
    pub fn suspected(&mut self, reason: &str) {
        self.last_error = Some(reason.to_owned());
    }

    pub fn blocked(&mut self, host: &str) {
        self.blocks += 1;
        self.last_error = Some(format!("blocked by {host}"));
    }

    /// Adds later counts to `self`.
    pub fn absorb(&mut self, later: CounterDelta) {
        self.used |= later.used;
        self.successes += later.successes;
        self.failures += later.failures;
        self.blocks = later.blocks + if later.blocks_reset { 0 } else { self.blocks };
        self.blocks_reset |= later.blocks_reset;
        self.unanswered = later.unanswered + if later.unanswered_reset { 0 } else { self.unanswered };
        self.unanswered_reset |= later.unanswered_reset;
        self.recent = later.recent.on_top_of(&self.recent);
        self.latency.then(later.latency);
        self.last_error = later.last_error.or(self.last_error.take());
        self.change = later.change.or(self.change);
        self.host_benches.extend(later.host_benches);
        later.hosts.iter().for_each(|(host, record)| self.absorb_host(host, record));
    }

    /// The row as it will be once this delta has been written.
    pub fn on_top_of(&self, row: &Counters) -> Counters {
        Counters {
            success_count: row.success_count + self.successes,
            failure_count: row.failure_count + self.failures,
            consecutive_403_count: self.blocks + if self.blocks_reset { 0 } else { row.consecutive_403_count },
            consecutive_failure_count: self.unanswered
                + if self.unanswered_reset { 0 } else { row.consecutive_failure_count },
            recent: self.recent.on_top_of(&row.recent),
            avg_response_time_ms: self.latency.apply(row.avg_response_time_ms),
            last_error: self.last_error.clone().or_else(|| row.last_error.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Event {
        Success(u64),
        Failure,
        Block,
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![(1u64..5_000).prop_map(Event::Success), Just(Event::Failure), Just(Event::Block)]
    }

    fn fold(events: &[Event]) -> CounterDelta {
        let mut delta = CounterDelta::of(1);
        for event in events {
            match event {
                Event::Success(ms) => {
                    delta.ended(RequestEnd::Answered);
                    delta.succeeded(Duration::from_millis(*ms), true);
                }
                Event::Failure => {
                    delta.ended(RequestEnd::Failed);
                    delta.failed("refused");
                }
                Event::Block => {
                    delta.ended(RequestEnd::Refused);
                    delta.blocked("menu.test");
                }
            }
        }
        delta
    }

    fn same(a: &Counters, b: &Counters) -> bool {
        let close = |a: Option<f64>, b: Option<f64>| (a.unwrap_or(-1.0) - b.unwrap_or(-1.0)).abs() < 1e-6;
        close(a.avg_response_time_ms, b.avg_response_time_ms)
            && Counters { avg_response_time_ms: None, ..a.clone() }
                == Counters { avg_response_time_ms: None, ..b.clone() }
    }

    proptest! {
        #[test]
        fn one_flush_or_two_leave_the_same_row(events in prop::collection::vec(event(), 0..40), cut in 0usize..40) {
            let row = Counters { success_count: 7, consecutive_403_count: 2, avg_response_time_ms: Some(250.0), ..Counters::default() };
            let cut = cut.min(events.len());
            let at_once = fold(&events).on_top_of(&row);
            let in_two = fold(&events[cut..]).on_top_of(&fold(&events[..cut]).on_top_of(&row));
            prop_assert!(same(&at_once, &in_two), "{at_once:?} {in_two:?}");
        }

        #[test]
        fn a_failed_flush_put_back_loses_nothing(events in prop::collection::vec(event(), 0..40), cut in 0usize..40) {
            let cut = cut.min(events.len());
            let mut put_back = fold(&events[..cut]);
            put_back.absorb(fold(&events[cut..]));
            let row = Counters { avg_response_time_ms: Some(10.0), ..Counters::default() };
            prop_assert!(same(&put_back.on_top_of(&row), &fold(&events).on_top_of(&row)));
        }
    }

    #[test]
    fn a_first_response_time_is_the_average() {
        let average = fold(&[Event::Success(400)]).on_top_of(&Counters::default()).avg_response_time_ms;
        assert!(average.is_some_and(|ms| (ms - 400.0).abs() < 1e-6), "{average:?}");
    }

    #[test]
    fn a_response_time_moves_the_average_by_a_fifth() {
        let mut latency = Latency::default();
        assert_eq!((latency.apply(None), latency.apply(Some(100.0))), (None, Some(100.0)));
        latency.observe(Duration::from_millis(200));
        let average = latency.apply(Some(100.0)).unwrap();
        assert!((average - 120.0).abs() < 1e-9, "{average}");
    }

    #[test]
    fn successes_and_failures_are_added_to_those_of_the_row() {
        let row = Counters { success_count: 40, failure_count: 3, ..Counters::default() };
        let counters = fold(&[Event::Success(9), Event::Failure, Event::Failure]).on_top_of(&row);
        assert_eq!((counters.success_count, counters.failure_count), (41, 5));
    }

    #[test]
    fn blocks_and_requests_without_an_answer_add_up_to_those_of_the_row() {
        let row = Counters { consecutive_403_count: 2, consecutive_failure_count: 5, ..Counters::default() };
        let counted = |events: &[Event]| {
            let counters = fold(events).on_top_of(&row);
            (counters.consecutive_403_count, counters.consecutive_failure_count)
        };
        assert_eq!(counted(&[Event::Block]), (3, 0));
        assert_eq!(counted(&[Event::Failure]), (2, 6));
        assert_eq!(counted(&[Event::Success(9), Event::Block, Event::Failure]), (1, 1));
    }

    #[test]
    fn a_reset_in_either_of_two_deltas_is_one_in_both_together() {
        let resets = |earlier: &[Event], later: &[Event]| {
            let mut both = fold(earlier);
            both.used = !earlier.is_empty();
            both.absorb(CounterDelta { used: !later.is_empty(), ..fold(later) });
            (both.used, both.blocks_reset, both.unanswered_reset)
        };
        let success = [Event::Success(9)];
        assert_eq!([resets(&success, &[]), resets(&[], &success), resets(&success, &success)], [(true, true, true); 3]);
        assert_eq!(resets(&[], &[]), (false, false, false));
    }
}
