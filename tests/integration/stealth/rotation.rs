//! A session's reaction when it is refused, throttled or left hanging; and that it stays itself while all
//! goes well.

use drover::stealth::fingerprint::Family;
use drover::stealth::{FetchError, Identities, ProxyOutcome, RequestKind, Response, SessionAsk};
use rstest::rstest;
use std::time::{Duration, Instant};

use super::support::{
    Ca, ForwardProxy, HOST, Manner, OneSession, Origin, ReceivedRequest, Reply, Setup, content, no_politeness, pool_of,
    request, willing,
};
use testkit::until;

fn blocked() -> ProxyOutcome {
    ProxyOutcome::Blocked { host: HOST.to_owned() }
}

fn family(id: &str) -> Family {
    Identities::load(None).unwrap().all().iter().find(|entry| entry.id == id).unwrap().family
}

fn user_agents(seen: &[ReceivedRequest]) -> Vec<String> {
    seen.iter().map(|seen| seen.field("user-agent").unwrap().to_owned()).collect()
}

#[rstest]
#[case::refused(Reply::status(403))]
#[case::challenged(Reply::html(403))]
#[case::html_for_json(Reply::html(200))]
#[case::html_that_claims_to_be_json(Reply::json(" <!doctype html>"))]
#[case::login_wanted(Reply::status(401))]
#[case::captcha_of_a_firewall(Reply::html(405))]
#[case::unavailable_page(Reply::html(503))]
#[case::html_of_an_error(Reply::html(500))]
#[case::html_of_an_error_without_its_type(Reply::untyped_html(503))]
#[case::html_of_an_error_that_claims_to_be_json(Reply::status(500).body(b"\n<html>no</html>"))]
#[case::a_redirect_to_a_challenge(Reply::status(302).with("location", "https://challenge.test/?from=menu"))]
#[tokio::test]
async fn a_block_changes_proxy_and_browser_and_empties_the_jar(#[case] refusal: Reply) {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([refusal.with("set-cookie", "seen=1; Path=/")]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();

    let trace = session.trace().read();
    assert_eq!((trace.proxy_ids, trace.requests, trace.blocks), (vec![1, 2], 2, 1));
    assert_ne!(family(&trace.fingerprints[0]), family(&trace.fingerprints[1]));
    assert_eq!(trace.fingerprint.as_ref(), trace.fingerprints.last());
    assert_eq!(origin.seen()[1].field("cookie"), None);
    assert_eq!(pool.reports()[0], (1, blocked()));
    assert_eq!(pool.out(), 1, "the first proxy was given back");
}

#[rstest]
#[case::refused(Reply::status(403))]
#[case::a_page(Reply::html(200))]
#[case::a_page_without_its_type(Reply::untyped_html(503))]
#[tokio::test]
async fn a_refusal_whose_body_never_ends_is_a_refusal(#[case] refusal: Reply) {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([refusal.stalled()]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!((session.trace().read().blocks, pool.reports()[0].clone()), (1, (1, blocked())));
}

#[tokio::test]
async fn the_fourth_refusal_of_a_request_is_the_end() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 6).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script(std::iter::repeat_n(Reply::status(403), 100));
    let trace = session.trace();
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    let FetchError::HostTrouble { error, trouble } = error else { panic!("{error:?}") };
    let blocked = FetchError::Blocked { host: HOST.to_owned(), status: 403 };
    assert_eq!((*error, trouble.what.as_str()), (blocked, "refuses 100 % of requests"));
    assert_eq!((trace.read().requests, trace.read().blocks), (4, 4));
    assert_eq!(trace.read().fingerprints.len(), 4);
    assert_eq!(pool.out(), 0, "a refused session keeps no proxy");
    let tried: Vec<_> = pool.reports().into_iter().map(|(id, _)| id).collect();
    assert_eq!(tried, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_task_rotates_twelve_times_in_all() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 4).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script(std::iter::repeat_n(Reply::status(403), 100));
    for _ in 0..6 {
        session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    }
    // four requests of four tries use them up; then one try each
    assert_eq!(origin.seen().len(), 4 + 4 + 4 + 4 + 1 + 1);
}

#[tokio::test]
async fn a_session_stays_itself_on_one_connection() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["h2", "http/1.1"]).await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().trusting(&ca).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    for _ in 0..5 {
        session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
        session.pause_between_pages().await;
    }
    let seen = origin.seen();
    assert_eq!(seen.len(), 5);
    assert!(seen.iter().all(|one| one.fields == seen[0].fields));
    assert_eq!(proxy.heard().len(), 1, "one tunnel for all five");
}

