//! The pool's rules, told as days in the life of a few proxies.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::proxy::{Counters, ProxyProtocol, Stored};

const HOST: &str = "menu.test";

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn limits() -> Limits {
    Limits {
        sessions: 4,
        bench_base: secs(30),
        bench_cap: secs(1800),
        failures_to_bench: 5,
        blocks_to_bench: 3,
        revive_every: secs(10),
    }
}

fn mark(n: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000 + n, 0).unwrap()
}

fn row(id: ProxyId) -> Standing {
    Standing {
        proxy: Proxy {
            id,
            protocol: ProxyProtocol::Http,
            host: format!("p{id}"),
            port: 3128,
            username: None,
            password: None,
        },
        state_code: None,
        timezone: None,
        stored: Stored::Active,
        counters: Counters::default(),
        idle: None,
    }
}

fn stored(id: ProxyId, stored: Stored) -> Standing {
    Standing { stored, ..row(id) }
}

/// A pool and its clock.
struct Day {
    pool: Pool,
    now: Instant,
}

impl Day {
    fn with(rows: Vec<Standing>) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(limits());
        pool.load(rows, now);
        Day { pool, now }
    }

    fn of(proxies: i64) -> Self {
        Day::with((1..=proxies).map(row).collect())
    }

    fn passes(&mut self, by: Duration) -> Vec<Notice> {
        self.now += by;
        self.pool.tick(self.now)
    }

    fn lease(&mut self) -> Option<ProxyId> {
        self.lease_at(HOST)
    }

    fn lease_at(&mut self, host: &str) -> Option<ProxyId> {
        self.ask(&ProxyAsk { host: host.to_owned(), ..ProxyAsk::default() })
    }

    fn ask(&mut self, ask: &ProxyAsk) -> Option<ProxyId> {
        self.pool.lease(ask, self.now).map(|proxy| proxy.id)
    }

    fn report(&mut self, id: ProxyId, outcome: &ProxyOutcome) -> Option<Notice> {
        self.pool.report(id, outcome, self.now)
    }

    fn times(&mut self, n: usize, id: ProxyId, outcome: ProxyOutcome) -> Vec<Notice> {
        (0..n).filter_map(|_| self.report(id, &outcome)).collect()
    }

    fn condition(&self, id: ProxyId) -> Condition {
        self.pool.members().find(|member| member.proxy.id == id).unwrap().health.condition()
    }

    fn is_benched(&self, id: ProxyId) -> bool {
        matches!(self.condition(id), Condition::Benched { .. })
    }
}

fn success() -> ProxyOutcome {
    ProxyOutcome::Success { host: HOST.to_owned(), took: Duration::from_millis(200) }
}

fn failure() -> ProxyOutcome {
    ProxyOutcome::Failed { host: HOST.to_owned(), why: "reset".to_owned(), at_once: false }
}

fn refusal() -> ProxyOutcome {
    ProxyOutcome::Failed { host: HOST.to_owned(), why: "407".to_owned(), at_once: true }
}

fn block() -> ProxyOutcome {
    ProxyOutcome::Blocked { host: HOST.to_owned() }
}

fn silence() -> ProxyOutcome {
    ProxyOutcome::Suspect { host: HOST.to_owned(), why: "timeout".to_owned() }
}

fn cooldowns(notices: &[Notice]) -> Vec<u64> {
    let of = |notice: &Notice| match notice {
        Notice::Benched { cooldown, .. } | Notice::BenchedAtHost { cooldown, .. } => Some(cooldown.as_secs()),
        _ => None,
    };
    notices.iter().filter_map(of).collect()
}

#[rstest]
#[case::four_failures(vec![(4, failure())], false)]
#[case::five_failures(vec![(5, failure())], true)]
#[case::a_success_ends_the_streak(vec![(4, failure()), (1, success()), (4, failure())], false)]
#[case::a_refusal_needs_no_counting(vec![(1, refusal())], true)]
#[case::blocks_are_counted_apart(vec![(4, failure()), (2, block())], false)]
#[case::blocks_do_not_bench_for_all_hosts(vec![(9, block())], false)]
#[case::the_origins_trouble_is_not_the_hops(vec![(50, ProxyOutcome::Neutral)], false)]
fn what_benches_a_proxy(#[case] events: Vec<(usize, ProxyOutcome)>, #[case] benched: bool) {
    let mut day = Day::of(2);
    for (n, outcome) in events {
        day.times(n, 1, outcome);
    }
    assert_eq!(day.is_benched(1), benched);
}

