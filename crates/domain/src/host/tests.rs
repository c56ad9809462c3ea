//! Requests that a host may get, by its earlier answers: tables of cases; a half-open period has one probe.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn limits() -> HostLimits {
    HostLimits {
        rate: 4.0,
        share_to_open: 0.5,
        min_requests: 10.0,
        window: 60 * SECOND,
        holds_to_open: 3,
        open_base: 30 * SECOND,
        open_cap: 120 * SECOND,
        probe_time: 130 * SECOND,
        hold_cap: 900 * SECOND,
    }
}

fn start() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn answers(accepted: i64, refusals: i64) -> HostReport {
    HostReport { answers: accepted + refusals, refusals, ..HostReport::default() }
}

fn throttled(retry_after: Option<u64>) -> HostReport {
    let throttle = Throttle { status: 429, retry_after: retry_after.map(Duration::from_secs) };
    HostReport { answers: 1, throttles: 1, throttle: Some(throttle), ..HostReport::default() }
}

fn took(answers: u32, each_ms: f64) -> HostReport {
    let latency = Latency { answers, total_ms: each_ms * f64::from(answers) };
    HostReport { answers: i64::from(answers), latency, ..HostReport::default() }
}

/// A host and its time, which tests move.
struct Host {
    state: HostState,
    now: DateTime<Utc>,
}

impl Host {
    fn new() -> Host {
        Host { state: HostState::new(start()), now: start() }
    }

    fn report(&mut self, report: &HostReport) -> ReportResult {
        self.state.apply("a", report, &limits(), self.now)
    }

    fn pass(&mut self, by: Duration) {
        self.now += by;
    }

    fn ask_probe(&mut self) -> Option<ProbeNumber> {
        self.report(&HostReport { asks_probe: true, ..HostReport::default() }).probe
    }

    fn probe(&mut self, verdict: Verdict) -> Option<HostNotice> {
        let number = self.ask_probe().unwrap();
        self.report(&HostReport { probe: Some((number, verdict)), ..HostReport::default() }).notice
    }

    fn permission(&self) -> Permission {
        self.state.permission(self.now)
    }

    fn refuses_for(&self) -> Option<u64> {
        match self.permission() {
            Permission::Refusing(refusing) => Some(refusing.left.as_secs()),
            _ => None,
        }
    }

    fn opened() -> Host {
        let mut host = Host::new();
        host.report(&answers(0, 10));
        host
    }
}

fn failures(accepted: i64, failures: i64) -> HostReport {
    HostReport { answers: accepted + failures, failures, ..HostReport::default() }
}

#[rstest]
#[case::too_few(0, 9, false)]
#[case::enough(0, 10, true)]
#[case::half_of_them(10, 10, true)]
#[case::less_than_half(11, 10, false)]
#[case::none(100, 0, false)]
fn a_share_of_refusals_or_failures_opens_the_breaker(
    #[case] accepted: i64,
    #[case] trouble: i64,
    #[case] opens: bool,
    #[values(answers, failures)] report: fn(i64, i64) -> HostReport,
) {
    let mut host = Host::new();
    let notice = host.report(&report(accepted, trouble)).notice;
    assert_eq!(matches!(notice, Some(HostNotice::Opened { .. })), opens);
    assert_eq!(host.permission() != Permission::Free, opens);
}

#[test]
fn answers_are_counted_by_their_kind_for_good() {
    let mut host = Host::new();
    let report = HostReport { answers: 20, refusals: 2, failures: 3, throttles: 4, ..HostReport::default() };
    (0..2).for_each(|_| drop(host.report(&report)));
    let HostState { answers, refusals, failures, throttles, .. } = host.state;
    assert_eq!([answers, refusals, failures, throttles], [40, 4, 6, 8]);
}

#[test]
fn a_later_report_is_added_to_an_earlier_one() {
    assert!(HostReport::default().is_empty() && !answers(1, 0).is_empty());
    let latency = |answers, total_ms| Latency { answers, total_ms };
    let mut earlier = HostReport {
        answers: 10,
        refusals: 2,
        failures: 3,
        throttles: 4,
        latency: latency(5, 500.0),
        asks_probe: true,
        ..throttled(Some(1))
    };
    let later = HostReport {
        answers: 20,
        refusals: 5,
        failures: 6,
        throttles: 7,
        latency: latency(2, 90.0),
        probe: Some((1, Verdict::Unknown)),
        ..throttled(Some(9))
    };
    earlier.absorb(later.clone());
    let both = HostReport {
        answers: 30,
        refusals: 7,
        failures: 9,
        throttles: 11,
        latency: latency(7, 590.0),
        asks_probe: true,
        ..later
    };
    assert_eq!(earlier, both);
    earlier.absorb(HostReport::default());
    assert_eq!(earlier, both, "an empty one changes nothing");
}