#[tokio::test]
async fn an_answer_is_read_on_the_threads_for_cpu_work() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&willing(&origin, 1).await).open(SessionAsk::default());
    let thread = |_: &Response| Ok(std::thread::current().name().unwrap_or_default().to_owned());
    let (_, read_on) = session.send(&request(RequestKind::Fetch, "http"), thread).await.unwrap();
    assert!(read_on.starts_with("cpu-"), "{read_on}");
}

#[tokio::test]
async fn tls_tickets_are_used_within_a_session_and_never_carried_into_another() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["http/1.1"]).await;
    let sessions = Setup::default().trusting(&ca).sessions(&willing(&origin, 1).await);
    origin.script(std::iter::repeat_n(Reply::json("{}").then_closing(), 4));
    for _ in 0..2 {
        sessions.open(SessionAsk::default()).send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
    }
    assert_eq!(origin.handshakes(), (2, 0), "two sessions are two strangers");

    let mut session = sessions.open(SessionAsk::default());
    for _ in 0..2 {
        session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
    }
    assert_eq!(origin.handshakes(), (4, 1), "a browser resumes its own session");
}

#[tokio::test]
async fn a_rotation_leaves_the_tls_tickets_behind() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["http/1.1"]).await;
    let sessions = Setup::default().trusting(&ca).sessions(&willing(&origin, 2).await);
    origin.script([Reply::json("{}"), Reply::status(403)]);
    let mut session = sessions.open(SessionAsk::default());
    for _ in 0..2 {
        session.send(&request(RequestKind::Fetch, "https"), &content).await.unwrap();
    }
    assert_eq!(origin.handshakes(), (2, 0));
}

#[tokio::test]
async fn the_current_proxy_is_that_of_the_latest_try() {
    let origin = Origin::plain().await;
    let mut session = Setup::default().sessions(&willing(&origin, 2).await).open(SessionAsk::default());
    origin.script([Reply::status(403)]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!(session.trace().read().current_proxy, Some(2));
    session.leave_proxy();
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!(session.trace().read().current_proxy, Some(1), "{:?}", session.trace().read());
}

#[tokio::test]
async fn a_host_that_has_answered_the_request_is_no_outage_of_the_proxies() {
    let origin = Origin::plain().await;
    let mut setup = Setup::default();
    // waited out three times, and the first answer must come within it
    setup.http.first_byte_timeout = Duration::from_secs(1);
    let mut session = setup.sessions(&willing(&origin, 4).await).open(SessionAsk::default());
    origin.script([Reply::status(403), Reply::never(), Reply::never(), Reply::never()]);
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_session_that_may_not_ask_now_keeps_its_route() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 1).await;
    let sessions = Setup::default().sessions(&pool);
    let mut session = sessions.open(SessionAsk::default());
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    origin.script([Reply::status(429).with("retry-after", "60")]);
    sessions.open(SessionAsk::default()).send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    assert_eq!(pool.out(), 1, "the throttled session has ended");
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    assert_eq!(pool.out(), 1);
}

#[tokio::test]
async fn a_proxy_that_is_revoked_while_its_session_waits_for_a_permit_gets_no_request() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let politeness = settings::Politeness { concurrency: 1, ..no_politeness() };
    let sessions = Setup { politeness, ..Setup::default() }.sessions(&pool);
    origin.script([Reply::never()]);
    let send = || {
        let mut session = sessions.open(SessionAsk::default());
        tokio::spawn(async move { session.send(&request(RequestKind::Fetch, "http"), &content).await.map(drop) })
    };
    let holder = send();
    until("the permit is taken", Duration::from_secs(60), async || origin.seen().len() == 1).await;
    let waiting = send();
    until("the other has its proxy", Duration::from_secs(60), async || pool.asks().len() == 2).await;
    pool.revoke(1);
    // which gives the permit back
    holder.abort();
    waiting.await.unwrap().unwrap();
    let asked: Vec<_> = pool.reports().into_iter().map(|(id, _)| id).collect();
    assert_eq!((asked, origin.seen().len()), (vec![2], 2), "{:?}", pool.reports());
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_opened_again_without_a_try() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&proxy]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([Reply::json("{}").then_closing(), Reply::json("{}").then_closing()]);
    for _ in 0..3 {
        session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    }
    assert_eq!(user_agents(&origin.seen()).windows(2).filter(|pair| pair[0] != pair[1]).count(), 0);
    assert_eq!(session.trace().read().requests, 3);
    assert!(pool.reports().iter().all(|(_, outcome)| matches!(outcome, ProxyOutcome::Success { .. })));
}

