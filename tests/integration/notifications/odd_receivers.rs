//! Receivers that accept a message oddly, and kill -9 after they did: an accepted message is never sent again.

use std::time::Duration;

use domain::notification::NotificationState;
use domain::notification::recipient::RecipientState;
use domain::vocabulary::Word;
use nix::sys::signal::Signal;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::json;
use sim::media::{AfterAnswer, HookAnswer, HookScript, MailEnding, MailScript, RawAnswer, RawReceiver};
use testkit::{Child, PATIENCE, until};

use super::tools::{SECRET, header};
use crate::media::harness::MediaHarness;

const ANN: &str = "ann@b.example";
const BEA: &str = "bea@c.example";
const CAL: &str = "cal@d.example";

impl MediaHarness {
    async fn add_mail(&self, to: &[&str]) -> i64 {
        let to: String = to.iter().map(|to| format!("&to={to}")).collect();
        let target = format!("smtp://{}/?from=drover@a.example{to}", self.site.mail_address());
        self.add_endpoint(json!({"name": "mail", "kind": "email", "target": target})).await
    }

    async fn add_raw_webhook(&self, receiver: &RawReceiver) -> i64 {
        let credential = self.add_token("raw", SECRET).await;
        let target = format!("{}/hook", receiver.url());
        self.add_endpoint(json!({"name": "raw", "kind": "webhook", "target": target, "credential_id": credential}))
            .await
    }

    async fn add_raw_topic(&self, receiver: &RawReceiver) -> i64 {
        let target = format!("{}/topic", receiver.url());
        self.add_endpoint(json!({"name": "raw", "kind": "ntfy", "target": target})).await
    }

    /// States of the endpoint's notifications, the oldest first.
    async fn states(&self, endpoint: i64) -> Vec<String> {
        self.notifications(endpoint).await.into_iter().map(|one| one.state.to_string()).collect()
    }

    /// Runs the sender until it waits for no later try, or a few times.
    async fn send_all(&self, endpoint: i64) {
        for _ in 0..4 {
            self.make_due().await;
            if self.send(endpoint).await.is_ok() {
                return;
            }
        }
    }

    /// A worker whose sender stops for good at this failpoint.
    fn stopping_worker(&self, failpoint: &str) -> Child {
        Child::spawn(self.worker(1).env("FAILPOINTS", format!("{failpoint}=pause")))
    }

    /// The sender's task is free again, as after the end of a dead worker's lease.
    async fn free_sender(&self) {
        let sql = "UPDATE notifications SET next_attempt_at = now() WHERE state = 'pending';
                   UPDATE worker_tasks SET lease_expires_at = now() - interval '1 s' WHERE role = 'notify' AND status IN ('claimed', 'running');
                   UPDATE worker_tasks SET scheduled_for = now() WHERE role = 'notify' AND status = 'pending' AND scheduled_for > now()";
        self.database.raw.batch_execute(sql).await.unwrap();
    }
}

fn ending(reply: &[u8], then: AfterAnswer) -> MailScript {
    MailScript { endings: [MailEnding::new(reply, then)].into(), ..MailScript::default() }
}

fn replies(of: &[(&str, &[&str])]) -> MailScript {
    let recipients = of.iter().map(|(address, replies)| {
        ((*address).to_owned(), replies.iter().map(|reply| format!("{reply}\r\n").into_bytes()).collect())
    });
    MailScript { recipients: recipients.collect(), ..MailScript::default() }
}

fn done(ended: &Result<Outcome, TaskError>) -> bool {
    matches!(ended, Ok(Outcome::Done(_)))
}