#[test]
fn old_answers_weigh_little() {
    let mut host = Host::new();
    host.report(&answers(1000, 0));
    host.pass(600 * SECOND);
    host.report(&answers(0, 10));
    assert_eq!(host.refuses_for(), Some(30));
}

#[test]
fn what_a_host_does_is_told_with_its_share_and_since_when() {
    let mut host = Host::new();
    host.report(&answers(1, 12));
    host.pass(5 * SECOND);
    let since = start();
    let refusing =
        HostRefusal { why: "refuses 92 % of requests".to_owned(), since, left: 25 * SECOND, is_probed: false };
    assert_eq!(host.permission(), Permission::Refusing(refusing));
}

#[test]
fn a_host_that_refused_one_of_many_requests_is_not_said_to_refuse_none() {
    let mut host = Host::new();
    host.report(&answers(1_000, 1));
    let trouble = host.state.window.trouble().map(|trouble| trouble.what);
    assert_eq!(trouble.as_deref(), Some("refuses less than 1 % of requests"));
}

#[rstest]
#[case::refusals(answers(0, 10), "refuses 100 % of requests")]
#[case::failures(failures(5, 15), "fails 75 % of requests")]
#[case::both(
    HostReport { failures: 6, ..answers(6, 4) },
    "refuses 40 % of requests and fails 60 %"
)]
fn why_it_opens_is_told_by_what_the_host_does(#[case] report: HostReport, #[case] expected: &str) {
    let mut host = Host::new();
    let Some(HostNotice::Opened { why, .. }) = host.report(&report).notice else { panic!("{:?}", host.state) };
    assert_eq!(why, expected);
}

#[test]
fn refusals_are_told_with_their_beginning_until_they_are_forgotten() {
    let mut host = Host::new();
    host.report(&answers(3, 0));
    assert_eq!(host.state.trouble(), None);
    host.pass(5 * SECOND);
    host.report(&answers(0, 1));
    host.pass(5 * SECOND);
    host.report(&answers(0, 1));
    let told = Trouble { what: "refuses 43 % of requests".to_owned(), since: start() + TimeDelta::seconds(5) };
    assert_eq!(host.state.trouble(), Some(told));
    host.pass(600 * SECOND);
    host.report(&answers(1, 0));
    assert_eq!(host.state.trouble(), None);
}

#[test]
fn failures_weigh_less_as_they_grow_older() {
    let mut host = Host::new();
    host.report(&failures(0, 5));
    host.pass(60 * SECOND);
    host.report(&answers(5, 0));
    assert_eq!(host.state.window.description(), "fails 27 % of requests");
    assert_eq!(Window::default().share_of_trouble(), 0.0, "without an answer there is none");
}

#[rstest]
#[case::half_of_a_refusal(0.5, true)]
#[case::less(0.49, false)]
fn trouble_is_over_when_less_than_half_of_a_refusal_is_left(#[case] window_refusals: f64, #[case] is_trouble: bool) {
    let at = Some(start());
    let mut window = Window { window_at: at, window_refusals, window_refused_since: at, ..Window::default() };
    window.add(&answers(1, 0), limits().window, start());
    assert_eq!(window.trouble().is_some(), is_trouble);
}

#[test]
fn refusals_and_failures_are_one_trouble_with_one_beginning() {
    let mut host = Host::new();
    host.report(&HostReport { failures: 3, ..answers(9, 3) });
    host.pass(5 * SECOND);
    host.report(&answers(0, 1));
    assert_eq!(host.state.trouble().map(|trouble| trouble.since), Some(start()));
}

#[test]
fn the_back_off_doubles_with_each_refused_probe_up_to_its_cap() {
    let mut host = Host::opened();
    let mut pauses = Vec::new();
    for _ in 0..4 {
        pauses.push(host.refuses_for().unwrap());
        host.pass(120 * SECOND);
        assert_eq!(host.permission(), Permission::ProbeDue);
        assert!(matches!(host.probe(Verdict::Refused), Some(HostNotice::ProbeFailed { .. })));
    }
    assert_eq!(pauses, [30, 60, 120, 120]);
}

