//! When a proxy is benched as a whole, for how long, and how it comes back.

use rstest::rstest;

use super::*;

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

#[test]
fn one_answer_between_two_outages_of_a_host_benches_no_proxy() {
    let mut scene = Scene::of(2);
    scene.report(1, &silence());
    scene.passes(secs(61));
    scene.report(2, &success());
    for _ in 0..50 {
        scene.passes(secs(1));
        scene.report(1, &silence());
    }
    assert!(!scene.is_benched(1));
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

    scene.passes(secs(1));
    assert!(matches!(scene.report(1, &success()), Some(Notice::Revived { .. })));
    assert_eq!((0..5).map(|_| scene.lease()).collect::<Vec<_>>(), [Some(1), Some(1), Some(1), None, None]);
    assert_eq!(cooldowns(&scene.times(1, 1, refusal())), [30]);
}

#[rstest]
#[case::the_host_has_trouble(ProxyOutcome::Answered { host: HOST.to_owned() })]
#[case::the_host_refuses_it(block())]
fn any_answer_on_trial_brings_it_back(#[case] answer: ProxyOutcome) {
    let mut scene = Scene::of(2);
    scene.report(1, &refusal());
    scene.passes(secs(30));
    assert!(matches!(scene.report(1, &answer), Some(Notice::Revived { .. })));
    assert_eq!(scene.condition(1), Condition::Active);
}

#[test]
fn a_refusal_after_an_early_trial_that_ended_well_is_a_bench_of_its_own() {
    let mut scene =
        Scene::with(vec![stored(1, StoredState::Benched { left: secs(900), cooldown_until: mark(1) }), row(2)]);
    scene.passes(secs(0));
    scene.passes(secs(30));
    assert_eq!(scene.condition(1), Condition::OnTrial);
    scene.passes(secs(1));
    assert!(matches!(scene.report(1, &success()), Some(Notice::Revived { .. })));
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
fn the_last_active_one_is_used_seldom_while_it_fails_and_one_alarm_a_minute_is_given() {
    let mut scene = Scene::with(vec![row(1), stored(2, StoredState::Off)]);
    let mut notices = scene.times(5, 1, failure());
    let mut leases = 0;
    for _ in 0..170 {
        scene.passes(secs(1));
        while scene.lease().is_some() {
            leases += 1;
            notices.extend(scene.times(1, 1, failure()));
            scene.pool.set_open_leases(1, 0);
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
        scene.pool.set_open_leases(id, 0);
        assert_eq!((scene.lease(), scene.passes(secs(0))), (None, vec![]));
    }
    assert_eq!(tried, [1, 2, 1, 2]);
}