#[tokio::test]
async fn a_mail_whose_code_is_250_is_accepted_whatever_follows() {
    let harness = MediaHarness::start().await;
    let cases: [(&str, &[u8], AfterAnswer); 14] = [
        ("latin 1", b"250 angenommen f\xfcr sp\xe4ter\r\n", AfterAnswer::GoOn),
        ("no text", b"250\r\n", AfterAnswer::GoOn),
        ("a blank alone", b"250 \r\n", AfterAnswer::GoOn),
        ("several lines", b"250-kept\r\n250-\xff\xfe\r\n250 really\r\n", AfterAnswer::GoOn),
        ("odd bytes", b"250 \x00\x01\x1b[31m\r\n", AfterAnswer::GoOn),
        ("a line feed alone", b"250 ok\n", AfterAnswer::GoOn),
        ("another code of success", b"252 ok\r\n", AfterAnswer::GoOn),
        ("closed after it", b"250 ok\r\n", AfterAnswer::Close),
        ("reset after it", b"250 ok\r\n", AfterAnswer::Reset),
        ("closed in the text", b"250 o", AfterAnswer::Close),
        ("closed after the digits", b"250", AfterAnswer::Close),
        ("closed between two lines", b"250-kept\r\n", AfterAnswer::Close),
        ("silent in the text", b"250 o", AfterAnswer::Silence),
        ("a text without end", b"250 x", AfterAnswer::Endless),
    ];
    for (case, reply, then) in cases {
        println!("{case}");
        let endpoint = harness.add_mail(&[ANN]).await;
        let before = harness.site.mails().len();
        harness.site.script_mail(ending(reply, then));
        harness.tell(endpoint, 2).await;
        assert!(done(&harness.send(endpoint).await));
        harness.send_all(endpoint).await;
        assert_eq!(harness.site.mails().len() - before, 2);
        assert_eq!(harness.states(endpoint).await, ["delivered"; 2]);
        harness.database.raw.batch_execute("DELETE FROM notification_endpoints").await.unwrap();
    }
}

#[tokio::test]
async fn texts_of_other_replies_change_nothing() {
    let harness = MediaHarness::start().await;
    let cases: [(&str, &'static str, &[u8]); 4] = [
        ("greeting", "CONNECT", b"220-b\xfccher\r\n220\r\n"),
        ("hello", "EHLO", b"250-b\xfccher\r\n250\r\n"),
        ("sender", "MAIL", b"250 \xe4\r\n"),
        ("farewell", "QUIT", b"500 \xe4\r\n"),
    ];
    for (case, verb, reply) in cases {
        println!("{case}");
        let endpoint = harness.add_mail(&[ANN]).await;
        harness.site.script_mail(MailScript { replies: [(verb, reply.to_vec())].into(), ..MailScript::default() });
        let before = harness.site.mails().len();
        harness.tell(endpoint, 1).await;
        assert!(done(&harness.send(endpoint).await));
        assert_eq!(harness.site.mails().len() - before, 1);
        harness.database.raw.batch_execute("DELETE FROM notification_endpoints").await.unwrap();
    }
}

#[tokio::test]
async fn a_mail_server_that_takes_its_time_after_the_mail_is_waited_for() {
    // longer than other answers are waited for
    const SLOW: Duration = Duration::from_secs(32);
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN]).await;
    let slow = MailEnding { wait: SLOW, ..MailEnding::new("250 checked\r\n", AfterAnswer::GoOn) };
    harness.site.script_mail(MailScript { endings: [slow].into(), ..MailScript::default() });
    harness.tell(endpoint, 1).await;
    assert!(done(&harness.send(endpoint).await));
    assert_eq!(harness.site.mails().len(), 1);
}

#[tokio::test]
async fn a_refused_mail_is_not_tried_again_and_those_behind_it_go_on() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN]).await;
    harness.site.script_mail(ending(b"554 sp\xe4m\r\n", AfterAnswer::GoOn));
    harness.tell(endpoint, 2).await;
    assert!(done(&harness.send(endpoint).await));
    let [refused, delivered] = &harness.notifications(endpoint).await[..] else { panic!("two notifications") };
    assert_eq!((refused.state.clone(), refused.last_status), (Word::Known(NotificationState::Failed), Some(554)));
    assert!(refused.last_error.as_ref().unwrap().contains(ANN), "{refused:?}");
    assert_eq!(delivered.state, Word::Known(NotificationState::Delivered));
    assert_eq!(harness.site.mails().len(), 1);
}

#[tokio::test]
async fn a_mail_that_may_have_come_is_sent_again_under_the_same_id() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN]).await;
    harness.site.script_mail(ending(b"", AfterAnswer::Close));
    harness.tell(endpoint, 1).await;
    assert!(!done(&harness.send(endpoint).await));
    let error = harness.notifications(endpoint).await[0].last_error.clone().unwrap();
    assert!(error.contains("may have the mail"), "{error}");
    harness.send_all(endpoint).await;
    let ids: Vec<String> = harness.site.mails().iter().map(|mail| message_id(&mail.data)).collect();
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
}