#[test]
fn a_host_refuses_since_it_was_opened_however_often_it_was_probed() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    host.probe(Verdict::Refused);
    assert!(matches!(host.permission(), Permission::Refusing(refusal) if refusal.since == start()));
}

#[test]
fn a_closed_breaker_begins_no_probe() {
    assert_eq!(Breaker::new(start()).begin_probe(&limits(), start()), None);
}

#[test]
fn an_accepted_probe_closes_the_breaker_and_forgets_the_refusals() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    assert_eq!(host.probe(Verdict::Accepted), Some(HostNotice::Closed));
    assert_eq!((host.permission(), &host.state.breaker.why), (Permission::Free, &None));
    assert_eq!(host.report(&answers(0, 1)).notice, None);
}

#[test]
fn a_host_that_refuses_again_soon_after_a_lucky_probe_is_left_alone_for_longer() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    host.probe(Verdict::Accepted);
    host.pass(10 * SECOND);
    host.report(&answers(0, 10));
    assert_eq!(host.refuses_for(), Some(60));
    host.pass(60 * SECOND);
    host.probe(Verdict::Accepted);
    host.pass(60 * SECOND);
    host.report(&answers(0, 10));
    assert_eq!(host.refuses_for(), Some(30), "long after it begins again");
}

#[test]
fn a_probe_without_an_answer_is_sent_again_after_the_first_pause() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    host.probe(Verdict::Refused);
    host.pass(60 * SECOND);
    host.probe(Verdict::Unknown);
    assert_eq!(host.refuses_for(), Some(30));
}

#[test]
fn while_a_probe_is_under_way_tasks_look_again_soon_and_a_lost_one_is_replaced() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    let lost = host.ask_probe().unwrap();
    assert_eq!((host.refuses_for(), host.ask_probe()), (Some(5), None));
    host.pass(130 * SECOND);
    let next = host.ask_probe().unwrap();
    let late = HostReport { probe: Some((lost, Verdict::Accepted)), ..HostReport::default() };
    assert_eq!((host.report(&late).notice, host.state.breaker.state), (None, BreakerState::HalfOpen));
    assert_ne!(lost, next);
}

#[test]
fn three_holds_in_a_row_open_the_breaker_and_an_accepted_request_ends_the_row() {
    let mut host = Host::new();
    for accepted_between in [1, 0, 0] {
        assert_eq!(host.report(&throttled(Some(1))).notice, None);
        host.pass(2 * SECOND);
        host.report(&answers(accepted_between, 0));
    }
    let opened = host.report(&throttled(Some(60))).notice;
    let why = "throttles us (status 429, 3 times in a row)".to_owned();
    assert_eq!(opened, Some(HostNotice::Opened { why, probe_in: 30 * SECOND }));
    assert_eq!(host.refuses_for(), Some(60), "no probe before the hold is over");
}

#[test]
fn a_request_that_failed_ends_no_row_of_holds() {
    let mut host = Host::new();
    let notices: Vec<bool> = (0..3)
        .map(|_| {
            let opens = host.report(&throttled(Some(1))).notice.is_some();
            host.pass(2 * SECOND);
            host.report(&failures(0, 1));
            opens
        })
        .collect();
    assert_eq!(notices, [false, false, true]);
}

#[test]
fn holds_open_the_breaker_with_the_throttle_that_makes_them_too_many() {
    let no_limit = HostLimits { holds_to_open: 0, ..limits() };
    let mut host = Host::new();
    for _ in 0..9 {
        assert_eq!(host.state.apply("a", &throttled(Some(1)), &no_limit, host.now).notice, None);
        host.pass(2 * SECOND);
    }
    assert_eq!(host.report(&failures(0, 1)).notice, None, "this report has no throttle");
    assert!(matches!(host.report(&throttled(Some(1))).notice, Some(HostNotice::Opened { .. })));
}

#[test]
fn of_two_holds_with_one_end_the_first_is_shown() {
    let mut host = Host::new();
    host.report(&throttled(Some(60)));
    let unavailable = Throttle { status: 503, retry_after: Some(60 * SECOND) };
    host.report(&HostReport { throttle: Some(unavailable), ..throttled(None) });
    assert_eq!(host.permission(), Permission::Held { left: 60 * SECOND, status: 429 });
}

