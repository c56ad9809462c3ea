//! Which proxy a session gets.

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rstest::rstest;

use super::*;

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
        is_best_effort: false,
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

#[rstest]
#[case::a_long_rest_does_not_make_up_for_many_failures(100, 1)]
#[case::a_longer_one_does(300, 2)]
fn rest_and_record_count_in_proportion(#[case] idle: u64, #[case] expected: ProxyId) {
    let mut rows = with(|_| {});
    rows[1].idle = Some(secs(idle));
    rows[1].counters.failure_count = 20;
    assert_eq!(Scene::with(rows).lease(), Some(expected));
}

#[test]
fn nearness_counts_among_proxies_that_were_just_used() {
    let used = |row: ProxyRow| ProxyRow { idle: Some(secs(0)), ..row };
    let near = ProxyRow { state_code: Some("AZ".to_owned()), ..row(2) };
    let ask = ProxyAsk { host: HOST.to_owned(), state: Some("AZ".to_owned()), ..ProxyAsk::default() };
    assert_eq!(Scene::with(vec![used(row(1)), used(near)]).ask(&ask), Some(2));
}

#[test]
fn a_proxy_of_another_state_is_not_near() {
    let rows = with(|row| {
        row.state_code = Some("CA".to_owned());
        row.idle = Some(secs(6));
    });
    let ask = ProxyAsk { host: HOST.to_owned(), state: Some("AZ".to_owned()), ..ProxyAsk::default() };
    assert_eq!(Scene::with(rows).ask(&ask), Some(1));
}

#[test]
fn one_that_was_never_used_has_rested_longer_than_any_of_today() {
    let rows = vec![ProxyRow { idle: Some(secs(2 * 3600)), ..row(1) }, row(2)];
    assert_eq!(Scene::with(rows).lease(), Some(2));
}

#[test]
fn a_failure_in_a_row_is_a_reason_to_choose_another_at_every_host() {
    let good = |id, idle| {
        let counters = Counters { success_count: 1_000, ..Counters::default() };
        ProxyRow { counters, idle: Some(secs(idle)), ..row(id) }
    };
    let mut scene = Scene::with(vec![good(1, 10), good(2, 15)]);
    scene.report(2, &failure());
    assert_eq!(scene.lease_at("other.test"), Some(1));
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
    scene.pool.set_open_leases(1, 0);
    scene.pool.set_open_leases(2, 0);
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
        scene.pool.set_open_leases(id, 0);
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
    let mut events = BTreeMap::new();
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
        scene.pool.set_open_leases(proxy, open[&proxy]);
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
    let in_use: HashSet<_> = used[used.len() - 1500..].iter().collect();
    assert!(in_use.len() >= 80, "{} of 100", in_use.len());
}
