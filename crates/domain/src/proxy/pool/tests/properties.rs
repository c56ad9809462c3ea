//! Invariants after any sequence of leases, outcomes and changes by the operator.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

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
        6 => ProxyOutcome::Suspicion { host, reason: "timeout".to_owned() },
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
                    let most = if scene.condition(id) == Condition::OnTrial { 1 } else { limits().max_leases };
                    prop_assert!(count(&open, id) <= most);
                    prop_assert!(scene.condition(id) != Condition::Off);
                    prop_assert!(!benched.contains_key(&id), "{id} is benched");
                }
                Event::GiveBack(nth) if !open.is_empty() => {
                    let id = open.swap_remove(nth % open.len());
                    scene.pool.set_open_leases(id, count(&open, id));
                }
                Event::GiveBack(_) => {}
                Event::Report(id, outcome) => {
                    match scene.report(id, &outcome) {
                        Some(Notice::Benched { cooldown, .. }) => {
                            prop_assert!(cooldown >= limits().bench_base && cooldown <= limits().bench_cap);
                            benched.insert(id, scene.now + cooldown);
                        }
                        Some(Notice::StillFails { left, .. }) => {
                            prop_assert!(left <= limits().bench_cap);
                            benched.insert(id, scene.now + left);
                        }
                        _ => {}
                    }
                }
                Event::Passes(by) => {
                    let mut early = 0;
                    for notice in scene.passes(secs(by)) {
                        let Notice::OnTrial { proxy } = notice else { panic!("{notice:?}") };
                        early += usize::from(benched.remove(&proxy.id).unwrap() > scene.now);
                    }
                    prop_assert!(early <= 1, "{early} were tried early at once");
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
            let state = scene.pool.state(scene.now);
            prop_assert_eq!(state.health.total(), 4);
            prop_assert!(state.usable <= state.health.switched_on());
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
            // in an outage of all, the longest pause is six times as long
            scene.passes(6 * limits().revive_every);
            prop_assert!(scene.lease_at("elsewhere.test").is_some());
            for id in 1..4 {
                scene.pool.set_open_leases(id, 0);
            }
        }
    }
}
