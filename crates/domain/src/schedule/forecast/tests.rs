//! Tables and properties of forecasts.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// 200 s and 64.8 requests a fetch, 23.2 s a refresh; 75 slots for all roles, 10 requests a second.
fn supply() -> Supply {
    let measured = |seconds, requests| RunCost { seconds: Some(seconds), runs: 3, requests: Some(requests) };
    Supply {
        schedules: vec![every(4.0, 100)],
        costs: [(Role::PayloadFetch, measured(200.0, 64.8)), (Role::ProductRefresh, measured(23.2, 0.0))].into(),
        workers: vec![workers(&Role::CRAWL, 75)],
        crawlable_stores: 100,
        permitted_rate: Some(10.0),
        sessions: 200,
        stopped: None,
    }
}

fn every(hours: f64, stores: i64) -> ScheduledRuns {
    ScheduledRuns { role: Role::PayloadFetch, stores: Some(stores), times_per_hour: 1.0 / hours }
}

fn workers(roles: &[Role], slots: i64) -> WorkerSlots {
    WorkerSlots { roles: roles.to_vec(), slots, paused: 0 }
}

fn what_if(stores: i64, every_hours: f64) -> WhatIf {
    WhatIf { stores: Some(stores), every_hours: Some(every_hours), slots: None }
}

#[test]
fn a_forecast_is_said_in_one_sentence_first() {
    let forecast = supply().forecast(what_if(2000, 4.0));
    assert_eq!(
        forecast.summary,
        "2,000 stores every 4 h need 31 slots and 9 requests/s; you have 75 slots and may send 10/s. That is enough. \
         The bottleneck is the request rate: 90 % of it is needed. One crawl of 2,000 stores takes about 3.6 h."
    );
    assert_eq!((forecast.slots_needed, forecast.limited_by), (Some(31), Some(Limit::Rate)));
    assert_eq!(forecast.crawl_seconds, Some(12_960.0));
    assert_eq!(forecast.sessions_needed, Some(28));
}

#[rstest]
#[case::nothing_is_near_its_limit(
    75,
    Some(10.0),
    200,
    "That is enough: it takes at most 5 % of the slots, of the request rate and of the proxies."
)]
#[case::requests_have_no_limit(75, None, 200, "That is enough: it takes at most 3 % of the slots and of the proxies.")]
#[case::almost_nothing_is_needed(
    7500,
    None,
    20_000,
    "That is enough: it takes less than 1 % of the slots and of the proxies."
)]
#[case::too_few_slots(
    1,
    Some(10.0),
    200,
    "That is not enough. The bottleneck is the number of slots: 155 % of it is needed."
)]
#[case::no_worker(0, Some(10.0), 200, "That is not enough: one of the roles has no live worker.")]
#[case::no_proxy(75, Some(10.0), 0, "That is not enough: there is no usable proxy.")]
fn the_verdict_names_a_limit_only_where_there_is_one(
    #[case] slots: i64,
    #[case] permitted_rate: Option<f64>,
    #[case] sessions: i64,
    #[case] verdict: &str,
) {
    let supply = Supply { workers: vec![workers(&Role::CRAWL, slots)], permitted_rate, sessions, ..supply() };
    let forecast = supply.forecast(WhatIf::default());
    assert!(forecast.summary.contains(verdict), "{}", forecast.summary);
}

#[test]
fn a_pause_is_named_and_keeps_its_slots() {
    let workers = vec![WorkerSlots { paused: 75, ..workers(&Role::CRAWL, 75) }];
    let stopped = Some("everything is paused by ada (a new parser)".to_owned());
    let supply = Supply { workers, stopped, ..supply() };
    let unlimited = Supply { permitted_rate: None, ..supply.clone() }.forecast(WhatIf::default()).summary;
    assert!(unlimited.contains("75 slots, all of them paused, and the request rate is not limited"), "{unlimited}");
    let forecast = supply.forecast(WhatIf::default());
    let summary = forecast.summary;
    assert!(summary.starts_with("No store is crawled now: everything is paused by ada (a new parser). "), "{summary}");
    assert!(summary.contains("you have 75 slots, all of them paused, and may send 10/s"), "{summary}");
    assert_eq!(forecast.is_enough, Some(true));
}