#[test]
fn a_hold_without_a_time_doubles_up_to_the_cap_and_begins_again_after_an_answer() {
    let no_breaker = HostLimits { share_to_open: 0.0, ..limits() };
    let mut host = Host::new();
    let hold = |host: &mut Host| host.state.apply("a", &throttled(None), &no_breaker, host.now).hold.unwrap();
    let mut holds = Vec::new();
    for _ in 0..7 {
        let first = hold(&mut host);
        assert_eq!(hold(&mut host), first, "the other request under way gets the same hold");
        host.report(&answers(1, 0));
        host.pass(first);
        holds.push(first.as_secs());
    }
    assert_eq!(holds, [30, 60, 120, 240, 480, 900, 900]);
    host.report(&answers(1, 0));
    assert_eq!(hold(&mut host), 30 * SECOND);
}

#[rstest]
#[case::at_once(Some(0), 900, 1)]
#[case::a_while(Some(60), 900, 60)]
#[case::absurd(Some(u64::MAX), 900, 900)]
#[case::none(None, 900, 30)]
#[case::no_cap_takes_away_the_least_wait(None, 0, 1)]
fn a_hold_keeps_within_its_bounds(#[case] retry_after: Option<u64>, #[case] cap: u64, #[case] seconds: u64) {
    let mut host = Host::new();
    let limits = HostLimits { hold_cap: Duration::from_secs(cap), ..limits() };
    let hold = host.state.apply("a", &throttled(retry_after), &limits, host.now).hold;
    assert_eq!(hold, Some(Duration::from_secs(seconds)));
    assert_eq!(host.permission(), Permission::Held { left: Duration::from_secs(seconds), status: 429 });
}

#[test]
fn the_rate_halves_when_throttled_and_comes_back_slowly() {
    let mut host = Host::new();
    host.report(&answers(1, 0));
    assert_eq!(host.state.rate.rate, 4.0);
    host.report(&throttled(Some(1)));
    host.report(&throttled(Some(1)));
    assert_eq!(host.state.rate.rate, 2.0, "once for the answers under way");
    host.pass(10 * SECOND);
    host.report(&answers(1, 0));
    assert_eq!(host.state.rate.rate, 2.2);
    host.pass(100 * SECOND);
    host.report(&answers(1, 0));
    assert_eq!(host.state.rate.rate, 4.0);
}

#[rstest]
#[case::as_ever(2000.0, 4.0)]
#[case::exactly_twice(4000.0, 4.0)]
#[case::slower(4500.0, 2.0)]
fn the_rate_halves_when_answers_take_twice_as_long(#[case] each_ms: f64, #[case] rate: f64) {
    let mut host = Host::new();
    host.report(&took(100, 2000.0));
    host.report(&took(20, each_ms));
    assert_eq!(host.state.rate.rate, rate);
}

#[test]
fn response_times_are_added_up() {
    let mut latency = Latency::default();
    latency.observe(Duration::from_millis(250));
    latency.observe(Duration::from_millis(750));
    assert_eq!(latency, Latency { answers: 2, total_ms: 1000.0 });
}

#[rstest]
#[case::the_first_ones_are_usual(&[(100, 2000.0)], 2000.0)]
#[case::one_weighs_a_hundredth(&[(100, 2000.0), (1, 1000.0)], 1990.0)]
#[case::two_weigh_a_little_less_than_twice_as_much(&[(100, 2000.0), (2, 1000.0)], 1980.1)]
#[case::many_take_its_place(&[(100, 2000.0), (5000, 1000.0)], 1000.0)]
#[case::none_changes_nothing(&[(100, 2000.0), (0, 0.0)], 2000.0)]
fn the_usual_time_is_a_moving_average(#[case] reports: &[(u32, f64)], #[case] expected: f64) {
    let mut host = Host::new();
    reports.iter().for_each(|(answers, each_ms)| drop(host.report(&took(*answers, *each_ms))));
    let usual = host.state.rate.latency_ms.unwrap();
    assert!((usual - expected).abs() < 0.1, "{usual}");
}

