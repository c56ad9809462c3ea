//! Budgets: bytes a day, of each proxy and of all together.

use std::collections::BTreeMap;

use rstest::rstest;

use super::*;
use crate::proxy::{Budgets, DayUsage, UsageToday};

const HOUR: u64 = 3600;

/// This many proxies with a thousand bytes a day each, none of them spent.
fn scene(proxies: i64) -> Scene {
    budgeted(proxies, Budgets { each: Some(1_000), in_all: None })
}

fn budgeted(proxies: i64, budgets: Budgets) -> Scene {
    let mut scene = Scene::of(proxies);
    scene.pool = Pool::new(limits()).with_budgets(budgets);
    scene.pool.load((1..=proxies).map(row).collect(), scene.now);
    assert_eq!(scene.reads(&[]), []);
    scene
}

impl Scene {
    /// The table has these bytes of proxies, of a day that ends in an hour.
    fn reads(&mut self, bytes: &[(ProxyId, i64)]) -> Vec<Notice> {
        self.reads_of_day(1, bytes)
    }

    /// The same of the n-th day.
    fn reads_of_day(&mut self, nth: i64, bytes: &[(ProxyId, i64)]) -> Vec<Notice> {
        self.pool.begin_reading_usage(self.now);
        self.has_read(nth, bytes)
    }

    /// The reading that has begun is over.
    fn has_read(&mut self, nth: i64, bytes: &[(ProxyId, i64)]) -> Vec<Notice> {
        let day = |bytes| DayUsage { bytes, left: secs(HOUR), ends: mark(nth) };
        let mut by_proxy: BTreeMap<ProxyId, DayUsage> =
            self.pool.members().map(|member| (member.proxy.id, day(0))).collect();
        by_proxy.extend(bytes.iter().map(|(id, bytes)| (*id, day(*bytes))));
        let in_all = day(bytes.iter().map(|(_, bytes)| bytes).sum());
        self.pool.load_usage(&UsageToday { by_proxy, in_all }, self.now)
    }

    fn sends(&mut self, id: ProxyId, bytes: i64) -> Vec<Notice> {
        self.pool.count_bytes(id, bytes, self.now)
    }

    fn rests(&self, id: ProxyId) -> bool {
        self.pool.rest_left(id, self.now).is_some()
    }
}

/// Levels reached, by proxy: `None` is the budget of all together.
fn told(notices: &[Notice]) -> Vec<(Option<ProxyId>, &'static str)> {
    let of = |notice: &Notice| match notice {
        Notice::BudgetNearlySpent { proxy, .. } => (proxy.as_ref().map(|proxy| proxy.id), "nearly"),
        Notice::BudgetSpent { proxy, .. } => (proxy.as_ref().map(|proxy| proxy.id), "spent"),
        other => panic!("{other:?}"),
    };
    notices.iter().map(of).collect()
}

#[rstest]
#[case::nothing(0, 0, false)]
#[case::almost_all_by_this_process(0, 999, false)]
#[case::all_by_this_process(0, 1_000, true)]
#[case::all_by_others(1_000, 0, true)]
#[case::by_both(600, 400, true)]
#[case::almost_by_both(600, 399, false)]
fn a_proxy_whose_budget_is_spent_gets_no_lease(#[case] others: i64, #[case] own: i64, #[case] rests: bool) {
    let mut scene = scene(1);
    scene.reads(&[(1, others)]);
    scene.sends(1, own);
    assert_eq!(scene.rests(1), rests);
    assert_eq!(scene.pool.is_usable(1), !rests, "open leases are revoked");
    assert_eq!(scene.pool.state(scene.now).usable, usize::from(!rests));
    assert_eq!(scene.lease().is_none(), rests);
}

#[test]
fn another_proxy_serves_while_one_rests() {
    let mut scene = scene(2);
    scene.sends(1, 5_000);
    assert_eq!((0..4).map(|_| scene.lease()).collect::<Vec<_>>(), [Some(2); 4]);
    assert_eq!(scene.condition(1), Condition::Active, "it is not benched");
}

#[test]
fn people_are_told_once_a_day_at_80_percent_and_once_at_the_end() {
    let mut scene = scene(1);
    assert_eq!(told(&scene.sends(1, 799)), []);
    assert_eq!(told(&scene.sends(1, 1)), [(Some(1), "nearly")]);
    assert_eq!(told(&scene.sends(1, 100)), []);
    assert_eq!(told(&scene.reads(&[(1, 950)])), []);
    assert_eq!(told(&scene.sends(1, 50)), [(Some(1), "spent")]);
    assert_eq!(told(&scene.sends(1, 50)), []);
    assert_eq!(told(&scene.reads(&[(1, 1_050)])), []);
    assert_eq!(told(&scene.reads_of_day(2, &[(1, 900)])), [(Some(1), "nearly")], "the next day");
}

#[test]
fn what_others_have_sent_is_told_too() {
    let mut scene = scene(2);
    assert_eq!(told(&scene.reads(&[(1, 850), (2, 1_200)])), [(Some(1), "nearly"), (Some(2), "spent")]);
}

