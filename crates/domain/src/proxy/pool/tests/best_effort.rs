//! Requests that a crawl does without, such as images: their failures are of their host, and take nothing from
//! the menus.

use rstest::rstest;

use super::*;
use crate::proxy::{HostBench, HostRecord, ShownHealth};

const IMAGES: &str = "images.test";

fn at(host: &str, outcome: &ProxyOutcome) -> ProxyOutcome {
    let host = host.to_owned();
    match outcome.clone() {
        ProxyOutcome::Success { took, .. } => ProxyOutcome::Success { host, took },
        ProxyOutcome::Failed { reason, at_once, .. } => ProxyOutcome::Failed { host, reason, at_once },
        ProxyOutcome::Suspicion { reason, .. } => ProxyOutcome::Suspicion { host, reason },
        ProxyOutcome::Blocked { .. } => ProxyOutcome::Blocked { host },
        other => other,
    }
}

fn health(scene: &Scene, id: ProxyId) -> ShownHealth {
    scene.pool.members().find(|member| member.proxy.id == id).unwrap().shown_health(scene.now)
}

#[rstest]
#[case::refused_tunnels(silence())]
#[case::broken_connections(failure())]
#[case::blocks(block())]
fn an_image_host_that_no_proxy_reaches_costs_the_menus_nothing(#[case] outcome: ProxyOutcome) {
    let mut scene = Scene::of(8);
    for nth in 0..200 {
        let id = 1 + nth % 8;
        scene.report_image(id, &at(IMAGES, &outcome));
        let menu = scene.lease().expect("a proxy for the menu");
        scene.report(menu, &success());
        scene.pool.set_open_leases(menu, 0);
        scene.passes(secs(1));
    }
    for id in 1..=8 {
        assert_eq!((scene.condition(id), health(&scene, id)), (Condition::Active, ShownHealth::Healthy));
    }
}

#[test]
fn images_before_the_first_menu_are_no_outage_of_the_menus() {
    let mut scene = Scene::of(8);
    for _ in 0..9 {
        (1..=8).for_each(|id| drop(scene.report_image(id, &at(IMAGES, &silence()))));
    }
    assert_eq!((0..8).filter_map(|_| scene.lease()).count(), 8);
    assert_eq!(health(&scene, 1), ShownHealth::Untested, "no menu was asked for");
}

#[test]
fn a_proxy_that_an_image_host_refuses_is_benched_there_alone_and_the_table_learns_of_it() {
    let mut scene = Scene::of(2);
    for _ in 0..6 {
        scene.report_image(1, &at(IMAGES, &silence()));
        scene.passes(secs(1));
        scene.report_image(2, &at(IMAGES, &success()));
        scene.passes(secs(1));
    }
    let benches: Vec<_> = scene.pool.take_unsaved().into_iter().flat_map(|delta| delta.host_benches).collect();
    let [(host, HostBench::Until { is_best_effort: true, .. })] = benches.as_slice() else { panic!("{benches:?}") };
    assert_eq!((host.as_str(), scene.condition(1)), (IMAGES, Condition::Active));
    assert_eq!((scene.lease_at(IMAGES), health(&scene, 1)), (Some(2), ShownHealth::Untested));
}

#[test]
fn images_get_no_proxy_on_trial() {
    let mut scene = Scene::of(1);
    scene.report(1, &refusal());
    scene.passes(secs(30));
    assert_eq!(scene.condition(1), Condition::OnTrial);
    assert_eq!(scene.ask(&ProxyAsk { host: IMAGES.to_owned(), is_best_effort: true, ..ProxyAsk::default() }), None);
    assert_eq!(scene.lease(), Some(1));
}

#[test]
fn a_dead_proxy_is_benched_everywhere_though_an_image_finds_it_out() {
    let mut scene = Scene::of(2);
    scene.report_image(1, &at(IMAGES, &refusal()));
    assert!(scene.is_benched(1));
}

#[test]
fn requests_are_counted_by_host_and_those_for_images_in_no_other_record() {
    let mut scene = Scene::of(1);
    scene.times(2, 1, success());
    (0..3).for_each(|_| drop(scene.report_image(1, &at(IMAGES, &silence()))));
    let delta = scene.pool.take_unsaved().remove(0);
    assert_eq!((delta.recent.requests, delta.unanswered, delta.last_error), (2.0, 0, None));
    let words = |record: &HostRecord| (record.shown_health(), record.is_best_effort);
    let hosts: Vec<_> = delta.hosts.iter().map(|(host, record)| (host.as_str(), words(record))).collect();
    assert_eq!(hosts, [(IMAGES, (ShownHealth::Failing, true)), (HOST, (ShownHealth::Healthy, false))]);
}

#[rstest]
#[case::another_host_answers(true, false)]
#[case::none_answers(false, true)]
fn a_host_that_fails_benches_the_proxy_for_all_hosts_only_where_none_answers(
    #[case] another_answers: bool,
    #[case] everywhere: bool,
) {
    let mut scene = Scene::of(2);
    for _ in 0..5 {
        if another_answers {
            scene.report(1, &at("other.test", &success()));
        }
        scene.report(1, &failure());
    }
    assert_eq!(scene.is_benched(1), everywhere);
    assert_eq!((scene.lease(), scene.lease_at("other.test").is_some()), (Some(2), true));
    scene.pool.set_open_leases(2, limits().max_leases);
    assert_eq!(scene.lease(), None, "it is benched at the host that failed");
}