fn message_id(mail: &str) -> String {
    mail.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap().to_owned()
}

#[rstest]
#[case::refused("550 no such user", NotificationState::Delivered, 1)]
#[case::refused_in_latin_1("550 unbekannt: f\u{fffd}r", NotificationState::Delivered, 1)]
#[case::refused_in_two_lines("553-no\r\n553 really no", NotificationState::Delivered, 1)]
#[case::refused_for_now("451 greylisted", NotificationState::Pending, 2)]
#[case::full("452 mailbox full", NotificationState::Pending, 2)]
#[case::one_too_many("552 too many recipients", NotificationState::Pending, 2)]
#[tokio::test]
async fn who_is_taken_gets_the_mail_and_another_is_named(
    #[case] reply: &str,
    #[case] state: NotificationState,
    #[case] asked: usize,
) {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[BEA, ANN, CAL]).await;
    harness.site.script_mail(replies(&[(BEA, &[reply])]));
    harness.tell(endpoint, 1).await;
    let _ = harness.send(endpoint).await;
    let [mail] = &harness.site.mails()[..] else { panic!("one mail") };
    assert_eq!(mail.to, [ANN, CAL]);
    let notification = harness.notifications(endpoint).await.remove(0);
    assert_eq!(notification.state, Word::Known(state));
    let (error, code) = (notification.last_error.unwrap(), &reply[..3]);
    assert!(error.contains(BEA) && error.contains(code) && !error.contains(ANN), "{error}");
    let of = |address: &str| notification.recipients.0[address].clone();
    assert_eq!((of(ANN).state, of(CAL).status), (Word::Known(RecipientState::Delivered), 250));
    assert_eq!(of(BEA).status.to_string(), code);

    harness.send_all(endpoint).await;
    let ask = harness.site.asked_recipients().into_iter();
    assert_eq!(ask.clone().filter(|address| address == BEA).count(), asked);
    assert_eq!(ask.filter(|address| address == ANN).count(), 1, "it has the mail already");
    let to: Vec<Vec<String>> = harness.site.mails().into_iter().map(|mail| mail.to).skip(1).collect();
    assert_eq!(to, vec![vec![BEA.to_owned()]; asked - 1]);
    assert_eq!(harness.states(endpoint).await, ["delivered"]);
}

#[tokio::test]
async fn a_mail_that_waits_for_one_recipient_holds_back_no_other() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN, BEA]).await;
    harness.site.script_mail(replies(&[(BEA, &["451 later", "451 later"])]));
    harness.tell(endpoint, 2).await;
    assert!(!done(&harness.send(endpoint).await));
    let to: Vec<Vec<String>> = harness.site.mails().into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, vec![vec![ANN.to_owned()]; 2]);
    harness.send_all(endpoint).await;
    assert_eq!(harness.states(endpoint).await, ["delivered"; 2]);
    assert_eq!(harness.site.mails().len(), 4);
}

#[tokio::test]
async fn a_notification_that_no_recipient_takes_has_failed_at_once() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN, BEA]).await;
    harness.site.script_mail(replies(&[(ANN, &["550 no"]), (BEA, &["551 moved"])]));
    harness.tell(endpoint, 2).await;
    assert!(done(&harness.send(endpoint).await));
    assert_eq!(harness.states(endpoint).await, ["failed", "delivered"]);
    assert_eq!(harness.site.mails().len(), 1);
}

#[tokio::test]
async fn a_mail_that_is_sent_again_by_hand_goes_to_those_without_it() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN, BEA]).await;
    harness.site.script_mail(replies(&[(BEA, &["550 no such user"])]));
    harness.tell(endpoint, 1).await;
    assert!(done(&harness.send(endpoint).await));
    let resend = async || {
        let id = harness.notifications(endpoint).await[0].id;
        let tx = harness.database.db.begin_api().await.unwrap();
        db::notifications::resend(&tx, id, endpoint).await.unwrap();
        tx.commit().await.unwrap();
        assert!(done(&harness.send(endpoint).await));
        harness.site.mails().last().unwrap().to.clone()
    };
    assert_eq!(resend().await, [BEA]);
    // now all have it, so all get it again
    assert_eq!(resend().await, [ANN, BEA]);
}