#[test]
fn silence_benches_the_hop_when_its_host_answers_others() {
    let mut day = Day::of(2);
    for _ in 0..5 {
        day.report(1, &silence());
        day.passes(secs(1));
        day.report(2, &success());
        day.passes(secs(1));
    }
    assert!(!day.is_benched(1), "the first silence is only noted");
    day.report(1, &silence());
    assert!(day.is_benched(1));
}

#[rstest]
#[case::silent_to_all(None)]
#[case::another_host_answered(Some((2, "other.test")))]
#[case::it_answered_through_the_same_proxy(Some((1, HOST)))]
fn silence_is_not_the_hops_when_nobody_else_was_answered(#[case] answered: Option<(ProxyId, &str)>) {
    let mut day = Day::of(2);
    for _ in 0..50 {
        day.report(1, &silence());
        day.passes(secs(1));
        if let Some((id, host)) = answered {
            day.report(id, &ProxyOutcome::Success { host: host.to_owned(), took: secs(1) });
        }
        day.passes(secs(1));
    }
    assert!(!day.is_benched(1));
}

#[test]
fn each_bench_in_a_row_is_twice_as_long_up_to_the_cap() {
    let mut day = Day::of(2);
    let mut told = day.times(5, 1, failure());
    for _ in 0..7 {
        day.passes(secs(1800));
        assert_eq!(day.condition(1), Condition::OnTrial);
        told.extend(day.times(1, 1, failure()));
    }
    assert_eq!(cooldowns(&told), [30, 60, 120, 240, 480, 960, 1800, 1800]);
}

#[test]
fn a_success_on_trial_brings_it_back_with_all_its_sessions() {
    let mut day = Day::of(1);
    day.report(1, &refusal());
    assert_eq!(day.lease(), None);

    day.passes(secs(30));
    assert_eq!((day.lease(), day.lease()), (Some(1), None));

    assert!(matches!(day.report(1, &success()), Some(Notice::Revived { .. })));
    assert_eq!((0..5).map(|_| day.lease()).collect::<Vec<_>>(), [Some(1), Some(1), Some(1), None, None]);
    assert_eq!(cooldowns(&day.times(1, 1, refusal())), [30]);
}

#[test]
fn a_success_from_before_the_bench_does_not_end_it() {
    let mut day = Day::of(2);
    day.report(1, &refusal());
    day.report(1, &success());
    assert!(day.is_benched(1));
    day.passes(secs(30));
    assert_eq!(cooldowns(&day.times(1, 1, failure())), [60]);
}

#[test]
fn three_blocks_bench_it_at_that_host_only() {
    let mut day = Day::of(2);
    assert_eq!(cooldowns(&day.times(3, 1, block())), [30]);
    assert_eq!((0..5).filter_map(|_| day.lease()).collect::<Vec<_>>(), [2, 2, 2, 2]);
    assert_eq!(day.lease_at("other.test"), Some(1));

    day.passes(secs(30));
    assert_eq!(day.lease(), Some(1));
    assert_eq!(cooldowns(&day.times(1, 1, block())), [60]);
}

#[test]
fn success_elsewhere_does_not_end_a_streak_of_blocks() {
    let mut day = Day::of(2);
    day.times(2, 1, block());
    day.report(1, &ProxyOutcome::Success { host: "other.test".to_owned(), took: secs(1) });
    assert_eq!(cooldowns(&day.times(1, 1, block())), [30]);
}

#[rstest]
#[case::failures(failure(), 5)]
#[case::blocks(block(), 3)]
fn the_last_active_one_is_spared_and_somebody_told_once_a_streak(#[case] outcome: ProxyOutcome, #[case] streak: usize) {
    let mut day = Day::with(vec![row(1), stored(2, Stored::Off)]);
    let told = day.times(2 * streak, 1, outcome);
    assert_eq!(told.iter().filter(|notice| matches!(notice, Notice::LastOne { .. })).count(), 2);
    assert_eq!((told.len(), day.lease()), (2, Some(1)));
}

