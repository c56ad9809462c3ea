//! Outages: all proxies accept connections and none brings an answer.

use super::*;

/// All of them have brought no answer three times.
fn silent(proxies: i64) -> Scene {
    let mut scene = Scene::of(proxies);
    (1..=proxies).for_each(|id| drop(scene.times(3, id, silence())));
    scene
}

/// Number of leases, each of which fails, within `passed` seconds at one request for a lease each second.
fn leases_within(scene: &mut Scene, passed: u64) -> usize {
    let mut leases = 0;
    for _ in 0..passed {
        scene.passes(secs(1));
        if let Some(id) = scene.lease() {
            leases += 1;
            scene.report(id, &silence());
            scene.pool.set_open_leases(id, 0);
        }
    }
    leases
}

#[test]
fn leases_become_few_where_no_proxy_brings_an_answer() {
    let mut scene = silent(5);
    assert_eq!(leases_within(&mut scene, 70), 3, "after 0, 10 and 30 s");
    assert_eq!(leases_within(&mut scene, 600), 10, "one a minute");
}

#[test]
fn one_answer_ends_an_outage() {
    let mut scene = silent(2);
    assert_eq!(leases_within(&mut scene, 20), 2);
    scene.report(2, &block());
    assert_eq!(leases_within(&mut scene, 5), 5);
}

#[test]
fn it_is_no_outage_where_one_proxy_was_not_tried_or_has_answered() {
    let mut scene = silent(3);
    scene.pool.load((1..=4).map(row).collect(), scene.now);
    assert!(scene.lease().is_some(), "a new proxy may be what brings an answer");

    let mut scene = silent(3);
    scene.report(1, &success());
    assert_eq!(leases_within(&mut scene, 3), 3);
}

#[test]
fn an_outage_of_one_host_takes_no_lease_from_another() {
    let mut scene = silent(5);
    assert_eq!(leases_within(&mut scene, 70), 3);
    for _ in 0..20 {
        let id = scene.lease_at("other.test").expect("that host is not silent");
        scene.report(id, &ProxyOutcome::Success { host: "other.test".to_owned(), took: secs(1) });
        scene.pool.set_open_leases(id, 0);
    }
    assert_eq!(leases_within(&mut scene, 70), 2, "at 70 and 130 s: an answer of another host says nothing of this one");
}