#[tokio::test]
async fn a_new_connection_that_breaks_is_reported_although_the_one_before_was_closed_while_idle() {
    let origin = Origin::plain().await;
    let first = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let second = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&first, &second]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([Reply::json("{}").then_closing(), Reply::refused()]);
    for _ in 0..2 {
        session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    }
    let reports = pool.reports();
    assert!(matches!(reports[1], (1, ProxyOutcome::Suspicion { .. })), "{reports:?}");
    assert!(matches!(reports[2], (2, ProxyOutcome::Success { .. })), "{reports:?}");
}

#[rstest]
#[case::accepted(true)]
#[case::rejected(false)]
#[tokio::test]
async fn the_time_of_an_answer_ends_with_its_last_byte_and_not_with_its_reading(#[case] is_accepted: bool) {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 1).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    let (began, reading) = std::sync::mpsc::channel();
    let read = move |_: &Response| {
        began.send(Instant::now()).unwrap();
        let rejected = || FetchError::Rejected { operation: "A".to_owned(), message: "no".to_owned() };
        is_accepted.then_some(()).ok_or_else(rejected)
    };
    let before = Instant::now();
    let answer = session.send(&request(RequestKind::Fetch, "http"), read).await;
    assert_eq!(answer.is_ok(), is_accepted);
    let [(_, ProxyOutcome::Success { took, .. })] = pool.reports()[..] else { panic!("{:?}", pool.reports()) };
    let sent = pool.sent()[0];
    assert!(sent >= before && sent + took <= reading.recv().unwrap(), "it took {took:?}");
}

#[rstest]
#[case::broken_server(Reply::status(500))]
#[case::unavailable(Reply::status(503))]
#[case::a_text(Reply::status(500).body(b"upstream connect error"))]
#[tokio::test]
async fn a_failure_of_the_origin_is_retried_on_its_connection_and_blames_no_proxy(#[case] trouble: Reply) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&proxy]);
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([trouble]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!(pool.reports()[0], (1, ProxyOutcome::Answered { host: HOST.to_owned() }));
    let seen = user_agents(&origin.seen());
    assert_eq!(seen[0], seen[1], "the same session");
    assert_eq!(proxy.heard().len(), 1, "the same connection");
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let mut session = Setup::default().sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script([Reply::status(302).with("location", "/elsewhere")]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert!(origin.seen().iter().all(|seen| seen.target.starts_with("/api-3/")), "{:?}", origin.seen());
}

#[tokio::test]
async fn a_host_that_throttles_without_a_time_is_left_alone_by_every_session() {
    let origin = Origin::plain().await;
    let politeness = settings::Politeness { retry_after_cap: Duration::from_secs(2), ..no_politeness() };
    let sessions = Setup { politeness, ..Setup::default() }.sessions(&willing(&origin, 1).await);
    origin.script([Reply::status(429)]);
    let begun = Instant::now();
    let bodies = (0..3).map(|_| {
        let mut session = sessions.open(SessionAsk::default());
        async move { session.send(&request(RequestKind::Fetch, "http"), &content).await.map(drop) }
    });
    let results = futures_util::future::join_all(bodies).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert!(begun.elapsed() >= Duration::from_secs(2), "30 s, capped here");
}

#[tokio::test]
async fn a_truncated_body_is_fetched_again_by_another_route() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([Reply::json("{\"data\":").truncated()]);
    let (response, ()) = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!(response.body.as_ref(), b"{}");
    assert!(matches!(&pool.reports()[0], (1, ProxyOutcome::Suspicion { .. })), "{:?}", pool.reports());
}

#[tokio::test]
async fn a_cut_tls_connection_is_told_without_the_address_of_a_manual() {
    let ca = Ca::new();
    let origin = Origin::tls(&ca, &["http/1.1"]).await;
    let sessions = Setup::default().trusting(&ca).sessions(&willing(&origin, 4).await);
    origin.script(std::iter::repeat_n(Reply::json("{").cut(), 4));
    let error =
        sessions.open(SessionAsk::default()).send(&request(RequestKind::Fetch, "https"), &content).await.unwrap_err();
    let told = error.to_string();
    assert!(told.contains("before message length reached") && !told.contains("docs.rs"), "{told}");
}

#[tokio::test]
async fn retry_after_is_obeyed_by_every_session() {
    let origin = Origin::plain().await;
    let sessions = Setup::default().sessions(&willing(&origin, 1).await);
    origin.script([Reply::status(429).with("retry-after", "3600")]);
    let patience =
        |status| FetchError::Throttled { host: HOST.to_owned(), status, retry_after: Some(Duration::from_secs(900)) };
    let first = sessions.open(SessionAsk::default()).send(&request(RequestKind::Fetch, "http"), &content).await;
    assert_eq!(first.unwrap_err(), patience(429), "capped at the configured fifteen minutes");

    let second = sessions.open(SessionAsk::default()).send(&request(RequestKind::Fetch, "http"), &content).await;
    let Err(FetchError::Throttled { retry_after: Some(left), .. }) = second else { panic!("{second:?}") };
    assert!(left > Duration::from_secs(800) && left <= Duration::from_secs(900), "{left:?}");
    assert_eq!(origin.seen().len(), 1, "the host was left alone");
}

#[tokio::test]
async fn a_short_retry_after_is_waited_for() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 1).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([Reply::status(503).with("retry-after", "1")]);
    let begun = Instant::now();
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(pool.reports()[0], (1, ProxyOutcome::Answered { host: HOST.to_owned() }));
}