fn many_headers(count: usize) -> Vec<u8> {
    let lines: String = (0..count).map(|line| format!("x-{line}: y\r\n")).collect();
    format!("HTTP/1.1 200 OK\r\n{lines}\r\n").into_bytes()
}

#[tokio::test]
async fn a_status_of_success_is_a_delivery_whatever_follows() {
    let harness = MediaHarness::start().await;
    let cases: [(&str, Vec<u8>, AfterAnswer); 21] = [
        (
            "a line without a colon",
            b"HTTP/1.1 200 OK\r\nPHP Warning - startup\r\ncontent-length: 0\r\n\r\n".to_vec(),
            AfterAnswer::Close,
        ),
        (
            "a blank before the colon",
            b"HTTP/1.1 200 OK\r\nx-a : b\r\ncontent-length: 0\r\n\r\n".to_vec(),
            AfterAnswer::Close,
        ),
        ("a header in latin 1", b"HTTP/1.1 200 OK\r\nx-gr\xfc\xdf: sp\xe4ter\r\n\r\n".to_vec(), AfterAnswer::Close),
        ("a reason in latin 1", b"HTTP/1.1 200 \xfcbernommen\r\n\r\n".to_vec(), AfterAnswer::Close),
        ("no reason", b"HTTP/1.1 200\r\n\r\n".to_vec(), AfterAnswer::Close),
        ("line feeds alone", b"HTTP/1.1 200 OK\nx: y\n\n".to_vec(), AfterAnswer::Close),
        ("a hundred and twenty headers", many_headers(120), AfterAnswer::Close),
        ("ten thousand headers", many_headers(10_000), AfterAnswer::Close),
        (
            "two lengths",
            b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nhello".to_vec(),
            AfterAnswer::Close,
        ),
        ("a length that is no number", b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n".to_vec(), AfterAnswer::Close),
        (
            "chunks that are none",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
            AfterAnswer::Close,
        ),
        ("a body that is cut off", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nhello".to_vec(), AfterAnswer::Close),
        ("a body that never comes", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n".to_vec(), AfterAnswer::Silence),
        ("a body without end", b"HTTP/1.1 200 OK\r\n\r\nx".to_vec(), AfterAnswer::Endless),
        ("headers without end", b"HTTP/1.1 200 OK\r\nx: y".to_vec(), AfterAnswer::Endless),
        ("headers that never end", b"HTTP/1.1 200 OK\r\nx: y".to_vec(), AfterAnswer::Silence),
        ("reset after the head", b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n".to_vec(), AfterAnswer::Reset),
        ("closed after the status line", b"HTTP/1.1 200 OK\r\n".to_vec(), AfterAnswer::Close),
        ("closed after the status", b"HTTP/1.1 200".to_vec(), AfterAnswer::Close),
        (
            "hints before it",
            b"HTTP/1.1 103 Early Hints\r\nx y\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            AfterAnswer::Close,
        ),
        ("nothing kept", b"HTTP/1.0 202 Accepted\r\n\r\n".to_vec(), AfterAnswer::Close),
    ];
    for (case, answer, then) in cases {
        println!("{case}");
        for is_topic in [false, true] {
            let receiver = RawReceiver::start(vec![RawAnswer::new(answer.clone(), then)]).await.unwrap();
            let endpoint = match is_topic {
                true => harness.add_raw_topic(&receiver).await,
                false => harness.add_raw_webhook(&receiver).await,
            };
            harness.tell(endpoint, 2).await;
            harness.send_all(endpoint).await;
            assert_eq!(receiver.deliveries().len(), 2, "one of them was sent again");
            assert_eq!(harness.states(endpoint).await, ["delivered"; 2]);
            let forget = "DELETE FROM notification_endpoints; DELETE FROM credentials";
            harness.database.raw.batch_execute(forget).await.unwrap();
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_no_success_is_tried_again() {
    let harness = MediaHarness::start().await;
    let cases: [(&str, &[u8], &str); 4] = [
        ("no status", b"", "before it sent a status"),
        ("a broken status", b"HTTP/1.1 20", "before it sent a status"),
        ("another protocol", b"220 mail.example ESMTP\r\n", "HTTP/1"),
        ("busy", b"HTTP/1.1 503 sp\xe4ter\r\nPHP Warning - startup\r\nRetry-After: 600\r\n\r\n", "503"),
    ];
    for (case, answer, says) in cases {
        println!("{case}");
        let receiver = RawReceiver::start(vec![RawAnswer::new(answer, AfterAnswer::Close)]).await.unwrap();
        let endpoint = harness.add_raw_webhook(&receiver).await;
        harness.tell(endpoint, 1).await;
        assert!(!done(&harness.send(endpoint).await));
        let notification = harness.notifications(endpoint).await.remove(0);
        let error = notification.last_error.unwrap();
        assert!(error.contains(says), "{error}");
        assert_eq!(harness.waits(notification.id).await > 500.0, says == "503", "as long as it asks");
        harness.send_all(endpoint).await;
        let ids: Vec<String> =
            receiver.deliveries().iter().map(|delivery| header(delivery, "webhook-id").to_owned()).collect();
        assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
        let forget = "DELETE FROM notification_endpoints; DELETE FROM credentials";
        harness.database.raw.batch_execute(forget).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_accepted_and_recorded_is_not_sent_again_after_kill_9() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN, BEA]).await;
    harness.site.script_mail(replies(&[(BEA, &["451 later"])]));
    harness.tell(endpoint, 1).await;
    harness.database.raw.execute("SELECT FROM hasten_notify($1)", &[&endpoint]).await.unwrap();

    let mut worker = harness.stopping_worker("notify.recorded");
    until("the first has it", PATIENCE, async || harness.notifications(endpoint).await[0].recipients.has_delivery())
        .await;
    worker.signal(Signal::SIGKILL);
    worker.ended(PATIENCE).await;

    let _heir = harness.spawn_worker();
    until("the second has it", PATIENCE, async || {
        harness.free_sender().await;
        harness.states(endpoint).await == ["delivered"]
    })
    .await;
    let to: Vec<Vec<String>> = harness.site.mails().into_iter().map(|mail| mail.to).collect();
    assert_eq!(to, vec![vec![ANN.to_owned()], vec![BEA.to_owned()]]);
}

#[tokio::test]
async fn an_answer_is_recorded_after_the_run_has_lost_its_task() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_mail(&[ANN]).await;
    let slow = MailEnding { wait: Duration::from_secs(1), ..MailEnding::new("250 ok\r\n", AfterAnswer::GoOn) };
    harness.site.script_mail(MailScript { endings: [slow].into(), ..MailScript::default() });
    harness.tell(endpoint, 1).await;
    let task = crate::media::harness::job(domain::task::role::Role::Notify, json!({"endpoint_id": endpoint}));
    let has_come = async {
        until("the mail has come", PATIENCE, async || harness.site.mails().len() == 1).await;
    };
    let _ = harness.run_until_cancelled(task, has_come).await;
    assert_eq!(harness.states(endpoint).await, ["delivered"]);
}

#[tokio::test]
async fn an_answer_is_recorded_once_the_database_is_back() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("slow").await;
    harness.site.script_hook("slow", HookScript::Once(vec![HookAnswer::Slow(Duration::from_secs(1))]));
    harness.tell(endpoint, 1).await;
    let raw = &harness.database.raw;
    // each session that would write the answer ends
    let outage = async {
        until("it has come", PATIENCE, async || harness.site.deliveries("slow").len() == 1).await;
        raw.batch_execute("BEGIN; LOCK TABLE notifications IN EXCLUSIVE MODE").await.unwrap();
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = 'notifications'::regclass AND NOT granted";
        for _ in 0..2 {
            until("an answer is written", PATIENCE, async || !raw.query(end, &[]).await.unwrap().is_empty()).await;
        }
        raw.batch_execute("COMMIT").await.unwrap();
    };
    let (ended, ()) = tokio::join!(harness.send(endpoint), outage);
    assert!(done(&ended));
    assert_eq!(harness.states(endpoint).await, ["delivered"]);
    assert_eq!(harness.site.deliveries("slow").len(), 1);
}