#[test]
fn a_rest_ends_with_the_day() {
    let mut scene = scene(1);
    scene.sends(1, 1_000);
    assert_eq!(scene.pool.rest_left(1, scene.now), Some(secs(HOUR)));
    scene.passes(secs(HOUR - 1));
    assert_eq!(scene.lease(), None);
    scene.passes(secs(1));
    assert_eq!(scene.lease(), Some(1));
    assert_eq!(told(&scene.sends(1, 800)), [(Some(1), "nearly")], "of a new day");
}

#[test]
fn what_is_sent_while_the_table_is_read_counts_once_more_and_not_twice() {
    let mut scene = scene(1);
    scene.sends(1, 300);
    scene.pool.begin_reading_usage(scene.now);
    scene.sends(1, 200);
    // the 300 were written before it was read
    scene.has_read(1, &[(1, 300)]);
    scene.sends(1, 499);
    assert!(!scene.rests(1));
    scene.sends(1, 1);
    assert!(scene.rests(1));
}

#[test]
fn what_was_sent_before_a_reading_that_failed_still_counts() {
    let mut scene = scene(1);
    scene.sends(1, 600);
    scene.pool.begin_reading_usage(scene.now);
    scene.sends(1, 400);
    assert!(scene.rests(1), "the reading is under way");
    scene.pool.begin_reading_usage(scene.now);
    assert!(scene.rests(1), "the first one has failed");
    scene.has_read(1, &[(1, 1_000)]);
    assert!(scene.rests(1));
}

#[test]
fn all_rest_where_they_have_spent_what_they_may_together() {
    let mut scene = budgeted(3, Budgets { each: None, in_all: Some(1_000) });
    scene.reads(&[(1, 700), (2, 90)]);
    assert_eq!(told(&scene.sends(3, 10)), [(None, "nearly")]);
    assert_eq!(told(&scene.sends(2, 200)), [(None, "spent")]);
    assert!((1..=3).all(|id| scene.rests(id)));
    assert_eq!((scene.lease(), scene.pool.state(scene.now).usable), (None, 0));
    scene.passes(secs(HOUR));
    assert!(scene.lease().is_some());
}

#[test]
fn a_budget_survives_a_restart() {
    let mut scene = scene(1);
    scene.sends(1, 1_000);
    scene.pool = scene.pool.restarted();
    scene.pool.load(vec![row(1)], scene.now);
    assert!(scene.rests(1));
    assert_eq!(scene.lease(), None);
}

#[test]
fn the_table_is_read_when_a_thousandth_is_sent_and_at_least_once_a_minute() {
    let mut scene = budgeted(1, Budgets { each: Some(1_000_000), in_all: None });
    assert!(!scene.pool.is_usage_due(scene.now), "it was just read");
    scene.sends(1, 999);
    assert!(!scene.pool.is_usage_due(scene.now));
    scene.sends(1, 1);
    assert!(scene.pool.is_usage_due(scene.now));
    scene.pool.begin_reading_usage(scene.now);
    assert!(!scene.pool.is_usage_due(scene.now), "also where it fails");
    scene.passes(secs(60));
    assert!(scene.pool.is_usage_due(scene.now));
}

#[test]
fn without_budgets_nothing_is_read_and_none_rests() {
    let mut scene = Scene::of(1);
    assert_eq!(scene.sends(1, i64::MAX), []);
    assert_eq!(scene.sends(1, i64::MAX), []);
    assert!(!scene.pool.is_usage_due(scene.now) && !scene.rests(1));
    assert_eq!(scene.lease(), Some(1));
}

#[rstest]
#[case::none(Budgets::default(), false)]
#[case::of_each(Budgets { each: Some(1), in_all: None }, true)]
#[case::of_all(Budgets { each: None, in_all: Some(1) }, true)]
fn a_pool_knows_whether_it_has_budgets(#[case] budgets: Budgets, #[case] expected: bool) {
    assert_eq!(Pool::new(limits()).with_budgets(budgets).has_budgets(), expected);
}

#[test]
fn what_is_left_is_the_least_of_both_budgets() {
    let day = |bytes, ends| DayUsage { bytes, left: secs(HOUR), ends: mark(ends) };
    let both = Budgets { each: Some(1_000), in_all: Some(5_000) };
    assert_eq!(both.left(&day(400, 1), &day(4_700, 2)), Some(300));
    assert_eq!(both.left(&day(900, 1), &day(4_700, 2)), Some(100));
    assert_eq!(both.left(&day(1_900, 1), &day(4_700, 2)), Some(0));
    assert_eq!(Budgets::default().left(&day(400, 1), &day(4_700, 2)), None);
    assert_eq!(both.rests_until(&day(999, 1), &day(4_999, 2)), None);
    assert_eq!(both.rests_until(&day(1_000, 1), &day(4_999, 2)), Some(mark(1)));
    assert_eq!(both.rests_until(&day(1_000, 3), &day(5_000, 2)), Some(mark(3)), "the later one");
}