#[test]
fn the_spared_one_is_benched_when_another_comes() {
    let mut day = Day::of(1);
    day.times(7, 1, failure());
    day.pool.load(vec![row(1), row(2)], day.now);
    assert_eq!(cooldowns(&day.times(1, 1, failure())), [30]);
}

#[test]
fn with_none_active_the_oldest_benched_is_tried_every_ten_seconds() {
    let benched = |left, n| Stored::Benched { left: secs(left), mark: mark(n) };
    let mut day = Day::with(vec![stored(1, benched(900, 1)), stored(2, benched(900, 2)), stored(3, Stored::Off)]);
    assert_eq!(day.passes(secs(0)), []);
    let mut tried = Vec::new();
    for _ in 0..4 {
        assert_eq!(day.passes(secs(9)), []);
        assert_eq!(day.passes(secs(1)).len(), 1);
        let id = day.lease().unwrap();
        tried.push(id);
        day.report(id, &failure());
        day.pool.sessions_are(id, 0);
        assert_eq!((day.lease(), day.passes(secs(0))), (None, vec![]));
    }
    assert_eq!(tried, [1, 2, 1, 2]);
}

#[test]
fn a_reload_does_not_end_a_trial_but_a_new_bench_elsewhere_does() {
    let benched = |left, n| vec![stored(1, Stored::Benched { left: secs(left), mark: mark(n) })];
    let mut day = Day::with(benched(900, 1));
    day.passes(secs(0));
    day.passes(secs(10));
    day.pool.load(benched(890, 1), day.now);
    assert_eq!(day.condition(1), Condition::OnTrial);
    day.pool.load(benched(1700, 2), day.now);
    assert!(day.is_benched(1));
}

#[test]
fn a_bench_in_the_table_is_followed_and_the_next_one_is_longer() {
    let mut day = Day::of(2);
    let rows = vec![stored(1, Stored::Benched { left: secs(100), mark: mark(1) }), row(2)];
    day.pool.load(rows, day.now);
    assert_eq!(day.pool.state(), PoolState { active: 1, benched: 1, off: 0 });
    day.passes(secs(100));
    assert_eq!(cooldowns(&day.times(1, 1, failure())), [240]);
}

#[test]
fn what_the_table_was_not_told_yet_stands_above_it_but_off_is_stronger() {
    let mut day = Day::of(2);
    day.report(1, &refusal());
    day.pool.load(vec![row(1), row(2)], day.now);
    assert!(day.is_benched(1));

    day.pool.load(vec![stored(1, Stored::Off), row(2)], day.now);
    assert_eq!(day.condition(1), Condition::Off);
    assert!(day.pool.take_unsaved().iter().all(|increment| increment.change.is_none()));
}

#[test]
fn a_bench_that_others_ended_is_over_once_the_table_knew_of_it() {
    let mut day = Day::of(2);
    day.report(1, &refusal());
    assert_eq!(day.pool.take_unsaved().len(), 1);
    day.pool.load(vec![row(1), row(2)], day.now);
    assert_eq!(day.condition(1), Condition::Active);
}

#[test]
fn counters_follow_the_table_with_the_unsaved_on_top() {
    let mut day = Day::of(1);
    day.times(2, 1, success());
    let counters = Counters { success_count: 40, failure_count: 3, ..Counters::default() };
    day.pool.load(vec![Standing { counters, ..row(1) }], day.now);
    let member = day.pool.members().next().unwrap();
    assert_eq!((member.counters.success_count, member.counters.failure_count), (42, 3));
}

#[test]
fn increments_put_back_are_taken_again() {
    let mut day = Day::of(1);
    day.times(3, 1, success());
    let lost = day.pool.take_unsaved();
    day.times(2, 1, success());
    day.pool.put_back(lost);
    assert_eq!(day.pool.take_unsaved()[0].successes, 5);
    assert_eq!(day.pool.take_unsaved(), []);
}

#[test]
fn a_deleted_proxy_is_nobodys() {
    let mut day = Day::of(2);
    day.lease();
    day.pool.load(vec![row(2)], day.now);
    assert_eq!(day.report(1, &failure()), None);
    day.pool.sessions_are(1, 3);
    assert_eq!(day.lease(), Some(2));
}