#[rstest]
#[case::first_byte(Reply::never(), "first byte", |http: &mut settings::Http, limit| http.first_byte_timeout = limit)]
#[case::idle_in_the_body(Reply::json("{").stalled(), "body", |http: &mut settings::Http, limit| http.idle_timeout = limit)]
#[case::whole(Reply::json("{").stalled(), "whole", |http: &mut settings::Http, limit| http.whole_timeout = limit)]
#[tokio::test]
async fn silence_ends_in_a_time_out(
    #[case] reply: Reply,
    #[case] phase: &'static str,
    #[case] set: fn(&mut settings::Http, Duration),
) {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::socks5(origin.address, Manner::Willing).await;
    let mut setup = Setup::default();
    let after = Duration::from_millis(200);
    set(&mut setup.http, after);
    let mut session = setup.sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script([reply]);
    let error = session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap_err();
    let reason = FetchError::Timeout { host: HOST.to_owned(), phase, after }.to_string();
    assert_eq!(error, FetchError::ProxyOutage { only_host: Some(HOST.to_owned()), reason });
}

#[tokio::test]
async fn an_error_of_the_platforms_reader_is_acted_on() {
    let origin = Origin::plain().await;
    let pool = willing(&origin, 2).await;
    let mut session = Setup::default().sessions(&pool).open(SessionAsk::default());
    origin.script([Reply::json("{\"blocked\":true}"), Reply::json("{\"stale\":true}")]);
    let judge = |response: &Response| match response.body.as_ref() {
        b"{\"blocked\":true}" => Err(FetchError::Challenged { host: response.host.clone() }),
        b"{\"stale\":true}" => {
            Err(FetchError::UnknownQuery { operation: "Menu".to_owned(), host: response.host.clone() })
        }
        _ => Ok(()),
    };
    let error = session.send(&request(RequestKind::Fetch, "http"), judge).await.unwrap_err();
    assert!(matches!(error, FetchError::UnknownQuery { .. }));
    assert_eq!(pool.reports()[0], (1, blocked()));
    assert!(matches!(pool.reports()[1], (2, ProxyOutcome::Success { .. })), "a stale hash is no proxy's fault");

    session.send(&request(RequestKind::Fetch, "http"), judge).await.unwrap();
    let seen = user_agents(&origin.seen());
    assert_eq!(seen[1], seen[2], "the session lives on after an answer it did not want");
}

#[tokio::test]
async fn waiting_for_a_proxy_takes_no_permit() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let source = OneSession::new(proxy.as_row(1));
    let politeness = settings::Politeness { concurrency: 1, ..no_politeness() };
    let sessions = Setup { politeness, ..Setup::default() }.sessions(&source);
    let mut holder = sessions.open(SessionAsk::default());
    holder.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();

    let mut waiting = sessions.open(SessionAsk::default());
    let waiting = tokio::spawn(async move { waiting.send(&request(RequestKind::Fetch, "http"), &content).await });
    source.until_asked(2).await;
    let request = request(RequestKind::Fetch, "http");
    let next_page = holder.send(&request, &content);
    tokio::time::timeout(testkit::PATIENCE, next_page).await.expect("the permit is free").unwrap();

    drop(holder);
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_rate_limit_holds_for_all_sessions_of_the_process() {
    let origin = Origin::plain().await;
    let mut politeness = no_politeness();
    politeness.requests_per_second = 20.0;
    politeness.concurrency = 1;
    let sessions = Setup { politeness, ..Setup::default() }.sessions(&willing(&origin, 1).await);
    let begun = Instant::now();
    let bodies = (0..6).map(|_| {
        let mut session = sessions.open(SessionAsk::default());
        async move { session.send(&request(RequestKind::Fetch, "http"), &content).await.map(drop) }
    });
    let results = futures_util::future::join_all(bodies).await;
    assert!(results.iter().all(Result::is_ok));
    assert!(begun.elapsed() >= Duration::from_millis(250), "{:?}", begun.elapsed());
}
