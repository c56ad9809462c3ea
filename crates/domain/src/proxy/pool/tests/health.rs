//! The health that people see of the pool's proxies.

use super::*;
use crate::proxy::{HealthCounts, HostBench, HostCooldown, ShownHealth};

fn health(scene: &Scene, id: ProxyId) -> ShownHealth {
    scene.pool.members().find(|member| member.proxy.id == id).unwrap().shown_health(scene.now)
}

fn host_benches(scene: &mut Scene) -> Vec<(String, HostBench)> {
    scene.pool.take_unsaved().into_iter().flat_map(|delta| delta.host_benches).collect()
}

#[test]
fn one_dead_proxy_alone_is_never_healthy_after_its_first_request() {
    let mut scene = Scene::of(1);
    assert_eq!(health(&scene, 1), ShownHealth::Untested);
    for _ in 0..20 {
        scene.report(1, &silence());
        assert_eq!(health(&scene, 1), ShownHealth::Failing);
    }
    let delta = &scene.pool.take_unsaved()[0];
    assert_eq!((delta.unanswered, delta.failures), (20, 0), "it is in the row, and none is blamed");
    assert_eq!(delta.last_error.as_deref(), Some("timeout"));
}

#[test]
fn a_proxy_that_was_good_is_failing_after_three_requests_without_an_answer() {
    let mut scene = Scene::of(1);
    scene.times(200, 1, success());
    scene.times(2, 1, silence());
    assert_eq!(health(&scene, 1), ShownHealth::Healthy);
    scene.report(1, &silence());
    assert_eq!(health(&scene, 1), ShownHealth::Failing);
    scene.report(1, &success());
    assert_eq!(health(&scene, 1), ShownHealth::Healthy);
}

#[test]
fn a_bench_at_one_host_is_shown_until_it_ends_and_then_the_refusals() {
    let mut scene = Scene::of(1);
    scene.times(3, 1, block());
    assert_eq!(health(&scene, 1), ShownHealth::Benched);
    assert_eq!(scene.pool.state(scene.now).usable, 1, "at other hosts");
    let until = scene.now + secs(30);
    let reason = format!("too many blocks in a row by {HOST}");
    assert_eq!(
        host_benches(&mut scene),
        [(HOST.to_owned(), HostBench::Until { until, reason, is_best_effort: false })]
    );
    scene.passes(secs(30));
    assert_eq!(health(&scene, 1), ShownHealth::Refused);
}

#[test]
fn a_success_that_ends_a_bench_at_a_host_is_written() {
    let mut scene = Scene::of(1);
    scene.times(3, 1, block());
    host_benches(&mut scene);
    scene.passes(secs(1));
    scene.report(1, &success());
    assert_eq!(host_benches(&mut scene), [(HOST.to_owned(), HostBench::Ended)]);
    assert_eq!(health(&scene, 1), ShownHealth::Refused, "three of four were refused");
}

#[test]
fn an_early_trial_leaves_a_proxy_benched_and_one_after_its_time_failing() {
    let benched = |left| vec![stored(1, StoredState::Benched { left: secs(left), cooldown_until: mark(1) })];
    let mut scene = Scene::with(benched(900));
    scene.passes(secs(0));
    scene.passes(secs(10));
    assert_eq!((scene.condition(1), health(&scene, 1)), (Condition::OnTrial, ShownHealth::Benched));
    scene.now += secs(900);
    assert_eq!(health(&scene, 1), ShownHealth::Failing);
    scene.report(1, &success());
    assert_eq!(health(&scene, 1), ShownHealth::Healthy);
}

#[test]
fn every_proxy_counts_once_by_its_health() {
    let mut scene = Scene::with(vec![row(1), row(2), row(3), stored(4, StoredState::Off)]);
    scene.report(2, &success());
    scene.report(3, &refusal());
    let health = HealthCounts { untested: 1, healthy: 1, benched: 1, off: 1, ..HealthCounts::default() };
    assert_eq!(scene.pool.state(scene.now), PoolState { usable: 2, health });
}

#[test]
fn a_bench_at_a_host_that_the_table_has_holds_in_a_process_that_starts() {
    let host_benches = vec![HostCooldown { host: HOST.to_owned(), left: secs(40), is_best_effort: false }];
    let mut scene = Scene::with(vec![ProxyRow { host_benches, ..row(1) }, row(2)]);
    assert_eq!(health(&scene, 1), ShownHealth::Benched);
    assert_eq!((scene.lease(), scene.lease_at("other.test")), (Some(2), Some(1)));
    scene.passes(secs(40));
    assert_eq!(cooldowns(&scene.times(1, 1, block())), [120], "the next one is longer");
}

#[test]
fn a_success_without_a_bench_ends_none() {
    let mut scene = Scene::of(1);
    scene.report(1, &success());
    assert_eq!(host_benches(&mut scene), []);
}