fn with(change: impl Fn(&mut Standing)) -> Vec<Standing> {
    let mut second = row(2);
    second.idle = Some(secs(10));
    change(&mut second);
    let mut first = row(1);
    first.idle = Some(secs(10));
    vec![first, second, Standing { idle: Some(secs(10)), ..row(3) }]
}

#[rstest]
#[case::least_recently_used(|row: &mut Standing| row.idle = Some(secs(60)))]
#[case::never_used(|row: &mut Standing| row.idle = None)]
#[case::near(|row: &mut Standing| { row.state_code = Some("AZ".to_owned()); row.idle = Some(secs(1)) })]
#[case::same_timezone(|row: &mut Standing| { row.timezone = Some("America/Phoenix".to_owned()); row.idle = Some(secs(1)) })]
fn the_better_one_is_chosen(#[case] better: fn(&mut Standing)) {
    let ask = ProxyAsk {
        host: HOST.to_owned(),
        state: Some("AZ".to_owned()),
        timezone: Some("America/Phoenix".to_owned()),
        avoid: vec![],
    };
    assert_eq!(Day::with(with(better)).ask(&ask), Some(2));
}

#[rstest]
#[case::by_failures(|row: &mut Standing| row.counters.failure_count = 20)]
#[case::by_slowness(|row: &mut Standing| row.counters.avg_response_time_ms = Some(9_000.0))]
#[case::by_use(|row: &mut Standing| row.idle = Some(secs(0)))]
fn the_worse_one_comes_last(#[case] worse: fn(&mut Standing)) {
    let mut day = Day::with(with(worse));
    assert_eq!((0..3).filter_map(|_| day.lease()).collect::<Vec<_>>()[2], 2);
}

#[test]
fn one_that_has_not_failed_at_this_host_is_preferred_there() {
    let mut day = Day::with(with(|row| row.idle = None));
    day.report(2, &block());
    assert_eq!(day.lease(), Some(1));
    assert_eq!(day.lease_at("other.test"), Some(2));
}

#[test]
fn what_was_tried_already_is_avoided_unless_nothing_else_serves() {
    let avoid = |avoid: &[ProxyId]| ProxyAsk { host: HOST.to_owned(), avoid: avoid.to_vec(), ..ProxyAsk::default() };
    let mut day = Day::of(2);
    assert_eq!((0..5).map(|_| day.ask(&avoid(&[1]))).collect::<Vec<_>>(), [Some(2), Some(2), Some(2), Some(2), None]);
    assert_eq!(day.ask(&avoid(&[1, 2])), Some(1));
}

#[derive(Clone, Debug)]
enum Event {
    Lease { host: u8, avoid: Vec<ProxyId> },
    GiveBack(usize),
    Report(ProxyId, ProxyOutcome),
    Passes(u64),
    Off(ProxyId),
    Active(ProxyId),
}

fn outcome(with_refusals: bool) -> impl Strategy<Value = ProxyOutcome> {
    let host = (0u8..2).prop_map(|n| format!("h{n}"));
    (host, 0..if with_refusals { 8u8 } else { 7 }).prop_map(|(host, kind)| match kind {
        0 => ProxyOutcome::Success { host, took: secs(1) },
        1 | 2 => ProxyOutcome::Blocked { host },
        3 | 4 => ProxyOutcome::Failed { host, why: "reset".to_owned(), at_once: false },
        5 => ProxyOutcome::Neutral,
        6 => ProxyOutcome::Suspect { host, why: "timeout".to_owned() },
        _ => ProxyOutcome::Failed { host, why: "407".to_owned(), at_once: true },
    })
}

fn event() -> impl Strategy<Value = Event> {
    let id = || 1i64..5;
    prop_oneof![
        4 => (0u8..2, prop::collection::vec(id(), 0..3)).prop_map(|(host, avoid)| Event::Lease { host, avoid }),
        2 => (0usize..16).prop_map(Event::GiveBack),
        6 => (id(), outcome(true)).prop_map(|(id, outcome)| Event::Report(id, outcome)),
        3 => (0u64..40).prop_map(Event::Passes),
        1 => id().prop_map(Event::Off),
        1 => id().prop_map(Event::Active),
    ]
}