#[rstest]
#[case::the_present_schedules(WhatIf::default(), 100, Some(4.0), [2, 75])]
#[case::more_stores_at_the_same_interval(WhatIf { stores: Some(1000), ..WhatIf::default() }, 1000, Some(4.0), [16, 75])]
#[case::the_same_stores_more_often(WhatIf { every_hours: Some(1.0), ..WhatIf::default() }, 100, Some(1.0), [7, 75])]
#[case::other_slots(WhatIf { slots: Some(5), ..WhatIf::default() }, 100, Some(4.0), [2, 5])]
fn what_is_not_changed_stays(
    #[case] what_if: WhatIf,
    #[case] stores: i64,
    #[case] every_hours: Option<f64>,
    #[case] slots: [i64; 2],
) {
    let forecast = supply().forecast(what_if);
    assert_eq!((forecast.stores, forecast.every_hours), (stores, every_hours));
    assert_eq!([forecast.slots_needed.unwrap(), forecast.slots], slots);
}

#[rstest]
#[case::nothing_to_do(Supply { schedules: vec![], ..supply() }, None, Some(true))]
#[case::nothing_to_do_and_no_slots(Supply { schedules: vec![], workers: vec![], ..supply() }, None, Some(true))]
#[case::slots(Supply { workers: vec![workers(&Role::CRAWL, 1)], ..supply() }, Some(Limit::Slots), Some(false))]
#[case::no_slots(Supply { workers: vec![], ..supply() }, Some(Limit::Slots), Some(false))]
#[case::rate(Supply { permitted_rate: Some(0.5), ..supply() }, Some(Limit::Rate), Some(true))]
#[case::all_of_the_rate(Supply { permitted_rate: Some(0.45), ..supply() }, Some(Limit::Rate), Some(true))]
#[case::too_low_a_rate(Supply { permitted_rate: Some(0.2), ..supply() }, Some(Limit::Rate), Some(false))]
#[case::proxies(Supply { sessions: 2, ..supply() }, Some(Limit::Proxies), Some(true))]
#[case::no_proxies(Supply { sessions: 0, ..supply() }, Some(Limit::Proxies), Some(false))]
#[case::neither_slots_nor_proxies(
    Supply { workers: vec![], sessions: 0, ..supply() }, Some(Limit::Slots), Some(false)
)]
#[case::no_measured_run(Supply { costs: BTreeMap::new(), ..supply() }, None, None)]
#[case::no_worker_of_one_role(
    Supply { workers: vec![workers(&[Role::PayloadFetch], 75)], ..supply() }, Some(Limit::Slots), Some(false)
)]
fn the_largest_share_limits_first(
    #[case] supply: Supply,
    #[case] limit: Option<Limit>,
    #[case] is_enough: Option<bool>,
) {
    let forecast = supply.forecast(WhatIf::default());
    assert_eq!((forecast.limited_by, forecast.is_enough), (limit, is_enough), "{}", forecast.summary);
}

#[rstest]
#[case::first_crawls_alone(Role::ProductDiscovery)]
#[case::later_ones(Role::PayloadFetch)]
fn the_runs_of_first_crawls_stand_in_for_later_ones(#[case] measured: Role) {
    let Supply { costs, .. } = supply();
    let costs = [(measured, costs[&Role::PayloadFetch]), (Role::ProductRefresh, costs[&Role::ProductRefresh])].into();
    let forecast = Supply { costs, ..supply() }.forecast(what_if(2000, 4.0));
    assert_eq!(
        (forecast.slots_needed, forecast.crawl_seconds, forecast.unmeasured),
        (Some(31), Some(12_960.0), vec![])
    );
}

#[rstest]
#[case::no_schedule(Supply { schedules: vec![], ..supply() })]
#[case::a_schedule_of_no_store(Supply { schedules: vec![every(4.0, 0)], ..supply() })]
#[case::a_crawl_of_no_store_in_all(Supply {
    schedules: vec![ScheduledRuns { stores: None, ..every(4.0, 1) }],
    crawlable_stores: 0,
    ..supply()
})]
fn without_crawls_of_stores_there_is_no_interval(#[case] supply: Supply) {
    let forecast = supply.forecast(WhatIf::default());
    assert_eq!(forecast.every_hours, None);
    assert!(forecast.summary.starts_with("No enabled schedule crawls a store; "), "{}", forecast.summary);
    assert!(forecast.roles.iter().all(|role| role.runs_per_hour > 0.0), "{:?}", forecast.roles);
}