#[test]
fn a_rate_never_falls_to_nothing_and_no_limit_stays_none() {
    let mut host = Host::new();
    for _ in 0..40 {
        host.report(&throttled(Some(1)));
        host.pass(10 * SECOND);
    }
    assert_eq!(host.state.rate.rate, 4.0 / 32.0);
    let no_limit = HostLimits { rate: 0.0, ..limits() };
    host.state.apply("a", &throttled(None), &no_limit, host.now);
    assert_eq!(host.state.rate.rate, 0.0);
}

#[rstest]
#[case::until_a_time(Some(3600), 3600)]
#[case::for_good(None, 365 * 86_400)]
#[case::longer_than_can_be_stored(Some(4_000 * 86_400), 365 * 86_400)]
fn an_operator_opens_the_breaker_of_a_host_that_answers(#[case] seconds: Option<i64>, #[case] left: u64) {
    let mut host = Host::new();
    host.report(&answers(100, 0));
    host.state.open_by_hand(Some("maintenance"), seconds.map(|seconds| start() + TimeDelta::seconds(seconds)), start());
    assert_eq!(host.refuses_for(), Some(left));
    host.pass(5 * SECOND);
    host.report(&answers(100, 0));
    assert_eq!(host.refuses_for(), Some(left - 5), "answers to requests that were under way change nothing");
    let summary = host.state.summary(host.now);
    assert!(
        summary.starts_with("is switched off by an operator (maintenance) since 1970-01-01 00:00:00 UTC"),
        "{summary}"
    );
    assert_eq!(summary.contains("next probe in"), seconds == Some(3600), "{summary}");
    host.pass(Duration::from_secs(left));
    assert_eq!(host.permission(), Permission::ProbeDue);
    assert_eq!(host.probe(Verdict::Accepted), Some(HostNotice::Closed));
}

#[test]
fn an_operator_closes_a_breaker_as_if_the_host_had_never_refused() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    let probe = host.ask_probe().unwrap();
    host.state.close_by_hand(host.now);
    assert_eq!(host.permission(), Permission::Free);
    let late = HostReport { probe: Some((probe, Verdict::Refused)), ..HostReport::default() };
    assert_eq!(host.report(&late).notice, None, "a probe that was under way decides nothing");
    assert_eq!(host.report(&answers(0, 9)).notice, None, "earlier refusals are forgotten");
    host.report(&answers(0, 1));
    assert_eq!(host.refuses_for(), Some(30), "the back-off begins again");
}

#[test]
fn a_probe_from_before_the_breaker_was_closed_by_hand_is_not_taken_for_the_next_one() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    assert_eq!(host.ask_probe(), Some(1));
    host.state.close_by_hand(host.now);
    host.report(&answers(0, 10));
    host.pass(30 * SECOND);
    assert_eq!(host.ask_probe(), Some(2));
    host.report(&HostReport { probe: Some((1, Verdict::Accepted)), ..HostReport::default() });
    assert_eq!(host.state.breaker.state, BreakerState::HalfOpen);
}

#[test]
fn a_host_that_was_not_asked_yet_is_not_said_to_answer() {
    let mut host = Host::new();
    assert_eq!(host.state.summary(host.now), "not asked yet");
    host.report(&answers(1, 0));
    assert_eq!(host.state.summary(host.now), "answers");
}

#[rstest]
#[case::opened(0, "next probe in 30 s")]
#[case::a_part_of_a_second_later(29_500, "next probe in 1 s")]
#[case::after_the_pause(30_000, "a probe is due")]
fn a_summary_says_when_the_next_probe_is_sent(#[case] millis: u64, #[case] end: &str) {
    let mut host = Host::opened();
    host.pass(Duration::from_millis(millis));
    let summary = host.state.summary(host.now);
    assert_eq!(summary, format!("refuses 100 % of requests since 1970-01-01 00:00:00 UTC; {end}"));
}

#[test]
fn a_summary_says_that_a_probe_is_under_way_or_a_hold() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    host.ask_probe();
    let summary = host.state.summary(host.now);
    assert!(summary.ends_with("; a probe is under way"), "{summary}");
    let mut host = Host::new();
    host.report(&throttled(Some(60)));
    assert_eq!(host.state.summary(host.now), "throttles us (status 429); on hold for 60 s");
}

#[rstest]
#[case::three_hundred_days(300 * 86_400, "next probe in 25920000 s")]
#[case::longer(300 * 86_400 + 1, "until an operator closes its breaker")]
fn only_a_breaker_opened_by_hand_stays_open_for_more_than_300_days(#[case] seconds: u64, #[case] expected: &str) {
    let left = Duration::from_secs(seconds);
    assert_eq!(HostState::new(start()).refusing(left).next_probe(), expected);
}