proptest! {
    #[test]
    fn no_proxy_serves_more_sessions_than_it_may_nor_before_its_time(events in prop::collection::vec(event(), 1..200)) {
        let mut day = Day::of(4);
        let mut open: Vec<ProxyId> = Vec::new();
        let mut benched: HashMap<ProxyId, Instant> = HashMap::new();
        let count = |open: &[ProxyId], id| open.iter().filter(|held| **held == id).count();
        for event in events {
            match event {
                Event::Lease { host, avoid } => {
                    let Some(id) = day.ask(&ProxyAsk { host: format!("h{host}"), avoid, ..ProxyAsk::default() }) else {
                        continue;
                    };
                    open.push(id);
                    let most = if day.condition(id) == Condition::OnTrial { 1 } else { limits().sessions };
                    prop_assert!(count(&open, id) <= most);
                    prop_assert!(day.condition(id) != Condition::Off);
                    prop_assert!(!benched.contains_key(&id), "{id} is benched");
                }
                Event::GiveBack(nth) if !open.is_empty() => {
                    let id = open.swap_remove(nth % open.len());
                    day.pool.sessions_are(id, count(&open, id));
                }
                Event::GiveBack(_) => {}
                Event::Report(id, outcome) => {
                    if let Some(Notice::Benched { cooldown, .. }) = day.report(id, &outcome) {
                        prop_assert!(cooldown >= limits().bench_base && cooldown <= limits().bench_cap);
                        benched.insert(id, day.now + cooldown);
                    }
                }
                Event::Passes(by) => {
                    let none_was_active = day.pool.state().active == 0;
                    for notice in day.passes(secs(by)) {
                        let Notice::OnTrial { proxy } = notice else { panic!("{notice:?}") };
                        let until = benched.remove(&proxy.id).unwrap();
                        prop_assert!(until <= day.now || none_was_active);
                    }
                }
                Event::Off(id) | Event::Active(id) => {
                    // the operator's hand: the others' benches have been flushed, and are shown as they are
                    let unsaved = day.pool.take_unsaved();
                    prop_assert!(unsaved.len() <= 4);
                    let off = matches!(event, Event::Off(_));
                    let rows = (1..5).map(|other| match day.condition(other) {
                        _ if other == id => stored(id, if off { Stored::Off } else { Stored::Active }),
                        Condition::Off => stored(other, Stored::Off),
                        Condition::Benched { until, .. } => {
                            let left = until.saturating_duration_since(day.now);
                            stored(other, Stored::Benched { left, mark: mark(other) })
                        }
                        Condition::OnTrial => stored(other, Stored::Benched { left: secs(0), mark: mark(other) }),
                        Condition::Active => row(other),
                    });
                    let rows = rows.collect();
                    day.pool.load(rows, day.now);
                    benched.remove(&id);
                    for other in (1..5).filter(|other| day.is_benched(*other)) {
                        benched.entry(other).or_insert(day.now);
                    }
                }
            }
            let counts = day.pool.state();
            prop_assert_eq!(counts.active + counts.benched + counts.off, 4);
        }
    }

    #[test]
    fn streaks_alone_never_leave_a_pool_without_an_active_proxy(
        events in prop::collection::vec((1i64..4, outcome(false), 0u64..20), 1..300),
    ) {
        let mut day = Day::of(3);
        for (id, outcome, by) in events {
            day.report(id, &outcome);
            day.passes(secs(by));
            prop_assert!((1..4).any(|id| day.condition(id) == Condition::Active));
            prop_assert!(day.lease_at("elsewhere.test").is_some());
            for id in 1..4 {
                day.pool.sessions_are(id, 0);
            }
        }
    }
}

#[test]
fn a_success_that_was_under_way_before_the_blocks_does_not_undo_them() {
    let mut day = Day::of(2);
    day.times(2, 1, block());
    day.report(1, &success());
    assert_eq!(cooldowns(&day.times(1, 1, block())), [30]);
    day.report(1, &success());
    assert_eq!((0..5).filter_map(|_| day.lease()).collect::<Vec<_>>(), [2, 2, 2, 2]);
}
