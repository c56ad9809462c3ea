//! How soon healed proxies are in use again, and how many requests the dead ones cost until then.

use rstest::rstest;

use super::*;

/// Time between two requests; ticks are as far apart.
const STEP: Duration = Duration::from_millis(250);

const HOUR: Duration = Duration::from_secs(3600);

impl Scene {
    /// Sends requests for `during`; proxies up to `dead` refuse theirs. Returns how many were refused.
    fn is_used(&mut self, during: Duration, dead: ProxyId) -> usize {
        let end = self.now + during;
        let mut failed = 0;
        while self.now < end {
            self.passes(STEP);
            failed += self.requests_once(dead);
        }
        failed
    }

    /// One request, with its further tries. Gives how many of them failed.
    fn requests_once(&mut self, dead: ProxyId) -> usize {
        let mut avoid = Vec::new();
        while let Some(id) = self.ask(&ProxyAsk { host: HOST.to_owned(), avoid: avoid.clone(), ..ProxyAsk::default() })
        {
            self.pool.set_open_leases(id, 0);
            if id > dead {
                self.report(id, &success());
                break;
            }
            self.report(id, &refusal());
            avoid.push(id);
        }
        avoid.len()
    }

    fn until_whole(&mut self) -> Duration {
        let healed = self.now;
        let all = self.pool.state(self.now);
        while self.pool.members().any(|member| member.health.condition() != Condition::Active) {
            self.is_used(STEP, 0);
            assert!(self.now < healed + HOUR, "{all:?}: not whole within an hour");
        }
        self.now - healed
    }
}

#[rstest]
#[case::one_of_two(2, 1)]
#[case::two_of_eight(8, 2)]
#[case::half_of_them_for_one_reason(16, 8)]
#[case::all_of_them(20, 20)]
fn the_pool_is_whole_within_thirty_seconds_of_healing_however_long_it_was_not(#[case] all: i64, #[case] dead: i64) {
    for outage in [secs(5), secs(60), secs(601), 2 * HOUR] {
        let mut scene = Scene::of(all);
        scene.is_used(outage, dead);
        let took = scene.until_whole();
        assert!(took <= secs(30) + STEP, "after {outage:?} it took {took:?}");
    }
}

#[rstest]
#[case::a_few(8, 3)]
#[case::most(100, 90)]
fn what_is_dead_costs_little_however_much_of_it_there_is(#[case] all: i64, #[case] dead: i64) {
    let mut scene = Scene::of(all);
    scene.is_used(HOUR, dead);
    let failed = scene.is_used(HOUR, dead);
    let by_cooldown = usize::try_from(dead).unwrap() * 3;
    assert!(failed <= 360 + by_cooldown, "{failed} requests failed in an hour");
}

#[test]
fn a_request_meets_one_proxy_on_trial_at_most() {
    let benched = |id| stored(id, StoredState::Benched { left: secs(0), cooldown_until: mark(id) });
    let mut scene = Scene::with((1..=6).map(benched).chain([row(7)]).collect());
    assert_eq!(scene.passes(STEP).len(), 6);
    assert_eq!((0..6).map(|_| scene.requests_once(6)).collect::<Vec<_>>(), [1; 6]);
}

#[test]
fn an_early_trial_that_fails_does_not_lengthen_the_bench() {
    let mut scene =
        Scene::with(vec![stored(1, StoredState::Benched { left: secs(900), cooldown_until: mark(1) }), row(2)]);
    scene.passes(secs(0));
    scene.passes(secs(30));
    assert_eq!(scene.condition(1), Condition::OnTrial);
    assert!(matches!(scene.report(1, &failure()), Some(Notice::StillFails { left, .. }) if left == secs(870)));
    assert!(scene.pool.take_unsaved().iter().all(|delta| delta.change.is_none()), "the table knows its end");

    scene.passes(secs(870));
    assert_eq!(cooldowns(&scene.times(1, 1, failure())), [1800]);
}

#[test]
fn one_that_came_back_has_each_other_tried_once() {
    let benched = |id, left| stored(id, StoredState::Benched { left: secs(left), cooldown_until: mark(id) });
    let mut scene = Scene::with((1..=3).map(|id| benched(id, 900)).chain([benched(4, 5), row(5)]).collect());
    scene.passes(secs(5));
    scene.passes(STEP);
    assert!(matches!(scene.report(4, &success()), Some(Notice::Revived { .. })));
    let tried: Vec<usize> = (0..5)
        .map(|_| {
            scene.passes(STEP);
            scene.requests_once(3)
        })
        .collect();
    assert_eq!(tried, [1, 1, 1, 0, 0]);
}

/// Two proxies benched for long; the first one is on trial.
fn first_of_two_on_trial() -> Scene {
    let benched = |id| stored(id, StoredState::Benched { left: secs(900), cooldown_until: mark(id) });
    let mut scene = Scene::with(vec![benched(1), benched(2)]);
    scene.now += secs(100);
    scene.passes(secs(0));
    scene.passes(secs(10));
    assert_eq!((scene.condition(1), scene.is_benched(2)), (Condition::OnTrial, true));
    scene
}

/// Seconds until the second proxy is tried, of at most a minute.
fn until_the_second_is_tried(scene: &mut Scene) -> Option<u32> {
    (1..=60).find(|_| !scene.passes(secs(1)).is_empty()).filter(|_| scene.condition(2) == Condition::OnTrial)
}

#[test]
fn a_trial_that_no_request_decides_gives_way_to_the_next_one() {
    let mut scene = first_of_two_on_trial();
    assert_eq!(until_the_second_is_tried(&mut scene), Some(21), "ten seconds for a request, and ten between trials");
}

#[test]
fn no_other_is_tried_while_a_request_decides_a_trial() {
    let mut scene = first_of_two_on_trial();
    assert_eq!(scene.lease(), Some(1));
    assert_eq!(until_the_second_is_tried(&mut scene), None);
}
