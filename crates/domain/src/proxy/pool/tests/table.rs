//! The pool and its table, which other processes and people write too.

use super::*;

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
    let health = HealthCounts { untested: 1, benched: 1, ..HealthCounts::default() };
    assert_eq!(scene.pool.state(scene.now), PoolState { usable: 1, health });
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
    scene.pool.set_open_leases(1, 3);
    assert_eq!(scene.lease(), Some(2));
}

#[test]
fn streaks_benches_and_unsaved_counters_survive_a_restart() {
    let mut scene = Scene::of(4);
    scene.times(4, 1, failure());
    scene.report(2, &refusal());
    scene.times(2, 3, block());
    scene.pool = scene.pool.restarted();
    assert_eq!(scene.lease(), None, "it has not read the table yet");

    scene.pool.load((1..=4).map(row).collect(), scene.now);
    assert!(scene.is_benched(2), "the table does not know of this bench yet");
    assert_eq!(cooldowns(&scene.times(1, 1, failure())), [30], "the fifth failure in a row");
    assert_eq!(cooldowns(&scene.times(1, 3, block())), [30], "the third block in a row");
    let unsaved = scene.pool.take_unsaved();
    let counted = |delta: &CounterDelta| (delta.failures, delta.blocks);
    assert_eq!(unsaved.iter().map(counted).collect::<Vec<_>>(), [(5, 0), (1, 0), (0, 3)]);
}

#[test]
fn a_proxy_that_was_deleted_during_a_restart_is_forgotten() {
    let mut scene = Scene::of(2);
    scene.times(4, 2, failure());
    scene.pool = scene.pool.restarted();
    scene.pool.load(vec![row(1)], scene.now);
    let health = HealthCounts { untested: 1, ..HealthCounts::default() };
    assert_eq!(scene.pool.state(scene.now), PoolState { usable: 1, health });
    scene.pool.load(vec![row(1), row(2)], scene.now);
    assert_eq!(cooldowns(&scene.times(4, 2, failure())), [0; 0]);
}

#[test]
fn a_proxy_that_was_changed_in_the_table_is_leased_as_it_is_there() {
    let mut scene = Scene::of(1);
    let before = scene.pool.lease(&ProxyAsk::default(), scene.now).unwrap();
    scene.pool.load(vec![row(1)], scene.now);
    let same = scene.pool.lease(&ProxyAsk::default(), scene.now).unwrap();
    assert!(Arc::ptr_eq(&before, &same), "an unchanged one is kept");
    let mut changed = row(1);
    changed.proxy.port = 8080;
    scene.pool.load(vec![changed], scene.now);
    assert_eq!(scene.pool.lease(&ProxyAsk::default(), scene.now).map(|proxy| proxy.port), Some(8080));
}
