//! The rules of the pool, shown with a few proxies and a clock that the test moves.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::proxy::{Counters, ProxyProtocol, StoredState};

const HOST: &str = "menu.test";

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn limits() -> BenchLimits {
    BenchLimits {
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

fn row(id: ProxyId) -> ProxyRow {
    ProxyRow {
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
        stored: StoredState::Active,
        counters: Counters::default(),
        idle: None,
    }
}

fn stored(id: ProxyId, stored: StoredState) -> ProxyRow {
    ProxyRow { stored, ..row(id) }
}

/// A pool and its clock.
struct Scene {
    pool: Pool,
    now: Instant,
}

impl Scene {
    fn with(rows: Vec<ProxyRow>) -> Self {
        let now = Instant::now();
        let mut pool = Pool::new(limits());
        pool.load(rows, now);
        Scene { pool, now }
    }

    fn of(proxies: i64) -> Self {
        Scene::with((1..=proxies).map(row).collect())
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
    ProxyOutcome::Failed { host: HOST.to_owned(), reason: "reset".to_owned(), at_once: false }
}

fn refusal() -> ProxyOutcome {
    ProxyOutcome::Failed { host: HOST.to_owned(), reason: "407".to_owned(), at_once: true }
}

fn block() -> ProxyOutcome {
    ProxyOutcome::Blocked { host: HOST.to_owned() }
}

fn silence() -> ProxyOutcome {
    ProxyOutcome::Suspect { host: HOST.to_owned(), reason: "timeout".to_owned() }
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
#[case::a_failure_of_the_origin_is_not_the_proxys(vec![(50, ProxyOutcome::Neutral)], false)]
fn what_benches_a_proxy(#[case] events: Vec<(usize, ProxyOutcome)>, #[case] benched: bool) {
    let mut scene = Scene::of(2);
    for (n, outcome) in events {
        scene.times(n, 1, outcome);
    }
    assert_eq!(scene.is_benched(1), benched);
}

#[test]
fn silence_benches_the_proxy_when_its_host_answers_others() {
    let mut scene = Scene::of(2);
    for _ in 0..5 {
        scene.report(1, &silence());
        scene.passes(secs(1));
        scene.report(2, &success());
        scene.passes(secs(1));
    }
    assert!(!scene.is_benched(1), "the first silence is only noted");
    scene.report(1, &silence());
    assert!(scene.is_benched(1));
}

#[rstest]
#[case::silent_to_all(None)]
#[case::another_host_answered(Some((2, "other.test")))]
#[case::it_answered_through_the_same_proxy(Some((1, HOST)))]
fn silence_is_not_the_proxys_fault_when_the_host_answers_no_other(#[case] answered: Option<(ProxyId, &str)>) {
    let mut scene = Scene::of(2);
    for _ in 0..50 {
        scene.report(1, &silence());
        scene.passes(secs(1));
        if let Some((id, host)) = answered {
            scene.report(id, &ProxyOutcome::Success { host: host.to_owned(), took: secs(1) });
        }
        scene.passes(secs(1));
    }
    assert!(!scene.is_benched(1));
}

#[test]
fn each_bench_in_a_row_is_twice_as_long_up_to_the_cap() {
    let mut scene = Scene::of(2);
    let mut notices = scene.times(5, 1, failure());
    for _ in 0..7 {
        scene.passes(secs(1800));
        assert_eq!(scene.condition(1), Condition::OnTrial);
        notices.extend(scene.times(1, 1, failure()));
    }
    assert_eq!(cooldowns(&notices), [30, 60, 120, 240, 480, 960, 1800, 1800]);
}

#[test]
fn a_success_on_trial_brings_it_back_with_all_its_sessions() {
    let mut scene = Scene::of(1);
    scene.report(1, &refusal());
    assert_eq!(scene.lease(), None);

    scene.passes(secs(30));
    assert_eq!((scene.lease(), scene.lease()), (Some(1), None));

    assert!(matches!(scene.report(1, &success()), Some(Notice::Revived { .. })));
    assert_eq!((0..5).map(|_| scene.lease()).collect::<Vec<_>>(), [Some(1), Some(1), Some(1), None, None]);
    assert_eq!(cooldowns(&scene.times(1, 1, refusal())), [30]);
}

#[test]
fn a_success_from_before_the_bench_does_not_end_it() {
    let mut scene = Scene::of(2);
    scene.report(1, &refusal());
    scene.report(1, &success());
    assert!(scene.is_benched(1));
    scene.passes(secs(30));
    assert_eq!(cooldowns(&scene.times(1, 1, failure())), [60]);
}

#[test]
fn three_blocks_bench_it_at_that_host_only() {
    let mut scene = Scene::of(2);
    assert_eq!(cooldowns(&scene.times(3, 1, block())), [30]);
    assert_eq!((0..5).filter_map(|_| scene.lease()).collect::<Vec<_>>(), [2, 2, 2, 2]);
    assert_eq!(scene.lease_at("other.test"), Some(1));

    scene.passes(secs(30));
    assert_eq!(scene.lease(), Some(1));
    assert_eq!(cooldowns(&scene.times(1, 1, block())), [60]);
}

#[test]
fn success_elsewhere_does_not_end_a_streak_of_blocks() {
    let mut scene = Scene::of(2);
    scene.times(2, 1, block());
    scene.report(1, &ProxyOutcome::Success { host: "other.test".to_owned(), took: secs(1) });
    assert_eq!(cooldowns(&scene.times(1, 1, block())), [30]);
}

#[test]
fn the_last_active_one_is_used_seldom_while_it_fails_and_one_alarm_a_minute_is_given() {
    let mut scene = Scene::with(vec![row(1), stored(2, StoredState::Off)]);
    let mut notices = scene.times(5, 1, failure());
    let mut leases = 0;
    for _ in 0..170 {
        scene.passes(secs(1));
        while scene.lease().is_some() {
            leases += 1;
            notices.extend(scene.times(1, 1, failure()));
            scene.pool.sessions_are(1, 0);
        }
    }
    assert_eq!(scene.condition(1), Condition::Active);
    assert_eq!(leases, 17, "one every ten seconds");
    assert!(notices.iter().all(|notice| matches!(notice, Notice::LastActiveFailing { .. })), "{notices:?}");
    assert_eq!(notices.len(), 3);

    scene.report(1, &success());
    assert_eq!((0..5).filter_map(|_| scene.lease()).count(), 4);
}

#[test]
fn a_host_that_blocks_every_proxy_is_left_alone_and_one_alarm_is_given() {
    let mut scene = Scene::of(2);
    let mut notices = scene.times(3, 1, block());
    notices.extend(scene.times(9, 2, block()));
    assert_eq!(notices.len(), 2);
    assert_eq!(notices[1], Notice::HostRefusesAll { host: HOST.to_owned() });
    assert_eq!((scene.lease(), scene.lease_at("other.test")), (None, Some(1)));
    scene.passes(secs(30));
    assert_eq!(scene.lease(), Some(2));
}

#[test]
fn the_last_active_one_is_benched_when_another_comes() {
    let mut scene = Scene::of(1);
    scene.times(7, 1, failure());
    scene.pool.load(vec![row(1), row(2)], scene.now);
    assert_eq!(cooldowns(&scene.times(1, 1, failure())), [30]);
}

#[test]
fn with_none_active_the_oldest_benched_is_tried_every_ten_seconds() {
    let benched = |left, n| StoredState::Benched { left: secs(left), cooldown_until: mark(n) };
    let mut scene =
        Scene::with(vec![stored(1, benched(900, 1)), stored(2, benched(900, 2)), stored(3, StoredState::Off)]);
    assert_eq!(scene.passes(secs(0)), []);
    let mut tried = Vec::new();
    for _ in 0..4 {
        assert_eq!(scene.passes(secs(9)), []);
        assert_eq!(scene.passes(secs(1)).len(), 1);
        let id = scene.lease().unwrap();
        tried.push(id);
        scene.report(id, &failure());
        scene.pool.sessions_are(id, 0);
        assert_eq!((scene.lease(), scene.passes(secs(0))), (None, vec![]));
    }
    assert_eq!(tried, [1, 2, 1, 2]);
}

#[test]
fn a_reload_does_not_end_a_trial_but_a_new_bench_elsewhere_does() {
    let benched = |left, n| vec![stored(1, StoredState::Benched { left: secs(left), cooldown_until: mark(n) })];
    let mut scene = Scene::with(benched(900, 1));
    scene.passes(secs(0));
    scene.passes(secs(10));
    scene.pool.load(benched(890, 1), scene.now);
    assert_eq!(scene.condition(1), Condition::OnTrial);
    scene.pool.load(benched(1700, 2), scene.now);
    assert!(scene.is_benched(1));
}

#[test]
fn a_bench_in_the_table_is_followed_and_the_next_one_is_longer() {
    let mut scene = Scene::of(2);
    let rows = vec![stored(1, StoredState::Benched { left: secs(100), cooldown_until: mark(1) }), row(2)];
    scene.pool.load(rows, scene.now);
    assert_eq!(scene.pool.state(), PoolState { active: 1, benched: 1, off: 0 });
    scene.passes(secs(100));
    assert_eq!(cooldowns(&scene.times(1, 1, failure())), [240]);
}

#[test]
fn what_is_not_written_yet_counts_for_more_than_the_table_but_off_is_stronger() {
    let mut scene = Scene::of(2);
    scene.report(1, &refusal());
    scene.pool.load(vec![row(1), row(2)], scene.now);
    assert!(scene.is_benched(1));

    scene.pool.load(vec![stored(1, StoredState::Off), row(2)], scene.now);
    assert_eq!(scene.condition(1), Condition::Off);
    assert!(scene.pool.take_unsaved().iter().all(|delta| delta.change.is_none()));
}

#[test]
fn a_bench_that_others_ended_is_over_once_the_table_knew_of_it() {
    let mut scene = Scene::of(2);
    scene.report(1, &refusal());
    assert_eq!(scene.pool.take_unsaved().len(), 1);
    scene.pool.load(vec![row(1), row(2)], scene.now);
    assert_eq!(scene.condition(1), Condition::Active);
}

#[test]
fn counters_follow_the_table_with_the_unsaved_on_top() {
    let mut scene = Scene::of(1);
    scene.times(2, 1, success());
    let counters = Counters { success_count: 40, failure_count: 3, ..Counters::default() };
    scene.pool.load(vec![ProxyRow { counters, ..row(1) }], scene.now);
    let member = scene.pool.members().next().unwrap();
    assert_eq!((member.counters.success_count, member.counters.failure_count), (42, 3));
}

#[test]
fn deltas_put_back_are_taken_again() {
    let mut scene = Scene::of(1);
    scene.times(3, 1, success());
    let lost = scene.pool.take_unsaved();
    scene.times(2, 1, success());
    scene.pool.put_back(lost);
    assert_eq!(scene.pool.take_unsaved()[0].successes, 5);
    assert_eq!(scene.pool.take_unsaved(), []);
}

#[test]
fn outcomes_of_a_deleted_proxy_are_ignored() {
    let mut scene = Scene::of(2);
    scene.lease();
    scene.pool.load(vec![row(2)], scene.now);
    assert_eq!(scene.report(1, &failure()), None);
    scene.pool.sessions_are(1, 3);
    assert_eq!(scene.lease(), Some(2));
}

fn with(change: impl Fn(&mut ProxyRow)) -> Vec<ProxyRow> {
    let mut second = row(2);
    second.idle = Some(secs(10));
    change(&mut second);
    let mut first = row(1);
    first.idle = Some(secs(10));
    vec![first, second, ProxyRow { idle: Some(secs(10)), ..row(3) }]
}

#[rstest]
#[case::least_recently_used(|row: &mut ProxyRow| row.idle = Some(secs(60)))]
#[case::never_used(|row: &mut ProxyRow| row.idle = None)]
#[case::near(|row: &mut ProxyRow| { row.state_code = Some("AZ".to_owned()); row.idle = Some(secs(6)) })]
#[case::same_timezone(|row: &mut ProxyRow| { row.timezone = Some("America/Phoenix".to_owned()); row.idle = Some(secs(6)) })]
fn the_better_one_is_chosen(#[case] better: fn(&mut ProxyRow)) {
    let ask = ProxyAsk {
        host: HOST.to_owned(),
        state: Some("AZ".to_owned()),
        timezone: Some("America/Phoenix".to_owned()),
        avoid: vec![],
    };
    assert_eq!(Scene::with(with(better)).ask(&ask), Some(2));
}

#[rstest]
#[case::by_failures(|row: &mut ProxyRow| row.counters.failure_count = 20)]
#[case::by_slowness(|row: &mut ProxyRow| row.counters.avg_response_time_ms = Some(9_000.0))]
#[case::by_use(|row: &mut ProxyRow| row.idle = Some(secs(0)))]
fn the_worse_one_comes_last(#[case] worse: fn(&mut ProxyRow)) {
    let mut scene = Scene::with(with(worse));
    assert_eq!((0..3).filter_map(|_| scene.lease()).collect::<Vec<_>>()[2], 2);
}

#[test]
fn one_that_has_not_failed_at_this_host_lately_is_preferred_there() {
    let mut scene = Scene::with(with(|row| row.idle = Some(secs(50))));
    scene.report(2, &block());
    assert_eq!(scene.lease(), Some(1));
    assert_eq!(scene.lease_at("other.test"), Some(2));
}

#[test]
fn what_was_tried_already_is_avoided_unless_nothing_else_serves() {
    let avoid = |avoid: &[ProxyId]| ProxyAsk { host: HOST.to_owned(), avoid: avoid.to_vec(), ..ProxyAsk::default() };
    let mut scene = Scene::of(2);
    assert_eq!((0..5).map(|_| scene.ask(&avoid(&[1]))).collect::<Vec<_>>(), [Some(2), Some(2), Some(2), Some(2), None]);
    assert_eq!(scene.ask(&avoid(&[1, 2])), Some(1));
}

#[test]
fn a_failure_at_a_host_fades_within_minutes() {
    let mut scene = Scene::of(2);
    assert_eq!((scene.lease(), scene.lease()), (Some(1), Some(2)));
    scene.report(1, &block());
    scene.pool.sessions_are(1, 0);
    scene.pool.sessions_are(2, 0);
    scene.passes(secs(120));
    assert_eq!((scene.lease(), scene.lease()), (Some(1), Some(2)), "the order of before");
}

#[test]
fn a_near_proxy_does_not_take_every_store_of_its_state() {
    let mut rows: Vec<_> = (1..=50).map(row).collect();
    rows[0].state_code = Some("AZ".to_owned());
    let mut scene = Scene::with(rows);
    let ask = ProxyAsk { host: HOST.to_owned(), state: Some("AZ".to_owned()), ..ProxyAsk::default() };
    let mut chosen = Vec::new();
    for _ in 0..500 {
        scene.passes(secs(1));
        let id = scene.ask(&ask).unwrap();
        scene.pool.sessions_are(id, 0);
        chosen.push(id);
    }
    let near = chosen.iter().filter(|id| **id == 1).count();
    assert!((11..=25).contains(&near), "{near} of 500, where an equal share is 10");
}

/// 75 slots crawl stores of 14 requests through 100 proxies; a request is blocked with the given probability.
#[rstest]
#[case::one_in_five_hundred(0.002)]
#[case::one_in_a_hundred(0.01)]
fn the_load_stays_spread_over_the_proxies_whatever_is_blocked(#[case] block_rate: f64) {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    struct Store {
        proxy: ProxyId,
        requests_left: u32,
        avoid: Vec<ProxyId>,
    }

    const STORES: usize = 6 * 3000;
    let mut rng = StdRng::seed_from_u64(1);
    let mut scene = Scene::of(100);
    let start = scene.now;
    let mut open: HashMap<ProxyId, usize> = HashMap::new();
    let mut used = Vec::new();
    let mut events = std::collections::BTreeMap::new();
    let mut stores: Vec<Store> = Vec::new();
    let mut done = 0;
    let mut waiting: Vec<Store> = (0..75).map(|_| Store { proxy: 0, requests_left: 14, avoid: Vec::new() }).collect();
    loop {
        for mut store in std::mem::take(&mut waiting) {
            let ask = ProxyAsk { host: HOST.to_owned(), avoid: store.avoid.clone(), ..ProxyAsk::default() };
            store.proxy = scene.ask(&ask).expect("there are more sessions than slots");
            *open.entry(store.proxy).or_default() += 1;
            used.push(store.proxy);
            let at = scene.now - start + Duration::from_secs_f64(rng.random_range(0.5..1.5));
            events.insert((at, stores.len()), stores.len());
            stores.push(store);
        }
        if done >= STORES {
            break;
        }
        let ((at, _), nth) = events.pop_first().unwrap();
        scene.now = start + at;
        scene.pool.tick(scene.now);
        let (proxy, blocked) = (stores[nth].proxy, rng.random_bool(block_rate));
        scene.report(proxy, &if blocked { block() } else { success() });
        if !blocked && stores[nth].requests_left > 1 {
            stores[nth].requests_left -= 1;
            let next = at + Duration::from_secs_f64(rng.random_range(0.5..1.5));
            events.insert((next, nth), nth);
            continue;
        }
        *open.get_mut(&proxy).unwrap() -= 1;
        scene.pool.sessions_are(proxy, open[&proxy]);
        done += usize::from(!blocked);
        waiting.push(match blocked {
            true => {
                let store = &stores[nth];
                let avoid = store.avoid.iter().copied().chain([proxy]).collect();
                Store { proxy, requests_left: store.requests_left, avoid }
            }
            false => Store { proxy, requests_left: 14, avoid: Vec::new() },
        });
    }
    let in_use: std::collections::HashSet<_> = used[used.len() - 1500..].iter().collect();
    assert!(in_use.len() >= 80, "{} of 100", in_use.len());
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
        3 | 4 => ProxyOutcome::Failed { host, reason: "reset".to_owned(), at_once: false },
        5 => ProxyOutcome::Neutral,
        6 => ProxyOutcome::Suspect { host, reason: "timeout".to_owned() },
        _ => ProxyOutcome::Failed { host, reason: "407".to_owned(), at_once: true },
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
        let mut scene = Scene::of(4);
        let mut open: Vec<ProxyId> = Vec::new();
        let mut benched: HashMap<ProxyId, Instant> = HashMap::new();
        let count = |open: &[ProxyId], id| open.iter().filter(|proxy| **proxy == id).count();
        for event in events {
            match event {
                Event::Lease { host, avoid } => {
                    let Some(id) = scene.ask(&ProxyAsk { host: format!("h{host}"), avoid, ..ProxyAsk::default() }) else {
                        continue;
                    };
                    open.push(id);
                    let most = if scene.condition(id) == Condition::OnTrial { 1 } else { limits().sessions };
                    prop_assert!(count(&open, id) <= most);
                    prop_assert!(scene.condition(id) != Condition::Off);
                    prop_assert!(!benched.contains_key(&id), "{id} is benched");
                }
                Event::GiveBack(nth) if !open.is_empty() => {
                    let id = open.swap_remove(nth % open.len());
                    scene.pool.sessions_are(id, count(&open, id));
                }
                Event::GiveBack(_) => {}
                Event::Report(id, outcome) => {
                    if let Some(Notice::Benched { cooldown, .. }) = scene.report(id, &outcome) {
                        prop_assert!(cooldown >= limits().bench_base && cooldown <= limits().bench_cap);
                        benched.insert(id, scene.now + cooldown);
                    }
                }
                Event::Passes(by) => {
                    let none_was_active = scene.pool.state().active == 0;
                    for notice in scene.passes(secs(by)) {
                        let Notice::OnTrial { proxy } = notice else { panic!("{notice:?}") };
                        let until = benched.remove(&proxy.id).unwrap();
                        prop_assert!(until <= scene.now || none_was_active);
                    }
                }
                Event::Off(id) | Event::Active(id) => {
                    // the operator's hand: the others' benches have been flushed, and are shown as they are
                    let unsaved = scene.pool.take_unsaved();
                    prop_assert!(unsaved.len() <= 4);
                    let off = matches!(event, Event::Off(_));
                    let rows = (1..5).map(|other| match scene.condition(other) {
                        _ if other == id => stored(id, if off { StoredState::Off } else { StoredState::Active }),
                        Condition::Off => stored(other, StoredState::Off),
                        Condition::Benched { until, .. } => {
                            let left = until.saturating_duration_since(scene.now);
                            stored(other, StoredState::Benched { left, cooldown_until: mark(other) })
                        }
                        Condition::OnTrial => stored(other, StoredState::Benched { left: secs(0), cooldown_until: mark(other) }),
                        Condition::Active => row(other),
                    });
                    let rows = rows.collect();
                    scene.pool.load(rows, scene.now);
                    benched.remove(&id);
                    for other in (1..5).filter(|other| scene.is_benched(*other)) {
                        benched.entry(other).or_insert(scene.now);
                    }
                }
            }
            let counts = scene.pool.state();
            prop_assert_eq!(counts.active + counts.benched + counts.off, 4);
        }
    }

    #[test]
    fn streaks_alone_never_leave_a_pool_without_an_active_proxy(
        events in prop::collection::vec((1i64..4, outcome(false), 0u64..20), 1..300),
    ) {
        let mut scene = Scene::of(3);
        for (id, outcome, by) in events {
            scene.report(id, &outcome);
            scene.passes(secs(by));
            prop_assert!((1..4).any(|id| scene.condition(id) == Condition::Active));
            scene.passes(limits().revive_every);
            prop_assert!(scene.lease_at("elsewhere.test").is_some());
            for id in 1..4 {
                scene.pool.sessions_are(id, 0);
            }
        }
    }
}

#[test]
fn a_success_that_was_under_way_before_the_blocks_does_not_undo_them() {
    let mut scene = Scene::of(2);
    scene.times(2, 1, block());
    scene.report(1, &success());
    assert_eq!(cooldowns(&scene.times(1, 1, block())), [30]);
    scene.report(1, &success());
    assert_eq!((0..5).filter_map(|_| scene.lease()).collect::<Vec<_>>(), [2, 2, 2, 2]);
}