#[rstest]
#[case::in_proportion(100, 100.0)]
#[case::from_none(0, 200.0)]
fn a_schedule_of_some_stores_grows_with_all_of_them(#[case] crawlable_stores: i64, #[case] runs_per_hour: f64) {
    let supply = Supply { schedules: vec![every(1.0, 50)], crawlable_stores, ..supply() };
    let forecast = supply.forecast(WhatIf { stores: Some(200), ..WhatIf::default() });
    assert_eq!(forecast.roles[0].runs_per_hour, runs_per_hour);
}

#[test]
fn a_role_that_asks_no_host_needs_no_measured_requests() {
    let mut supply = supply();
    supply.costs.insert(Role::ProductRefresh, RunCost { seconds: Some(23.2), runs: 3, requests: None });
    let forecast = supply.forecast(WhatIf::default());
    assert_eq!((forecast.unmeasured, forecast.slots_needed), (vec![], Some(2)));
}

#[test]
fn a_role_without_a_measured_run_is_named_and_nothing_is_guessed() {
    let mut supply = supply();
    supply.costs.remove(&Role::ProductRefresh);
    let forecast = supply.forecast(WhatIf::default());
    assert_eq!((&forecast.unmeasured[..], forecast.slots_needed), (&[Role::ProductRefresh][..], None));
    assert_eq!(
        forecast.summary,
        "The need of 100 stores every 4 h is not known, because within the last 24 h no run of product_refresh was measured; \
         you have 75 slots and may send 10/s."
    );
}

#[test]
fn a_rare_role_without_a_measured_run_is_left_out() {
    let discovery = ScheduledRuns { role: Role::StoreDiscovery, stores: None, times_per_hour: 1.0 / 24.0 };
    let forecast = Supply { schedules: vec![every(4.0, 100), discovery], ..supply() }.forecast(WhatIf::default());
    assert_eq!((&forecast.unmeasured[..], forecast.slots_needed), (&[Role::StoreDiscovery][..], Some(2)));
    let said = " Not counted, because no run was measured within the last 24 h: store_discovery.";
    assert!(forecast.summary.ends_with(said), "{}", forecast.summary);
}

#[test]
fn a_schedule_of_one_task_does_not_grow_with_the_stores() {
    let discovery = ScheduledRuns { role: Role::AnalyticsRefresh, stores: None, times_per_hour: 2.0 };
    let forecast = Supply { schedules: vec![discovery, every(4.0, 100)], ..supply() };
    let runs = forecast.forecast(what_if(200, 2.0)).roles.iter().map(|role| role.runs_per_hour).collect::<Vec<_>>();
    assert_eq!(runs, [100.0, 100.0, 2.0]);
}

#[rstest]
#[case::in_whole_rounds(4, 30.0)]
#[case::one_round(5, 20.0)]
#[case::more_slots_than_stores(50, 10.0)]
fn a_slot_takes_one_store_after_another(#[case] slots: i64, #[case] seconds: f64) {
    let cost = |seconds| RunCost { seconds: Some(seconds), runs: 3, requests: Some(1.0) };
    let costs = [(Role::PayloadFetch, cost(8.0)), (Role::ProductRefresh, cost(2.0))].into();
    let supply = Supply { costs, permitted_rate: None, ..supply() };
    let what_if = WhatIf { stores: Some(10), slots: Some(slots), ..WhatIf::default() };
    assert_eq!(supply.forecast(what_if).crawl_seconds, Some(seconds));
}

#[rstest]
#[case::slots_of_all_roles(&[(&CRAWL[..], 2)], 200, None, Some(50.0))]
#[case::slots_of_fetches(&[(&CRAWL[..1], 2), (&CRAWL[1..], 50)], 200, None, Some(40.0))]
#[case::slots_of_refreshes(&[(&CRAWL[..1], 50), (&CRAWL[1..], 1)], 200, None, Some(20.0))]
#[case::proxies(&[(&CRAWL[..], 50)], 2, None, Some(40.0))]
#[case::rate(&[(&CRAWL[..], 50)], 200, Some(0.5), Some(60.0))]
#[case::no_slot_for_refreshes(&[(&CRAWL[..1], 50)], 200, None, None)]
#[case::no_proxy(&[(&CRAWL[..], 50)], 0, None, None)]
fn a_crawl_of_ten_stores_takes_as_long_as_its_tightest_limit_makes_it(
    #[case] slots: &[(&[Role], i64)],
    #[case] sessions: i64,
    #[case] permitted_rate: Option<f64>,
    #[case] seconds: Option<f64>,
) {
    let cost = |seconds| RunCost { seconds: Some(seconds), runs: 3, requests: Some(3.0) };
    let costs = [(Role::PayloadFetch, cost(8.0)), (Role::ProductRefresh, cost(2.0))].into();
    let workers = slots.iter().map(|(roles, slots)| workers(roles, *slots)).collect();
    let supply = Supply { costs, workers, sessions, permitted_rate, ..supply() };
    let what_if = WhatIf { stores: Some(10), ..WhatIf::default() };
    assert_eq!(supply.forecast(what_if).crawl_seconds, seconds);
}