#[test]
fn closing_a_breaker_by_hand_ends_no_hold() {
    let mut host = Host::new();
    host.report(&throttled(Some(60)));
    host.state.close_by_hand(host.now);
    assert!(matches!(host.permission(), Permission::Held { .. }), "{:?}", host.permission());
}

#[test]
fn processes_that_were_heard_of_lately_share_a_host() {
    let mut state = HostState::new(start());
    for (process, at) in [("a", 0), ("b", 20), ("b", 29), ("c", 30)] {
        state.apply(process, &HostReport::default(), &limits(), start() + at * SECOND);
    }
    assert_eq!(state.process_count(), 2, "{:?}", state.processes);
}

/// One thing that one of several processes does.
#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    Answers(i64, i64),
    Failures(i64, i64),
    Throttled(Option<u64>),
    AskProbe,
    /// The end of one of the probes that were ever sent.
    EndProbe(usize, Verdict),
}

fn step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![Just(Verdict::Accepted), Just(Verdict::Refused), Just(Verdict::Unknown)];
    prop_oneof![
        (0u64..200).prop_map(Step::Pass),
        (0i64..5, 0i64..15).prop_map(|(accepted, refusals)| Step::Answers(accepted, refusals)),
        (0i64..5, 0i64..15).prop_map(|(accepted, failed)| Step::Failures(accepted, failed)),
        prop::option::of(0u64..100).prop_map(Step::Throttled),
        Just(Step::AskProbe),
        (0usize..4, verdict).prop_map(|(nth, verdict)| Step::EndProbe(nth, verdict)),
    ]
}

proptest! {
    #[test]
    fn there_is_never_more_than_one_probe_in_a_half_open_period(steps in prop::collection::vec(step(), 0..120)) {
        let mut host = Host::new();
        let mut probes: Vec<ProbeNumber> = Vec::new();
        let mut under_way: Option<DateTime<Utc>> = None;
        for step in steps {
            let report = match step {
                Step::Pass(seconds) => {
                    host.pass(Duration::from_secs(seconds));
                    continue;
                }
                Step::Answers(accepted, refusals) => answers(accepted, refusals),
                Step::Failures(accepted, failed) => failures(accepted, failed),
                Step::Throttled(retry_after) => throttled(retry_after),
                Step::AskProbe => HostReport { asks_probe: true, ..HostReport::default() },
                Step::EndProbe(nth, verdict) => {
                    let Some(number) = probes.iter().rev().nth(nth).copied() else { continue };
                    if nth == 0 {
                        under_way = None;
                    }
                    HostReport { probe: Some((number, verdict)), ..HostReport::default() }
                }
            };
            let asks = report.asks_probe;
            let was_free = host.permission() == Permission::Free;
            if let Some(number) = host.report(&report).probe {
                prop_assert!(asks && !was_free);
                prop_assert!(under_way.is_none_or(|begun| host.now - begun >= TimeDelta::seconds(130)), "two at once");
                prop_assert!(!probes.contains(&number));
                probes.push(number);
                under_way = Some(host.now);
            }
            prop_assert_eq!(under_way.is_some(), host.state.breaker.state == BreakerState::HalfOpen);
        }
    }

    #[test]
    fn one_report_or_two_count_the_same(first in 0i64..9, second in 0i64..9, refusals in 0i64..9) {
        let (mut at_once, mut in_two) = (Host::new(), Host::new());
        let mut both = answers(first, refusals);
        both.absorb(answers(second, refusals));
        at_once.report(&both);
        in_two.report(&answers(first, refusals));
        in_two.report(&answers(second, refusals));
        let counts = |host: &Host| (host.state.answers, host.state.refusals, host.state.window.clone());
        prop_assert_eq!(counts(&at_once), counts(&in_two));
    }
}

#[test]
fn a_state_is_stored_as_one_flat_row() {
    let mut host = Host::opened();
    host.pass(30 * SECOND);
    host.ask_probe();
    let row = serde_json::to_value(&host.state).unwrap();
    assert_eq!(row["breaker"], "half_open");
    assert_eq!(serde_json::from_value::<HostState>(row).unwrap(), host.state);
}
