//! Blocks: a proxy is benched at the host that refuses it, and a host that refuses every proxy is left alone.

use super::*;

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
fn a_success_that_was_under_way_before_the_blocks_does_not_undo_them() {
    let mut scene = Scene::of(2);
    scene.times(2, 1, block());
    scene.report(1, &success());
    assert_eq!(cooldowns(&scene.times(1, 1, block())), [30]);
    scene.report(1, &success());
    assert_eq!((0..5).filter_map(|_| scene.lease()).collect::<Vec<_>>(), [2, 2, 2, 2]);
}

#[test]
fn an_alarm_about_one_subject_may_be_given_once_a_minute() {
    let mut scene = Scene::of(1);
    let start = scene.now;
    let mut may_alarm = |subject, seconds| scene.pool.may_alarm(subject, start + secs(seconds));
    assert_eq!([may_alarm("a", 0), may_alarm("a", 0), may_alarm("b", 0)], [true, false, true]);
    assert_eq!([may_alarm("a", 59), may_alarm("a", 60), may_alarm("a", 61)], [false, true, false]);
}