#[rstest]
#[case::of_hours(1_000, Some("One crawl of 1,000 stores takes about 1.8 h."))]
#[case::of_minutes(150, Some("One crawl of 150 stores takes about 16.2 min."))]
#[case::of_one_store(1, Some("One crawl of 1 store takes about 3.7 min."))]
#[case::of_no_store(0, None)]
fn the_time_of_a_crawl_is_said_where_there_are_stores(#[case] stores: i64, #[case] said: Option<&str>) {
    let summary = supply().forecast(WhatIf { stores: Some(stores), ..WhatIf::default() }).summary;
    assert_eq!(summary.find("One crawl of").map(|at| &summary[at..]), said, "{summary}");
}

#[test]
fn a_small_rate_is_said_with_two_decimals() {
    let summary = Supply { permitted_rate: Some(0.25), ..supply() }.forecast(WhatIf::default()).summary;
    assert!(summary.contains("2 slots and 0.45 requests/s; you have 75 slots and may send 0.25/s."), "{summary}");
}

#[rstest]
#[case::no_limit(0.0, 0, Some(0.5), 1.0, None)]
#[case::rate(5.0, 0, None, 1.0, Some(5.0))]
#[case::half_of_the_stores_are_elsewhere(5.0, 0, None, 0.5, Some(10.0))]
#[case::slow_answers(5.0, 6, Some(2.0), 1.0, Some(3.0))]
#[case::fast_answers(5.0, 6, Some(0.2), 1.0, Some(5.0))]
#[case::answers_in_no_time(0.0, 6, Some(0.0), 1.0, None)]
#[case::unknown_latency(0.0, 6, None, 1.0, None)]
fn the_busiest_host_bounds_the_rate(
    #[case] rate: f64,
    #[case] concurrency: usize,
    #[case] seconds_per_request: Option<f64>,
    #[case] share: f64,
    #[case] permitted: Option<f64>,
) {
    assert_eq!(HostPoliteness { rate, concurrency, seconds_per_request, share }.permitted_rate(), permitted);
}

proptest! {
    #[test]
    fn the_needed_slots_can_do_the_work_and_one_less_cannot(stores in 1i64..1_000_000, hours in 0.01f64..1000.0) {
        let forecast = supply().forecast(what_if(stores, hours));
        let busy: f64 = forecast.roles.iter().filter_map(|role| role.busy_slots).sum();
        let needed = forecast.slots_needed.unwrap() as f64;
        prop_assert!(needed + 1e-5 >= busy && needed - 1.0 < busy, "{needed} for {busy}");
    }

    #[test]
    fn more_stores_never_need_less(stores in 1i64..1_000_000, more in 0i64..1_000_000, hours in 0.01f64..1000.0) {
        let [few, many] = [stores, stores + more].map(|stores| supply().forecast(what_if(stores, hours)));
        prop_assert!(many.slots_needed >= few.slots_needed && many.sessions_needed >= few.sessions_needed);
        prop_assert!(many.requests_per_second_needed >= few.requests_per_second_needed);
        prop_assert!(many.crawl_seconds >= few.crawl_seconds);
    }

    #[test]
    fn fewer_slots_never_make_a_crawl_faster(stores in 1i64..100_000, slots in 1i64..1000, more in 0i64..1000) {
        let [few, many] = [slots, slots + more].map(|slots| {
            let what_if = WhatIf { slots: Some(slots), ..what_if(stores, 4.0) };
            supply().forecast(what_if)
        });
        prop_assert!(few.crawl_seconds >= many.crawl_seconds);
        prop_assert!(many.is_enough >= few.is_enough);
    }
}
